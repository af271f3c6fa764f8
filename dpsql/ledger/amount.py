"""Amounts of privacy loss as whole numbers of a unit, so that sums and comparisons are exact.

ε, ρ, μ² and δ are all counted in units of 10⁻²⁴. The finest loss that a session asks for is
ε = 10⁻⁶ in a zcdp ledger, ρ ≈ 10⁻¹⁴, and rounding that up to a unit costs one part in 10¹⁰; the
same holds of a δ of 10⁻¹⁴. Decimal, because budgets are written in decimals: thirty charges of 0.1
are 3.

A signed 64-bit integer holds less than 10⁻⁵ in these units, so they are stored as decimal text of
one width: its order as text is its order as a number, and SQL can compare it.
"""

from __future__ import annotations

from decimal import ROUND_DOWN, Context, Decimal
from fractions import Fraction

from dpsql.errors import BadParameter

UNITS = 10**24
DIGITS = 36

SMALLEST = Fraction(1, 10**18)
LARGEST = Fraction(10**6)
SMALLEST_DELTA = Fraction(1, UNITS)

MAX_BITS = 4096
"""Bits of a numerator or denominator. Python by default refuses to turn a longer number into text,
and it would slow every later reader."""


def units(amount: Fraction) -> int:
    """`amount` in units, rounded up to a whole number of them."""
    return -(-amount.numerator * UNITS // amount.denominator)


def amount_of(count: int) -> Fraction:
    """The exact amount that `count` units are."""
    return Fraction(count, UNITS)


def padded(count: int) -> str:
    """`count` as text of DIGITS digits, whose order as text is that of numbers; else ValueError."""
    text = f"{count:0{DIGITS}d}"
    if count < 0 or len(text) > DIGITS:
        raise ValueError("no amount of this ledger")
    return text


def format_amount(amount: Fraction) -> str:
    """`amount` in at most six digits, rounded down: a remaining budget is never overstated."""
    context = Context(prec=6, rounding=ROUND_DOWN)
    short = context.divide(Decimal(amount.numerator), Decimal(amount.denominator))
    return f"{short.normalize(context):f}"


def check_amount(amount: object, name: str) -> None:
    """Raises BadParameter unless `amount` is a Fraction from SMALLEST to LARGEST.

    `name` is what the message calls it.
    """
    if not SMALLEST <= _exact(amount, name) <= LARGEST:
        raise BadParameter(f"{name} is not between 1e-18 and 1e6")


def check_delta(delta: object, name: str) -> None:
    """Raises BadParameter unless `delta` is a Fraction: 0, or at least one unit and below 1."""
    exact = _exact(delta, name)
    if exact != 0 and not SMALLEST_DELTA <= exact < 1:
        raise BadParameter(f"{name} is neither 0 nor between 1e-24 and 1")


def _exact(amount: object, name: str) -> Fraction:
    # A float passes PrivacyLoss unseen when it is NaN, since every comparison with it is false.
    if not isinstance(amount, Fraction):
        raise BadParameter(f"{name} is not an exact fraction")
    if max(abs(amount.numerator).bit_length(), amount.denominator.bit_length()) > MAX_BITS:
        raise BadParameter(f"{name} has too many digits")
    return amount
