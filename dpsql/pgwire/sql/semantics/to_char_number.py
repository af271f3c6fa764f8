"""to_char(number, template): each of PostgreSQL's patterns for numbers by functions of DuckDB."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Final

from msgspec import Struct
from sqlglot import exp

from dpsql.bind.expression.template import instantiate
from dpsql.bind.syntax.parse import span
from dpsql.errors import Refused
from dpsql.pgwire.sql.tree_search import constant_text, find_all
from dpsql.pgwire.sql.types.expression_types import Held, Typing
from dpsql.pgwire.sql.types.pg_type import FLOATS, INTEGERS, NUMBERS

Edit = tuple[exp.Expr, Callable[[], exp.Expr]]

_TEMPLATE: Final = re.compile(
    r"""(?P<fill>FM)?(?P<before>[^\w.,"\\]*)(?P<front>S|MI)?(?P<whole>[09]+(?:[,G][09]+)*)
    (?:[.D](?P<part>[09]+))?(?P<end>S|MI|PR)?(?P<after>[^\w.,"\\]*)""",
    re.IGNORECASE | re.VERBOSE,
)
_MAX_WHOLE: Final = 18
_MAX_PART: Final = 10
_MIN_SCALE: Final = 12
_MORE: Final = 6
"""The decimals of a quotient, and how many more than are shown: it is rounded in decimal."""


class _Form(Struct, frozen=True):
    """What a template asks: `whole` and `part` are its digits before and behind the point.

    `commas` are the numbers of digits behind each comma. `is_filled` is whether blanks fill the
    text to the template's length.
    """

    whole: str
    part: str
    commas: tuple[int, ...]
    is_filled: bool
    sign: str
    before: str
    after: str

    @property
    def required(self) -> int:
        """The digits before the point that are shown at least: from the first 0 on."""
        if "0" in self.whole:
            return len(self.whole) - self.whole.index("0")
        return 0 if self.part else 1

    @property
    def width(self) -> int:
        """The length without a sign."""
        return len(self.whole) + len(self.commas) + (len(self.part) + 1 if self.part else 0)


def number_text_edits(tree: exp.Expr, typing: Typing, held: Held) -> list[Edit]:
    """Replacements of to_char() of numbers."""
    edits: list[Edit] = []
    for node in find_all(tree, exp.Anonymous):
        if node.name.lower() != "to_char" or len(node.expressions) != 2:
            continue
        number, template = node.expressions
        kind = typing.of(number)
        written = constant_text(template)
        if kind not in NUMBERS or written is None:
            continue
        if kind in FLOATS:
            raise Refused(
                "to_char() of a float rounds in binary, which has no rule",
                at=span(node),
                hint=f"round in decimal: to_char(x::numeric, '{written[:20]}')",
            )
        form = _form(written, node)
        is_quotient = held.of(number) in FLOATS
        edits.append(
            (node, partial(_text, node, form, whole=kind in INTEGERS, is_quotient=is_quotient))
        )
    return edits


def _form(template: str, node: exp.Expr) -> _Form:
    match = _TEMPLATE.fullmatch(template)
    front, end = (match["front"], match["end"]) if match else (None, None)
    if match is None or (front and end):
        raise _no_rule(template, node)
    groups = re.split("[,Gg]", match["whole"])
    behind = [sum(map(len, groups[n:])) for n in range(1, len(groups))]
    whole, part = "".join(groups), match["part"] or ""
    is_filled = match["fill"] is None
    sign = (f"{front} " if front else f" {end}" if end else "").upper()
    form = _Form(whole, part, tuple(behind), is_filled, sign, match["before"], match["after"])
    if len(whole) > _MAX_WHOLE or len(part) > _MAX_PART or (sign == " PR" and not is_filled):
        raise _no_rule(template, node)
    return form


def _no_rule(template: str, node: exp.Expr) -> Refused:
    return Refused(
        f"to_char()'s pattern {template[:30]!r} has no rule for numbers",
        at=span(node),
        hint="write 9, 0, a point or D, commas or G, FM before, and S, MI or PR: 'FM999,990.00'",
    )


def _text(node: exp.Expr, form: _Form, *, whole: bool, is_quotient: bool) -> exp.Expr:
    number: exp.Expr = exp.paren(node.expressions[0].copy())
    if whole:
        rounded: exp.Expr = exp.cast(number, "HUGEINT")
    else:
        scale = len(form.part)
        if is_quotient:
            number = exp.cast(number, f"DECIMAL(38,{max(_MIN_SCALE, scale + _MORE)})")
        digits = exp.Literal.number(scale)
        rounded = exp.cast(exp.Round(this=number, decimals=digits), f"DECIMAL(38,{scale})")
    return exp.paren(instantiate(_written(form, whole=whole), {"r": rounded}))


def _written(form: _Form, *, whole: bool) -> str:
    """The text of the number `r`, which is rounded, as an expression of it."""
    digits, behind = "CAST(abs(r) AS VARCHAR)", _quoted("0" * len(form.part))
    if not whole and form.part:
        digits, behind = (f"split_part({digits}, '.', {n})" for n in (1, 2))
    body = _grouped(_led(digits, form), form)
    if form.part:
        body = f"{body} || '.' || {_shortened(behind, form)}"
    hashes = _hashes(form)
    body = f"CASE WHEN abs(r) >= {10 ** len(form.whole)} THEN {hashes} ELSE {body} END"
    parts = [_quoted(form.before), _signed(body, form), _quoted(form.after)]
    return " || ".join(part for part in parts if part != "''")


def _led(digits: str, form: _Form) -> str:
    """The digits before the point, with leading zeros; of 0 none, if the template has no 0."""
    match form.required:
        case 0 if form.is_filled or "0" in form.part:
            return f"CASE WHEN abs(r) < 1 THEN '' ELSE {digits} END"
        case 0:
            return f"CASE WHEN r = 0 THEN '0' WHEN abs(r) < 1 THEN '' ELSE {digits} END"
        case 1:
            return digits
        case required:
            padded = f"lpad({digits}, {required}, '0')"
            return f"CASE WHEN abs(r) < {10 ** (required - 1)} THEN {padded} ELSE {digits} END"


def _grouped(digits: str, form: _Form) -> str:
    if not form.commas:
        return digits
    padded = f"lpad({digits}, {len(form.whole)}, ' ')"
    groups = [f"substring({padded}, {start + 1}, {n})" for start, n in _groups(form)]
    joined = " || ',' || ".join(groups)
    return f"ltrim({joined}, ' ,')"


def _groups(form: _Form) -> list[tuple[int, int]]:
    """Where each group of digits between commas begins, and how many it has."""
    total = len(form.whole)
    ends = [0, *(total - behind for behind in form.commas), total]
    return [(start, end - start) for start, end in pairwise(ends)]


def _shortened(behind: str, form: _Form) -> str:
    """The digits behind the point; without blanks, zeros at their end are cut, up to the last 0."""
    required = form.part.rfind("0") + 1
    if form.is_filled or required == len(form.part):
        return behind
    return f"left({behind}, {required}) || rtrim(substring({behind}, {required + 1}), '0')"


def _hashes(form: _Form) -> str:
    """What PostgreSQL writes of a number with more digits than the template."""
    text = ",".join("#" * n for _, n in _groups(form))
    return _quoted(text + (f".{'#' * len(form.part)}" if form.part else ""))


def _signed(body: str, form: _Form) -> str:
    minus, plus = ("'-'", "' '" if form.is_filled and form.sign else "''")
    if "S" in form.sign:
        plus = "'+'"
    sign = f"CASE WHEN r < 0 THEN {minus} ELSE {plus} END"

    def filled(text: str, width: int) -> str:
        return f"lpad({text}, {width}, ' ')" if form.is_filled else text

    match form.sign:
        case "" | "S ":
            return filled(f"{sign} || {body}", form.width + 1)
        case " S" | " MI":
            return f"{filled(body, form.width)} || {sign}"
        case "MI ":
            return f"{sign} || {filled(body, form.width)}"
        case _:
            opened = f"CASE WHEN r < 0 THEN '<' ELSE '' END || {body}"
            closed = "CASE WHEN r < 0 THEN '>' ELSE ' ' END"
            return f"{filled(opened, form.width + 1)} || {closed}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
