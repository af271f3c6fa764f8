"""From ε-DP, and from a bounded range of losses, to Gaussian differential privacy.

ε-DP is μ-GDP with μ = 2·Φ⁻¹(e^ε/(1 + e^ε)). For a test of two laws with ε between them that errs
with probability α on the one and β on the other, the least β is max(1 - e^ε·α, e^-ε·(1 - α), 0): a
line from (0, 1) to the corner where α = β = 1/(1 + e^ε), and one from there to (1, 0). The curve of
μ-GDP, β = Φ(-μ - Φ⁻¹(α)), is convex and has these three points, so that it is nowhere above. No
smaller μ will do for randomised response, which reaches the corner.

A mechanism has the bounded range η if on two neighbours the logarithms of the ratios of its
probabilities are all between t - η and t, for some t (Durfee & Rogers 2019; the exponential
mechanism has). That is μ-GDP with μ = 2·Φ⁻¹(1/(1 + e^(-η/2))), as η/2-DP is. Laws whose ratios lie
in an interval come from the two laws on two outcomes that have its ends as ratios, since of all
ratios in it with mean 1 these are the most spread out (in the convex order). With r = e^-η and
b = 1 - r these two laws have a test with
    (r + b·α)·(r + b·β) = r,
for each t another point of this curve; the other least β are on lines from there to (0, 1) and to
(1, 0). So the claim is that the curve of μ-GDP, whose points with m = μ/2 are α = Φ(u - m) and
β = Φ(-u - m) for all real u, is nowhere above:
    K(u) = (r + b·Φ(u - m))·(r + b·Φ(-u - m)) <= r.
K is even, K(0) = r by the choice of m, and K tends to r as u grows. For u > 0 the slope of K has
the sign of -F, with
    F(u) = r + b·Φ(u - m) - e^(2um)·(r + b·Φ(-u - m)),      F(0) = 0,
because e^(2um)·φ(u + m) = φ(u - m), and for the same reason F' has the sign of
    J(z) = b·φ(z) - m·(r + b·Φ(-z)),      z = u + m,
whose slope -(z - m)·b·φ(z) is negative. So J changes its sign once at most, from plus to minus; F
rises from 0, and then falls for good, to -∞; and K falls first, and then rises to its limit r. (Did
F only fall, K would rise from r to r.) So K is nowhere above r.

Let h(η) be the μ² of a range η. h(η)/η rises: with x = Φ⁻¹(1/(1 + e^(-η/2))) > 0 it is
2·x²/L(x) for L(x) = ln Φ(x) - ln Φ(-x), and that rises as 2·L - x·L' is above 0. It is 0 at 0, and
its slope L' - x·L'' is L'·(1 + x² + x·φ(x)/Φ(x) - x·φ(x)/Φ(-x)), where φ(x)/Φ(-x) < x + 1/x. So
parts of a range cost no more than the whole does in as few parts as there can be:
    Σ h(η_j) <= n·h(η) if each η_j <= η and Σ η_j <= n·η.
And h(η) <= π·η²/8, since Φ(x) >= 1/(1 + e^-(4x/√(2π))) for x >= 0: both are ½ at 0 and have the
limit 1, and the slope of the first is the larger one up to some x, and from there the smaller one
(x² <= 4·ln cosh(2x/√(2π)) holds up to a point only, as ln cosh(y)/y² falls).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from dpsql.privacy.directed_rounding import exp, ln, round_down, round_up, sqrt
from dpsql.privacy.normal_law import SMALLEST, tail_point, upper_tail

HIGH_PI = Fraction(31415926535897932385, 10**19)
"""π, rounded up."""


@lru_cache(maxsize=1024)
def mu_squared_of_pure(epsilon: Fraction) -> Fraction:
    """Return the least μ² of which every ε-DP mechanism is μ-GDP, rounded up.

    Raises ValueError for a negative ε, and for one above 600.
    """
    if epsilon < 0:
        raise ValueError("a loss is at least 0")
    if epsilon == 0:
        return Fraction(0)
    corner = 1 / (1 + exp(epsilon).high)
    return round_up((2 * tail_point(corner)) ** 2)


def mu_squared_of_range(width: Fraction) -> Fraction:
    """Return the least μ² of which every mechanism of this bounded range is μ-GDP, rounded up."""
    return mu_squared_of_pure(width / 2)


@lru_cache(maxsize=1024)
def range_of_mu_squared(mu_squared: Fraction) -> Fraction:
    """Return a bounded range with mu_squared_of_range(range) <= mu_squared, the largest or nearly.

    Raises ValueError unless mu_squared is positive.
    """
    if mu_squared <= 0:
        raise ValueError("a range takes a positive loss")
    # Φ(-μ/2) = 1/(1 + e^(η/2)).
    corner = max(upper_tail(sqrt(mu_squared).low / 2).high, 2 * SMALLEST)
    width = round_down(2 * ln((1 - corner) / corner).low, digits=25)
    give_way = Fraction(1, 10**25)
    while mu_squared_of_range(width) > mu_squared:
        width = round_down(width * max(1 - give_way, Fraction(0)), digits=25)
        give_way *= 2
    return width
