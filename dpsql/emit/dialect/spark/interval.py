"""Integers that are known to be small when a statement is planned: computed in 64 bits.

Spark's BIGINT raises where it overflows, and its decimals take ten times as long. So arithmetic of
releases is of decimals, unless the intervals of its operands say that 64 bits hold all of it.
"""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from dpsql.emit.dialect.spark import guard

Interval = tuple[int, int]

_KEY: Final = "interval"
_LARGEST: Final = 2**62


def known(node: exp.Expr, interval: Interval) -> exp.Expr:
    """`node`, whose values are integers within `interval`."""
    node.meta[_KEY] = interval
    return node


def interval(node: exp.Expr) -> Interval | None:
    """The interval that the values of a lowered node lie in, if it is known."""
    own: Interval | None = node.meta.get(_KEY)
    if own is not None:
        return own
    match node:
        case exp.Literal(is_string=False) if node.name.isdecimal():
            return int(node.name), int(node.name)
        case exp.Neg():
            inner = interval(node.this)
            return None if inner is None else (-inner[1], -inner[0])
        case exp.Paren():
            return interval(node.this)
        case _:
            return None


def in_64_bits(operator: type[exp.Binary], left: exp.Expr, right: exp.Expr) -> exp.Expr | None:
    """A sum, difference, product, quotient or remainder in BIGINT; None if it may be too large.

    Quotients and remainders are of numbers that aren't negative, by constants above 0.
    """
    one, other = interval(left), interval(right)
    if one is None or other is None:
        return None
    ends: Interval
    match operator:
        case exp.Add:
            ends = one[0] + other[0], one[1] + other[1]
        case exp.Sub:
            ends = one[0] - other[1], one[1] - other[0]
        case exp.Mul:
            products = [a * b for a in one for b in other]
            ends = min(products), max(products)
        case exp.IntDiv if one[0] >= 0 and other[0] == other[1] > 0:
            ends = one[0] // other[0], one[1] // other[0]
        case exp.Mod if one[0] >= 0 and other[0] == other[1] > 0:
            ends = 0, other[0] - 1
        case _:
            return None
    if any(abs(end) > _LARGEST for end in (*one, *other, *ends)):
        return None
    operands = (guard.cast(operand, "BIGINT") for operand in (left, right))
    first, second = operands
    return known(exp.Paren(this=operator(this=first, expression=second)), ends)
