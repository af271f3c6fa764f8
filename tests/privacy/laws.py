"""Laws of private selection in closed form, to fifty digits; and the divergences between laws."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
from mpmath import mp, mpf
from scipy import stats

mp.dps = 50
Law = list[mpf]
Losses = Sequence[Fraction | int]


def exact(x: Fraction) -> mpf:
    return mpf(x.numerator) / x.denominator


def exponential_law(losses: Losses, rate: Fraction, weights: Sequence[int] | None = None) -> Law:
    weights = weights or [1] * len(losses)
    least = min(loss for loss, weight in zip(losses, weights, strict=True) if weight)
    weighed = [
        weight * mp.exp(-exact(rate * (loss - least)))
        for loss, weight in zip(losses, weights, strict=True)
    ]
    return [weight / sum(weighed) for weight in weighed]


def permute_and_flip_law(losses: Losses, rate: Fraction) -> Law:
    """Candidate i is first with probability p_i·∫ Π (1 - p_j·t) dt over t from 0 to 1, j ≠ i."""
    taken = [mp.exp(-exact(rate * (loss - min(losses)))) for loss in losses]
    law = []
    for index, p in enumerate(taken):
        others = taken[:index] + taken[index + 1 :]
        law.append(
            p
            * sum(
                (-1) ** size
                * mp.fsum(mp.fprod(some) for some in combinations(others, size))
                / (size + 1)
                for size in range(len(others) + 1)
            )
        )
    return law


def loss_range(one: Law, other: Law) -> tuple[mpf, mpf]:
    """The least and the greatest logarithm of the ratio of two laws."""
    ratios = [mp.log(p / q) for p, q in zip(one, other, strict=True)]
    return min(ratios), max(ratios)


def renyi(one: Law, other: Law, order: mpf) -> mpf:
    moments = mp.fsum(p**order * q ** (1 - order) for p, q in zip(one, other, strict=True))
    return mp.log(moments) / (order - 1)


def fit(drawn: np.ndarray, law: Law) -> float:
    """The probability of a worse chi-squared; outcomes expected less than 10 times are merged."""
    expected = np.array([float(p) for p in law]) * drawn.size
    seen = np.bincount(drawn, minlength=len(law)).astype(float)
    rare = expected < 10
    expected = np.append(expected[~rare], expected[rare].sum())
    seen = np.append(seen[~rare], seen[rare].sum())
    if expected[-1] < 10:
        expected, seen = expected[:-1], seen[:-1]
    return float(stats.chi2.sf(((seen - expected) ** 2 / expected).sum(), expected.size - 1))
