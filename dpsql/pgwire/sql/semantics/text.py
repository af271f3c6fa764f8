"""Texts as PostgreSQL writes them: casts of numbers, booleans and timestamps; substrings."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Final

from sqlglot import exp

from dpsql.bind.expression.template import instantiate
from dpsql.bind.syntax.parse import span
from dpsql.errors import Refused
from dpsql.pgwire.sql.semantics.blank_padded import is_padded, padded_edits
from dpsql.pgwire.sql.tree_search import find_all
from dpsql.pgwire.sql.types.expression_types import Held, Typing
from dpsql.pgwire.sql.types.pg_type import FLOATS, Kind

_EXTREMES: Final = (exp.Greatest, exp.Least, exp.Nullif)
_CAPITALS: Final = r"""array_to_string(list_transform(
    regexp_extract_all(lower(x), '[\p{L}\p{N}]+|[^\p{L}\p{N}]+'),
    word -> upper(left(word, 1)) || substr(word, 2)), '')"""

Edit = tuple[exp.Expr, Callable[[], exp.Expr]]

_T = exp.DataType.Type


def text_edits(tree: exp.Expr, typing: Typing, held: Held) -> list[Edit]:
    """Replacements of concatenations, casts to text, substring(), initcap() and split_part()."""
    edits: list[Edit] = []
    for node in tree.walk():
        match node:
            case exp.Concat() | exp.ConcatWs() | exp.DPipe():
                edits += _joined(node, typing, held)
            case exp.Cast() if node.to.this in {_T.TEXT, _T.VARCHAR}:
                edits += _cast(node, typing, held)
            case exp.Cast() if node.to.this is _T.VARBINARY:
                raise Refused(
                    "bytes are read otherwise here than in PostgreSQL, and have no rule",
                    at=span(node),
                    hint="compare texts",
                )
            case exp.Cast() if is_padded(node):
                writer = _letter if typing.of(node.this) is Kind.BOOL else None
                text = partial(_text, node, writer or _writer(node.this, typing, held))
                edits += padded_edits(node, text, tree)
            case exp.Overlay() if not _counts(node.args.get("for_")):
                raise Refused(
                    "overlay() takes a constant number of characters here",
                    at=span(node),
                    hint="write substring(x, 1, n) || 'abc' || substring(x, m)",
                )
            case exp.Substring() if _is_text(node.args.get("start")):
                pass  # by a pattern
            case exp.Substring():
                edits.append((node, partial(_part, node)))
            case exp.Anonymous() if node.name.lower() in {"like", "ilike"}:
                raise Refused(
                    f"{node.name.lower()}() has no rule as a function",
                    at=span(node),
                    hint="write text LIKE 'a%'",
                )
            case exp.Initcap():
                edits.append((node, partial(_capitals, node)))
            case exp.SplitPart(args={"delimiter": exp.Literal(this="")}):
                edits.append((node, partial(_undivided, node)))
            case _:
                pass
    return edits


def check_texts(tree: exp.Expr, typing: Typing) -> list[Edit]:
    """Refuse a cast to text of what may be an array, whose text DuckDB writes otherwise.

    Over private rows nothing is one.
    """
    for node in find_all(tree, exp.Cast):
        if node.to.this in {_T.TEXT, _T.VARCHAR} and typing.of(node.this) is None:
            raise Refused(
                "the type of what this is the text of can't be told",
                at=span(node),
                hint="say what it is, x::bigint::text, or write array_to_string(x, ',')",
            )
    return []


def _counts(length: exp.Expr | None) -> bool:
    """Whether an optional number of characters is left out, or a constant."""
    return length is None or (isinstance(length, exp.Literal) and not length.is_string)


def _is_text(node: exp.Expr | None) -> bool:
    return isinstance(node, exp.Literal) and node.is_string


def _joined(node: exp.Expr, typing: Typing, held: Held) -> list[Edit]:
    edits: list[Edit] = []
    values = [node.this, node.expression] if isinstance(node, exp.DPipe) else node.expressions
    for value in values:
        kind = typing.of(value)
        if kind is Kind.BOOL and not isinstance(node, exp.DPipe):
            edits.append((value, partial(_letter, value)))
        elif writer := _writer(value, typing, held):
            edits.append((value, partial(writer, value)))
    return edits


def _letter(value: exp.Expr) -> exp.Expr:
    """A boolean in concat(), which writes t and f, where a cast writes true and false."""
    yes, no = (exp.Literal.string(letter) for letter in "tf")
    condition = exp.paren(value.copy())
    return exp.Case(
        ifs=[
            exp.If(this=condition, true=yes),
            exp.If(this=exp.Not(this=condition.copy()), true=no),
        ]
    )


def _zoned(value: exp.Expr) -> exp.Expr:
    """The text of a timestamp with time zone, which ends with the offset of UTC."""
    # AT TIME ZONE gives a moment whose text has the offset here, too; date_trunc() gives none.
    text = _without(exp.cast(value.copy(), "VARCHAR"), r"\+00$")
    return exp.paren(exp.DPipe(this=text, expression=exp.Literal.string("+00")))


def _writer(value: exp.Expr, typing: Typing, held: Held) -> Callable[[exp.Expr], exp.Expr] | None:
    """What makes the text of `value`, None where a cast makes PostgreSQL's."""
    kind = typing.of(value)
    if kind is Kind.TIMESTAMPTZ:
        return _zoned
    if kind is Kind.INTERVAL:
        return _length_of_time
    if kind is Kind.NUMERIC and (held.of(value) in FLOATS or not _keeps_digits(value)):
        raise Refused(
            "how many digits the text of this number has can't be told",
            at=span(value),
            hint="say how many: round(x, 2)::text",
        )
    return _shortest if kind in FLOATS else None


def _length_of_time(value: exp.Expr) -> exp.Expr:
    """The text of an interval, in which months are mons."""
    text, months = exp.cast(value.copy(), "VARCHAR"), exp.Literal.string("month")
    return exp.Replace(this=text, expression=months, replacement=exp.Literal.string("mon"))


def _keeps_digits(value: exp.Expr) -> bool:
    """Whether a numeric has as many digits here as in PostgreSQL, like a column, or a sum of it.

    In PostgreSQL alone, round(d, 5) has 5 digits, and CASE as many as the value it chooses.
    """
    if isinstance(value, exp.Cast):
        return True
    return value.find(exp.Round, exp.Trunc, exp.Case, exp.Coalesce, *_EXTREMES) is None


def _shortest(value: exp.Expr) -> exp.Expr:
    """The text of a float without .0: PostgreSQL writes 2 where DuckDB writes 2.0."""
    return _without(exp.cast(value.copy(), "VARCHAR"), r"\.0$")


def _without(text: exp.Expr, pattern: str) -> exp.Expr:
    nothing = exp.Literal.string("")
    return exp.RegexpReplace(this=text, expression=exp.Literal.string(pattern), replacement=nothing)


def _cast(node: exp.Cast, typing: Typing, held: Held) -> list[Edit]:
    if isinstance(node.this.unnest(), exp.Array):
        raise Refused(
            "the text of an array has no rule",
            at=span(node),
            hint="write array_to_string(array, ',')",
        )
    size = next((p.this.this for p in node.to.expressions if isinstance(p.this, exp.Literal)), None)
    writer = _writer(node.this, typing, held)
    if size is None:
        return [] if writer is None else [(node, partial(writer, node.this))]

    def cut() -> exp.Expr:
        return exp.Left(this=_text(node, writer), expression=exp.Literal.number(size))

    return [(node, cut)]


def _text(node: exp.Cast, writer: Callable[[exp.Expr], exp.Expr] | None) -> exp.Expr:
    return exp.cast(node.this, "VARCHAR") if writer is None else writer(node.this)


def _number(node: exp.Expr | None) -> int | None:
    match node:
        case exp.Neg(this=inner):
            number = _number(inner)
            return None if number is None else -number
        case exp.Paren(this=inner):
            return _number(inner)
        case exp.Literal() if not node.is_string and re.fullmatch(r"\d{1,9}", node.this):
            return int(node.this)
        case _:
            return None


def _part(node: exp.Expr) -> exp.Expr:
    """substring() from before the first character: positions below 1 count, and have no text."""
    start, length = _number(node.args.get("start")), _number(node.args.get("length"))
    if start is None:
        return _from_any(node)
    if start > 0:
        return node
    if node.args.get("length") is not None:
        if length is None or length < 0:
            raise Refused(
                "a part of a text that begins before it has a constant length",
                at=span(node),
                hint="write substring(text FROM 1 FOR 3)",
            )
        node.set("length", exp.Literal.number(max(0, start + length - 1)))
    node.set("start", exp.Literal.number(1))
    return node


def _from_any(node: exp.Expr) -> exp.Expr:
    """substring() from a position that rows have: below 1, the text begins before it."""
    text, start, length = node.this, node.args["start"], node.args.get("length")
    first = exp.Literal.number(1)
    before: exp.Expr = text.copy()
    if length is not None:
        end = exp.Sub(
            this=exp.Add(this=exp.paren(start.copy()), expression=exp.paren(length.copy())),
            expression=first.copy(),
        )
        rest = exp.Greatest(this=end, expressions=[exp.Literal.number(0)])
        before = exp.Substring(this=text.copy(), start=first.copy(), length=rest)
    is_before = exp.LT(this=exp.paren(start.copy()), expression=first)
    return exp.Case(ifs=[exp.If(this=is_before, true=before)], default=node.copy())


def _capitals(node: exp.Expr) -> exp.Expr:
    """initcap(): words are runs of letters and digits, whatever characters are between them."""
    return instantiate(_CAPITALS, {"x": node.this})


def _undivided(node: exp.Expr) -> exp.Expr:
    """split_part() by an empty delimiter, which divides nothing: the text is its only part."""
    if _number(node.args.get("part_index")) in {1, -1}:
        return exp.cast(node.this, "VARCHAR")
    raise Refused("a text that isn't divided has one part", at=span(node), hint="write 1")
