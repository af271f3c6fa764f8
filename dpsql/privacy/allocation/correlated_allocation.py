"""How a loss is shared by the integers of noise with a shared part, so that variance is least."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from dpsql.privacy.allocation.noise_allocation import Weights, rounded_up
from dpsql.privacy.mechanisms.noise.correlated import (
    LARGEST,
    MIN_VARIANCE,
    CorrelatedGaussian,
)


def split_correlated(
    intervals: Sequence[tuple[int, int]], weights: Weights, cells: int, rho: Fraction
) -> CorrelatedGaussian | None:
    """Return the noise of columns of `cells` integers that a unit moves within `intervals`.

    It loses at most `rho`, and is nearly least in Σ weight·variance over all integers. None where
    moves are too wide for it, or variances too small to be normal.
    """
    # Minimise Σ n·c·(s² + m²·t²)/4 with Σ n·w²/s² + 1/t² = 2ρ: s² ∝ w/√c, t² ∝ 1/√(Σ n·c·m²).
    widths = [high - low for low, high in intervals]
    centers = tuple(low + high for low, high in intervals)
    if not any(centers) or max(widths) > LARGEST:
        return None
    # Relative to the smallest, so that nothing overflows.
    smallest = min(weights)
    costs = [float(Fraction(weight) / Fraction(smallest)) for weight in weights]
    common = math.sqrt(cells * sum(c * float(m) ** 2 for c, m in zip(costs, centers, strict=True)))
    wished = [Fraction(width / math.sqrt(cost)) for width, cost in zip(widths, costs, strict=True)]
    shared = Fraction(1 / common)
    relative = CorrelatedGaussian(tuple(wished), shared, centers, cells)
    factor = relative.rho(widths) / rho
    law = CorrelatedGaussian(
        tuple(rounded_up(factor * variance) for variance in wished),
        rounded_up(factor * shared),
        centers,
        cells,
    )
    if min(*law.variances, law.shared) < MIN_VARIANCE or law.shared > LARGEST // 2**20:
        return None
    return law
