"""Casts to numeric and rounding: PostgreSQL computes in decimal where the pipeline has floats."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Final

from sqlglot import exp

from dpsql.bind.expression.template import instantiate
from dpsql.bind.syntax.parse import span
from dpsql.errors import Refused
from dpsql.pgwire.sql.semantics.integer_division import div_quotient
from dpsql.pgwire.sql.tree_search import find_all
from dpsql.pgwire.sql.types.expression_types import Held, Typing
from dpsql.pgwire.sql.types.pg_type import FLOATS, INTEGERS, Kind

Edit = tuple[exp.Expr, Callable[[], exp.Expr]]

_DIGITS: Final = {Kind.INT2: 5, Kind.INT4: 10, Kind.INT8: 19}
_DECIMAL: Final = re.compile(r"\s*[+-]?(\d+)(?:\.(\d*))?\s*")
_DECIMAL_DIGITS: Final = 38
_SHIFT: Final = re.compile("[12]?[0-9]|30")
_TYPES: Final[dict[Kind | None, tuple[int, str]]] = {
    Kind.INT2: (16, "SMALLINT"),
    Kind.INT4: (32, "INTEGER"),
    Kind.INT8: (64, "BIGINT"),
}
_SCALE, _MAX_SCALE, _COARSE_SCALE = 12, 30, 6
_COARSE_FROM: Final = 30_000_000
_WHOLE_FROM: Final = 2**53
"""A float of this size has no fraction."""


def number_edits(tree: exp.Expr, typing: Typing, held: Held, *, is_public: bool) -> list[Edit]:
    """Replacements of casts to numeric, roundings, div(), to_hex() and <<.

    Over private rows, a shift beyond the bits of its type stays NULL.
    """
    edits: list[Edit] = []
    for node in tree.walk():
        match node:
            case exp.Anonymous(expressions=[number]) if node.name.lower() == "to_hex":
                edits.append((node, _hexadecimal(node, typing.of(number))))
            case exp.BitwiseLeftShift():
                kind = typing.of(node.this) if is_public else None
                edits.append((node, _shifted(node, *_TYPES.get(kind, (0, "")))))
            case exp.BitwiseRightShift() if not _is_shift(node.expression):
                raise Refused(
                    ">> by a number that isn't a constant from 0 to 30 has no rule",
                    at=span(node),
                    hint="write the constant: x >> 3",
                )
            case exp.TryCast():
                pass
            case exp.Literal() if not node.is_string:
                edits += _constant(node, typing)
            case exp.Cast() if _is_bare(node):
                edits += _numeric(node, held)
            case exp.Cast() if node.to.this in exp.DataType.INTEGER_TYPES:
                if _is_float_for_decimal(node.this, typing, held):
                    edits.append((node, partial(_to_integer, node)))
            case exp.Round() | exp.Trunc():
                edits += _rounded(node, typing, held)
            case exp.Anonymous() if node.name.lower() == "div" and len(node.expressions) == 2:
                kinds = {typing.of(part) for part in node.expressions}
                edits.append((node, partial(div_quotient, node, whole=kinds <= INTEGERS)))
            case _:
                pass
    return edits


def _constant(node: exp.Literal, typing: Typing) -> list[Edit]:
    """1e5 is a numeric, and so are its sums and products with exact numbers; a float elsewhere."""
    value = Decimal(node.this)
    written = f"{value:f}" if abs(value.adjusted()) < _DECIMAL_DIGITS else ""
    if len(written.replace(".", "").lstrip("0")) > _DECIMAL_DIGITS or not written:
        raise Refused(
            "a numeric has 38 digits at most here",
            at=span(node),
            hint="write a float: 1e40::float8",
        )
    if node.this == written or not _is_numeric(node, typing):
        return []
    return [(node, lambda: exp.Literal.number(written))]


def _is_numeric(node: exp.Expr, typing: Typing) -> bool:
    """Whether a constant stands for itself, or beside exact numbers alone."""
    if isinstance(node.parent, exp.Neg | exp.Paren):
        return _is_numeric(node.parent, typing)
    return not isinstance(node.parent, exp.Binary) or typing.of(node.parent) is Kind.NUMERIC


def wide_edits(tree: exp.Expr, typing: Typing, held: Held) -> list[Edit]:
    """Replacements of sums and products of numerics, which DuckDB gives 18 digits by itself."""
    edits: list[Edit] = []
    for node in find_all(tree, exp.Add, exp.Sub, exp.Mul):
        sides = [node.this.unnest(), node.expression.unnest()]
        is_exact = typing.of(node) is Kind.NUMERIC and held.of(node) not in FLOATS
        if (
            is_exact
            and any(_is_decimal(side, typing) for side in sides)
            and not any(isinstance(side, exp.Add | exp.Sub | exp.Mul) for side in sides)
            and not any(held.of(side) in FLOATS for side in sides)
        ):
            edits.append((node, partial(_widened, node)))
    return edits


def _is_decimal(node: exp.Expr, typing: Typing) -> bool:
    """Whether a decimal is part of `node`: extract() and sums of integers are numerics, too."""
    parts = map(typing.of, find_all(node, exp.Column, exp.Literal, exp.Cast))
    return Kind.NUMERIC in parts


def _widened(node: exp.Expr) -> exp.Expr:
    """`node` with a neutral operand that has more than 18 digits, so that the value has 38."""
    is_product = isinstance(node, exp.Mul)
    neutral = exp.cast(exp.Literal.number(1 if is_product else 0), "DECIMAL(19,0)")
    operator = exp.Mul if is_product else exp.Add
    left = operator(this=neutral, expression=exp.paren(node.this.copy()))
    return _set(node, exp.paren(left))


def _is_bare(node: exp.Cast) -> bool:
    return node.to.this == exp.DataType.Type.DECIMAL and not node.to.expressions


def _numeric(node: exp.Cast, held: Held) -> list[Edit]:
    """Replacements of a cast to numeric without digits, which keeps the value's own digits."""
    value = node.this
    if isinstance(value, exp.Literal) and value.is_string:
        match = _DECIMAL.fullmatch(value.this)
        if match is None or len(match[1]) + len(match[2] or "") > 38:
            raise _unclear(node)
        digits, scale = len(match[1]) + len(match[2] or ""), len(match[2] or "")
        return [(node, lambda: exp.cast(value, f"DECIMAL({digits},{scale})"))]
    kind = held.of(value)
    if isinstance(value, exp.Null):
        return []
    if isinstance(value, exp.Parameter | exp.Placeholder) or kind is Kind.NUMERIC:
        return [(node, lambda: node.this)]
    if kind in INTEGERS:
        return [(node, lambda: exp.cast(node.this, f"DECIMAL({_DIGITS[kind]},0)"))]
    if kind is Kind.FLOAT4:
        raise Refused(
            "a real has 6 digits as a numeric in PostgreSQL, and more here",
            at=span(node),
            hint="write x::float8::numeric",
        )
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
    if isinstance(node.args.get("decimals"), exp.Neg):
        return [(node, partial(_unless_null, node))]
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


def _unless_null(node: exp.Expr) -> exp.Expr:
    """round() and trunc() of tens, which DuckDB gives as 0 for NULL where a decimal has no tens."""
    is_null = exp.Is(this=exp.paren(node.this.copy()), expression=exp.null())
    return exp.Case(ifs=[exp.If(this=is_null, true=exp.null())], default=node.copy())


def _decimal(node: exp.Expr, digits: exp.Expr | None = None) -> exp.Expr:
    """A float as the decimal it was written as: 1.005 is 1.00499999999999989 in binary.

    Casts multiply in binary: times 10^12, 1703984400 isn't exact, and its trunc() were one less.
    """
    more = int(digits.this) if isinstance(digits, exp.Literal) and digits.this.isdigit() else 0
    scale = min(max(_SCALE, more + 6), _MAX_SCALE)
    fine = exp.cast(node, f"DECIMAL(38,{scale})")
    if scale > _SCALE:
        return fine
    coarse = exp.cast(node.copy(), f"DECIMAL(38,{_COARSE_SCALE})")
    if isinstance(node.unnest(), exp.Extract):  # it has no more digits
        return coarse
    return _where_small(node.copy(), _COARSE_FROM, fine, coarse)


def _where_small(value: exp.Expr, limit: int, small: exp.Expr, large: exp.Expr) -> exp.Expr:
    is_small = exp.LT(this=exp.Abs(this=value), expression=exp.Literal.number(limit))
    return exp.Case(ifs=[exp.If(this=is_small, true=small)], default=large)


def _set(node: exp.Expr, value: exp.Expr) -> exp.Expr:
    node.set("this", value)
    return node


def _to_even(node: exp.Expr) -> exp.Expr:
    """round() of a float, which rounds a half to the even number, as a cast to integer does."""
    value = exp.paren(node.this.copy())
    rounded = exp.cast(exp.cast(value.copy(), "BIGINT"), "DOUBLE")
    return _where_small(value, _WHOLE_FROM, rounded, value.copy())


def _to_integer(node: exp.Expr) -> exp.Expr:
    return _set(node, exp.Round(this=_decimal(node.this)))


def between_edits(tree: exp.Expr, typing: Typing) -> list[Edit]:
    """Replacements of numerics in percentile_cont(), which interpolates between floats."""
    terms = [
        term
        for node in find_all(tree, exp.WithinGroup)
        if isinstance(node.this, exp.PercentileCont) and isinstance(node.expression, exp.Order)
        for term in node.expression.expressions
    ]
    return [
        (term, partial(_set, term, exp.cast(term.this, "DOUBLE")))
        for term in terms
        if typing.of(term.this) is Kind.NUMERIC
    ]


def correlation_edits(tree: exp.Expr) -> list[Edit]:
    """Replacements of corr(), which is NULL where one of its columns is constant, not NaN."""
    edits: list[Edit] = []
    for node in find_all(tree, exp.Corr):
        whole: exp.Expr = node
        while isinstance(whole.parent, exp.Filter | exp.Window) and whole.parent.this is whole:
            whole = whole.parent
        edits.append((whole, partial(_unless_nan, whole)))
    return edits


def _unless_nan(node: exp.Expr) -> exp.Expr:
    # NaN is above all numbers, and a correlation at most 1, but for rounding.
    is_number = exp.LT(this=node.copy(), expression=exp.Literal.number(2))
    return exp.Case(ifs=[exp.If(this=is_number, true=node.copy())])


def _hexadecimal(node: exp.Expr, kind: Kind | None) -> Callable[[], exp.Expr]:
    """to_hex() in small letters; a negative integer has as many digits as its type."""
    if kind not in INTEGERS:
        raise Refused(
            "how many digits this number has can't be told",
            at=span(node),
            hint="say what it is: to_hex(x::bigint)",
        )
    if kind is Kind.INT8:
        return lambda: exp.Lower(this=node.copy())
    return lambda: exp.Lower(this=exp.Right(this=node.copy(), expression=exp.Literal.number(8)))


def _is_shift(node: exp.Expr) -> bool:
    bits = node.unnest()
    return isinstance(bits, exp.Literal) and _SHIFT.fullmatch(bits.this) is not None


def _shifted(node: exp.BitwiseLeftShift, size: int, kind: str) -> Callable[[], exp.Expr]:
    """`x << n` as a product, since DuckDB shifts no negative number to the left.

    Of `size` bits, if that isn't 0, the lowest ones are kept, as a `kind`.
    """
    bits = node.expression.unnest()
    if not _is_shift(bits):
        raise Refused(
            "<< by a number that isn't a constant from 0 to 30 has no rule",
            at=span(node),
            hint="write the product: x * 8",
        )
    factor, half, whole = 1 << int(bits.this), 1 << size >> 1, 1 << size
    wide = f"CAST(x AS HUGEINT) * {factor} + {half}"
    lowest = f"CAST((({wide}) % {whole} + {whole}) % {whole} - {half} AS {kind})"
    text = lowest if size else f"x * {factor}"
    return lambda: exp.paren(instantiate(text, {"x": exp.paren(node.this.copy())}))
