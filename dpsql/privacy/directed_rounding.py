"""Rational bounds of e^x, ln x, √x and powers of a rational x, and rounding to a number of digits.

Python's decimal rounds exp and ln correctly ("decimal" in the Python library reference, Context.exp
and Context.ln), and the square root too (General Decimal Arithmetic), so the neighbours of its
answer enclose the true value; the argument is divided out downwards and upwards first. Contexts
are made here, whole: a caller's decimal context changes nothing.
"""

from __future__ import annotations

from decimal import (
    ROUND_CEILING,
    ROUND_FLOOR,
    ROUND_HALF_EVEN,
    Context,
    Decimal,
    DivisionByZero,
    InvalidOperation,
    Overflow,
)
from fractions import Fraction

from msgspec import Struct

DIGITS = 60
"""Significant digits of an enclosure's ends, unless a caller asks for others."""

_SMALLEST_POWER = -1000
"""Powers of e below 10^-1000 lose digits, down to [0, 10^-1000…]: still an enclosure, and cheap."""


class Enclosure(Struct, frozen=True):
    """The enclosed real number lies in [low, high]."""

    low: Fraction
    high: Fraction


def exp(x: Fraction, digits: int = DIGITS) -> Enclosure:
    """Enclose e^x to about `digits` significant digits."""
    return Enclosure(exp_below(x, digits), exp_above(x, digits))


def exp_below(x: Fraction, digits: int = DIGITS) -> Fraction:
    """The lower end of `exp`, without the time that the upper one takes."""
    nearest = _context(digits, ROUND_HALF_EVEN, smallest=_SMALLEST_POWER)
    low = nearest.next_minus(nearest.exp(_divide(x, digits, ROUND_FLOOR)))
    return max(Fraction(low), Fraction(0))


def exp_above(x: Fraction, digits: int = DIGITS) -> Fraction:
    """The upper end of `exp`, without the time that the lower one takes."""
    nearest = _context(digits, ROUND_HALF_EVEN, smallest=_SMALLEST_POWER)
    return Fraction(nearest.next_plus(nearest.exp(_divide(x, digits, ROUND_CEILING))))


def ln(x: Fraction, digits: int = DIGITS) -> Enclosure:
    """Enclose the natural logarithm of x to about `digits` digits after the point.

    Raises ValueError unless x > 0.
    """
    high = ln_above(x, digits)
    if x == 1:
        return Enclosure(high, high)  # the neighbours of 0 have a million digits
    nearest = _context(digits, ROUND_HALF_EVEN)
    low = nearest.next_minus(nearest.ln(_divide(x, digits, ROUND_FLOOR)))
    return Enclosure(Fraction(low), high)


def ln_above(x: Fraction, digits: int = DIGITS) -> Fraction:
    """The upper end of `ln`, without the time that the lower one takes.

    Raises ValueError unless x > 0.
    """
    if x <= 0:
        raise ValueError("only positive numbers have a logarithm")
    if x == 1:
        return Fraction(0)
    nearest = _context(digits, ROUND_HALF_EVEN)
    return Fraction(nearest.next_plus(nearest.ln(_divide(x, digits, ROUND_CEILING))))


def sqrt(x: Fraction, digits: int = DIGITS) -> Enclosure:
    """Enclose the square root of x >= 0 to about `digits` significant digits."""
    nearest = _context(digits, ROUND_HALF_EVEN)
    low = nearest.next_minus(nearest.sqrt(_divide(x, digits, ROUND_FLOOR)))
    high = nearest.next_plus(nearest.sqrt(_divide(x, digits, ROUND_CEILING)))
    return Enclosure(max(Fraction(low), Fraction(0)), Fraction(high))


def power_below(x: Fraction, exponent: int, digits: int = DIGITS) -> Fraction:
    """A lower bound of x^exponent, for x from 0 to 1 and a whole exponent >= 0.

    It is below the truth by about exponent·10^(1 - digits) of it, where that is above 10^-1000. The
    exact power of a number of d digits has exponent·d of them.
    """
    # A product of lower bounds is one, as none is negative.
    down = _context(digits, ROUND_FLOOR, smallest=_SMALLEST_POWER)
    square, power = _divide(x, digits, ROUND_FLOOR), Decimal(1)
    while exponent:
        if exponent & 1:
            power = down.multiply(power, square)
        square = down.multiply(square, square)
        exponent >>= 1
    return Fraction(power)


def scaled_exp(exponent: Fraction, bits: int) -> int:
    """Return an integer within 1 of 2^bits·e^-exponent and at most 2^bits, for exponent >= 0."""
    # With d digits, the rounded quotient moves e^-exponent by at most exponent·e^-exponent·10^(1-d)
    # <= 0.4·10^(1-d), and exp and its neighbour by 2·10^(1-d). As 10^d > 10^11·2^bits, `low` is
    # within 10^-9·2^-bits of the truth; rounding adds ½.
    low = exp_below(-exponent, digits=bits // 3 + 12)
    return ((low.numerator << (bits + 1)) // low.denominator + 1) >> 1


def round_up(x: Fraction, digits: int = 30) -> Fraction:
    """Return the least decimal of `digits` significant digits that is at least x."""
    return Fraction(_divide(x, digits, ROUND_CEILING))


def round_down(x: Fraction, digits: int = 30) -> Fraction:
    """Return the greatest decimal of `digits` significant digits that is at most x."""
    return Fraction(_divide(x, digits, ROUND_FLOOR))


def _divide(x: Fraction, digits: int, rounding: str) -> Decimal:
    return _context(digits, rounding).divide(Decimal(x.numerator), Decimal(x.denominator))


def _context(digits: int, rounding: str, smallest: int = -999_999) -> Context:
    return Context(
        prec=digits,
        rounding=rounding,
        Emin=smallest,
        Emax=999_999,
        capitals=1,
        clamp=0,
        flags=[],
        traps=[InvalidOperation, DivisionByZero, Overflow],
    )
