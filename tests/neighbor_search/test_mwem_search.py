"""Fits of a synopsis that the neighbour search computes once for both databases."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from neighbor_search.mwem_search import computed_once
from privacy.seeded import SeededRandomness

from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.release.synopsis.cell_partition import partitions
from dpsql.release.synopsis.weight_fit import Measured, fitted, measure

CELLS = np.arange(12, dtype=np.int64).reshape(3, 4)
EVEN = np.full(CELLS.shape, 5.5)


def measured() -> list[Measured]:
    noise = DiscreteLaplace(Fraction(2))
    return [measure(p, CELLS, noise, SeededRandomness(str(p))) for p in partitions(CELLS.shape)]


def test_a_fit_to_equal_measurements_is_computed_once_and_is_the_same() -> None:
    fits: list[int] = []

    def counted(*given: object) -> object:
        fits.append(1)
        return fitted(*given)  # type: ignore[arg-type]

    once = computed_once(counted)  # type: ignore[arg-type]
    found = [once(EVEN.copy(), measured(), 40) for _ in range(2)]
    assert len(fits) == 1
    assert all(one.tobytes() == fitted(EVEN, measured(), 40).tobytes() for one in found)


def test_a_fit_of_anything_else_is_another() -> None:
    once = computed_once(fitted)
    first = once(EVEN, measured(), 40)
    assert once(EVEN, measured()[1:], 40).tobytes() == fitted(EVEN, measured()[1:], 40).tobytes()
    assert once(EVEN, measured(), 2).tobytes() == fitted(EVEN, measured(), 2).tobytes()
    with pytest.raises(ValueError, match="read-only"):
        first += 1
