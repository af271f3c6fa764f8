"""numeric and rounding: what PostgreSQL computes in decimal, where the pipeline has floats."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Final

from sqlglot import exp

from dpsql.bind.parse import span
from dpsql.errors import Refused
from dpsql.pgwire.sql.kind import FLOATS, INTEGERS, Kind
from dpsql.pgwire.sql.typing import Held, Typing

Edit = tuple[exp.Expr, Callable[[], exp.Expr]]

_DIGITS: Final = {Kind.INT2: 5, Kind.INT4: 10, Kind.INT8: 19}
_DECIMAL: Final = re.compile(r"\s*[+-]?(\d+)(?:\.(\d*))?\s*")
_SCALE, _MOST_SCALE = 12, 30
_WHOLE_FROM: Final = str(2**53)
"""A float of this size has no fraction."""


def number_edits(tree: exp.Expr, typing: Typing, held: Held) -> list[Edit]:
    """What to put in the place of casts to numeric and of roundings."""
    edits: list[Edit] = []
    for node in tree.find_all(exp.Cast, exp.Round, exp.Trunc, exp.Anonymous):
        match node:
            case exp.TryCast():
                pass
            case exp.Cast() if _is_bare(node):
                edits += _numeric(node, held)
            case exp.Cast() if node.to.this in exp.DataType.INTEGER_TYPES:
                if _is_float_for_decimal(node.this, typing, held):
                    edits.append((node, partial(_to_integer, node)))
            case exp.Round() | exp.Trunc():
                edits += _rounded(node, typing, held)
            case exp.Anonymous() if node.name.lower() == "div" and len(node.expressions) == 2:
                kinds = {typing.of(part) for part in node.expressions}
                edits.append((node, partial(_quotient, node, whole=kinds <= INTEGERS)))
            case _:
                pass
    return edits


def _is_bare(node: exp.Cast) -> bool:
    return node.to.this == exp.DataType.Type.DECIMAL and not node.to.expressions


def _numeric(node: exp.Cast, held: Held) -> list[Edit]:
    """Numeric without digits keeps those that its value has."""
    value = node.this
    if isinstance(value, exp.Literal) and value.is_string:
        found = _DECIMAL.fullmatch(value.this)
        if found is None or len(found[1]) + len(found[2] or "") > 38:
            raise _unclear(node)
        digits, scale = len(found[1]) + len(found[2] or ""), len(found[2] or "")
        return [(node, lambda: exp.cast(value, f"DECIMAL({digits},{scale})"))]
    kind = held.of(value)
    if isinstance(value, exp.Null):
        return []
    if isinstance(value, exp.Parameter | exp.Placeholder) or kind is Kind.NUMERIC:
        return [(node, lambda: node.this)]
    if kind in INTEGERS:
        return [(node, lambda: exp.cast(node.this, f"DECIMAL({_DIGITS[kind]},0)"))]
    if kind in FLOATS:
        return [(node, lambda: exp.cast(node.this, "DOUBLE"))]
    raise _unclear(node)


def _unclear(node: exp.Expr) -> Refused:
    return Refused(
        "how many digits this numeric has can't be told",
        at=span(node),
        hint="write how many: x::numeric(18,4)",
    )


def _rounded(node: exp.Expr, typing: Typing, held: Held) -> list[Edit]:
    if _is_float_for_decimal(node.this, typing, held):
        return [(node, lambda: _set(node, _decimal(node.this, node.args.get("decimals"))))]
    if isinstance(node, exp.Trunc) or node.args.get("decimals"):
        return []
    kind = typing.of(node.this)
    if kind in FLOATS:
        return [(node, partial(_to_even, node))]
    if kind is None:
        raise Refused(
            "whether this rounds a float or a numeric can't be told",
            at=span(node),
            hint="say what it is: round(x::numeric, 0), or round(x::float8)",
        )
    return []


def _is_float_for_decimal(node: exp.Expr, typing: Typing, held: Held) -> bool:
    return typing.of(node) is Kind.NUMERIC and held.of(node) in FLOATS


def _decimal(node: exp.Expr, digits: exp.Expr | None = None) -> exp.Expr:
    """A float as the decimal that is meant: 1.005 is 1.00499999999999989 in binary."""
    more = int(digits.this) if isinstance(digits, exp.Literal) and digits.this.isdigit() else 0
    scale = min(max(_SCALE, more + 6), _MOST_SCALE)
    return exp.cast(node, f"DECIMAL(38,{scale})")


def _set(node: exp.Expr, value: exp.Expr) -> exp.Expr:
    node.set("this", value)
    return node


def _to_even(node: exp.Expr) -> exp.Expr:
    """A half goes to the even number, as in a cast to integer."""
    value = exp.paren(node.this.copy())
    small = exp.LT(this=exp.Abs(this=value), expression=exp.Literal.number(_WHOLE_FROM))
    rounded = exp.cast(exp.cast(value.copy(), "BIGINT"), "DOUBLE")
    return exp.Case(ifs=[exp.If(this=small, true=rounded)], default=value.copy())


def _to_integer(node: exp.Expr) -> exp.Expr:
    return _set(node, exp.Round(this=_decimal(node.this)))


def _quotient(node: exp.Expr, *, whole: bool) -> exp.Expr:
    left, right = node.expressions
    if whole:
        return exp.IntDiv(this=exp.paren(left), expression=exp.paren(right))
    return exp.Trunc(this=exp.Div(this=exp.paren(left), expression=exp.paren(right)))
