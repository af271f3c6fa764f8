"""Rational enclosures of the tail of the standard normal law, and its points."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction
from statistics import NormalDist

from dpsql.privacy.directed_rounding import Enclosure, round_up

PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899")
FARTHEST = 50
"""Beyond it the tail is only known to be positive and below 10^-500."""

SMALLEST = Fraction(1, 10**300)
"""The smallest tail whose point is looked for."""

_STEPS = 200
_DIGITS = 30
_HAIR = Decimal("1e-40")


def upper_tail(z: Fraction) -> Enclosure:
    """Enclose P(Z >= z) for the standard normal law, to some 34 digits up to FARTHEST."""
    if z < 0:
        other = upper_tail(-z)
        return Enclosure(1 - other.high, 1 - other.low)
    if z > FARTHEST:
        # e^(-z²/2)/2 is an upper bound; 50 gives 10^-543.
        return Enclosure(Fraction(0), Fraction(1, 10**500))
    # 80 digits: a few hundred sums, products and quotients of positive numbers are off by less than
    # 10^-75 of the result, and so is e^(-z²/2); 10^-40 of it is added, and taken away.
    with localcontext(Context(prec=80, rounding=ROUND_HALF_EVEN, Emin=-9999, Emax=9999, traps=[])):
        at = Decimal(z.numerator) / Decimal(z.denominator)
        density = (-at * at / 2).exp() / (2 * PI).sqrt()
        if z < 3:
            # ½ less the density times z + z³/3 + z⁵/(3·5) + …, of which all terms are positive. The
            # first that is left out is below 10^-80, and each is less than a tenth of the last.
            term = inner = at
            for odd in range(3, 203, 2):
                term = term * at * at / odd
                inner += term
            low = high = Decimal("0.5") - density * inner
        else:
            # Laplace's continued fraction, the density over z + 1/(z + 2/(z + 3/(z + …))). Cut
            # after an even number of steps it is too large, as density/z is; after an odd number it
            # is too small.
            high, low = (density / _denominator(at, steps) for steps in (_STEPS, _STEPS + 1))
        return Enclosure(Fraction(low * (1 - _HAIR)), Fraction(high * (1 + _HAIR)))


def _denominator(at: Decimal, steps: int) -> Decimal:
    denominator = at
    for step in range(steps, 0, -1):
        denominator = at + step / denominator
    return denominator


def tail_point(probability: Fraction) -> Fraction:
    """Return a z >= 0 with P(Z >= z) <= probability, the least one but for some 10^-27 of it.

    Raises ValueError for a probability below SMALLEST.
    """
    if probability < SMALLEST:
        raise ValueError("no tail is that small")
    if 2 * probability >= 1:
        return Fraction(0)
    # Newton's method on ln P from a float's 15 digits; its slope, minus the density over P, may be
    # a float as well, since each step then gains as many digits again.
    point = Fraction(-NormalDist().inv_cdf(float(probability)))
    slope = Fraction(NormalDist().pdf(float(point)) / float(probability))
    for _ in range(3):
        point += round_up((upper_tail(point).high - probability) / probability / slope, _DIGITS)
        point = round_up(point, _DIGITS)
    give_way = Fraction(1, 10**_DIGITS)
    while upper_tail(point).high > probability:
        point = round_up(point + give_way, _DIGITS)
        give_way *= 2
    return point
