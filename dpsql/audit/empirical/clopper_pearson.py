"""The ends of exact confidence intervals for a probability, from how often an event happened.

(Clopper & Pearson 1934, "The use of confidence or fiducial limits illustrated in the case of the
binomial".)
"""

from __future__ import annotations

import math
from collections.abc import Callable


def low_end(hits: int, draws: int, alpha: float) -> float:
    """The number that the event's probability isn't below, except with probability `alpha`."""
    if hits == 0:
        return 0.0
    # P(X >= hits) grows with p, and reaches alpha at the end.
    return _reaches(lambda p: _upper_tail(hits, draws, p), math.log(alpha))


def high_end(hits: int, draws: int, alpha: float) -> float:
    """The number that the event's probability isn't above, except with probability `alpha`."""
    return 1.0 - low_end(draws - hits, draws, alpha)


def _reaches(log_tail: Callable[[float], float], level: float) -> float:
    """The probability, of 0 to 1, at which the increasing `log_tail` reaches `level`."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if log_tail(middle) >= level:
            high = middle
        else:
            low = middle
    return low


def _upper_tail(hits: int, draws: int, p: float) -> float:
    """Return ln P(X >= hits) of a binomial; terms fall geometrically, so few of them are summed."""
    if p <= 0:
        return -math.inf
    mean = draws * p
    if hits <= mean:
        # The other tail is the smaller one.
        below = _sum(hits - 1, draws, p, -1)
        return math.log1p(-min(1 - 1e-16, math.exp(below)))
    return _sum(hits, draws, p, 1)


def _sum(start: int, draws: int, p: float, step: int) -> float:
    """Return ln of the sum of P(X = k) from `start` on, away from the mean."""
    if not 0 <= start <= draws or p >= 1:
        return -math.inf
    first = _log_probability(start, draws, p)
    total, term, k = 1.0, 1.0, start
    odds = p / (1 - p)
    while 0 <= k + step <= draws and term > total * 1e-17:
        ratio = (draws - k) / (k + 1) * odds if step > 0 else k / (draws - k + 1) / odds
        term *= ratio
        total += term
        k += step
    return first + math.log(total)


def _log_probability(k: int, draws: int, p: float) -> float:
    ways = math.lgamma(draws + 1) - math.lgamma(k + 1) - math.lgamma(draws - k + 1)
    return ways + k * math.log(p) + (draws - k) * math.log1p(-p)
