"""Levels made to add up: nearest to what was drawn, by least squares, and by formula less noisy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from dpsql.release.consistency.hierarchy import Hierarchy
from dpsql.release.consistency.levels import nesting
from dpsql.release.consistency.margins import Margins

UNEVEN = Hierarchy((1, 3, 7), (np.array([0, 0, 0]), np.array([0, 0, 1, 1, 1, 2, 2])))
"""A total, three regions, seven countries."""

FOREST = Hierarchy((2, 5), (np.array([1, 0, 0, 1, 1]),))

LEVELS = [
    [(0, 1, 2), (0, 1), (0, 2), (1, 2), (0,), (1,), (2,), ()],
    [(0, 1), (1, 2), (0, 2), ()],
    [(0,), (1,), ()],
    [(0, 1, 2), (1,), ()],
    [(0,), (1, 2)],
]


def summing(hierarchy: Hierarchy) -> list[np.ndarray]:
    """Of each level the matrix that sums the finest cells to it."""
    found = [np.eye(hierarchy.sizes[-1])]
    for size, parents in zip(hierarchy.sizes[-2::-1], hierarchy.parents[::-1], strict=True):
        above = np.zeros((size, parents.size))
        above[parents, np.arange(parents.size)] = 1
        found.insert(0, above @ found[0])
    return found


def margins_of(
    sizes: Sequence[int], levels: Sequence[tuple[int, ...]]
) -> tuple[Margins, list[np.ndarray]]:
    """Margins whose rows lie in no particular order, and the matrices that sum to them."""
    random, cells = np.random.default_rng(3), np.arange(math.prod(sizes))
    coordinates = np.unravel_index(cells, tuple(sizes))
    matrices, places = [], []
    for level in levels:
        shape = tuple(sizes[factor] for factor in level)
        order = random.permutation(math.prod(shape))
        grid = np.zeros_like(cells)
        if shape:
            grid = np.ravel_multi_index(tuple(coordinates[f] for f in level), shape)
        matrix = np.zeros((order.size, cells.size))
        matrix[grid, cells] = 1
        matrices.append(matrix[order])
        places.append(order)
    return Margins(tuple(sizes), tuple(levels), tuple(places)), matrices


def dense(
    matrices: Sequence[np.ndarray], own: Sequence[float]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All rows of all levels, their weights, and the covariance of the finest cells."""
    whole = np.vstack(matrices)
    weights = np.concatenate([[1 / v] * len(m) for m, v in zip(matrices, own, strict=True)])
    return whole, weights, np.linalg.pinv(whole.T @ (weights[:, None] * whole))


@pytest.mark.parametrize("hierarchy", [UNEVEN, FOREST])
def test_a_hierarchy_is_solved_as_least_squares_are(hierarchy: Hierarchy) -> None:
    random = np.random.default_rng(1)
    matrices, own = summing(hierarchy), [4.0, 9.0, 2.0][: len(hierarchy.sizes)]
    whole, weights, covariance = dense(matrices, own)
    noisy = [random.integers(-100, 1000, size) for size in hierarchy.sizes]
    nearest = covariance @ whole.T @ (weights * np.concatenate(noisy))
    for matrix, found in zip(matrices, hierarchy.solved(noisy, own), strict=True):
        assert found.dtype == np.int64
        assert np.abs(found - matrix @ nearest).max() <= 1
    for matrix, variance in zip(matrices, hierarchy.variances(own), strict=True):
        largest = (matrix @ covariance @ matrix.T).diagonal().max()
        assert variance == pytest.approx(largest + 1 / 6)


@pytest.mark.parametrize("levels", LEVELS)
def test_margins_are_solved_as_least_squares_are(levels: list[tuple[int, ...]]) -> None:
    random = np.random.default_rng(2)
    margins, matrices = margins_of((2, 3, 4), levels)
    own = random.uniform(1, 10, len(levels)).tolist()
    whole, weights, covariance = dense(matrices, own)
    noisy = [random.integers(-100, 1000, len(matrix)) for matrix in matrices]
    nearest = covariance @ whole.T @ (weights * np.concatenate(noisy))
    solved = margins.solved(noisy, own)
    for level, matrix, found in zip(levels, matrices, solved, strict=True):
        assert np.abs(found - matrix @ nearest).max() <= 2 ** (len(level) - 1) + 1e-6
    for level, matrix, variance in zip(levels, matrices, margins.variances(own), strict=True):
        of_cells = (matrix @ covariance @ matrix.T).diagonal()
        assert of_cells == pytest.approx(variance - 2 ** len(level) / 12)


@pytest.mark.parametrize("far", [0, 2**70])
def test_every_sum_is_exact_also_beyond_machine_words(far: int) -> None:
    random = np.random.default_rng(4)
    kind = np.int64 if far == 0 else object
    noisy = [
        np.array([far * 7 // size + int(n) for n in random.integers(0, 99, size)], dtype=kind)
        for size in UNEVEN.sizes
    ]
    solved = UNEVEN.solved(noisy, [4.0, 9.0, 2.0])
    for (above, below), parents in zip(pairwise(solved), UNEVEN.parents, strict=True):
        for place, value in enumerate(above.tolist()):
            assert value == sum(
                b for b, p in zip(below.tolist(), parents, strict=True) if p == place
            )


def test_margins_that_share_a_factor_share_its_sums() -> None:
    random = np.random.default_rng(5)
    for _ in range(50):
        levels = [(0, 1), (1, 2), (0, 2), (1,), ()]
        margins = Margins((3, 4, 2), tuple(levels), tuple(map(np.arange, (12, 8, 6, 4, 1))))
        noisy = [random.integers(-20, 20, size) for size in (12, 8, 6, 4, 1)]
        by_01, by_12, by_02, by_1, total = margins.solved(noisy, [3.0, 1.0, 2.0, 5.0, 4.0])
        by_01, by_12, by_02 = by_01.reshape(3, 4), by_12.reshape(4, 2), by_02.reshape(3, 2)
        assert (by_01.sum(0) == by_1).all()
        assert (by_12.sum(1) == by_1).all()
        assert (by_01.sum(1) == by_02.sum(1)).all()
        assert (by_12.sum(0) == by_02.sum(0)).all()
        assert by_1.sum() == total[0]


def test_a_total_is_less_noisy_by_formula_and_in_3000_draws() -> None:
    """By formula 1 / (1/σ² + 1/nσ²). Each variance is within 10 % of it but once in 10,000 runs.

    3,000 squares of nearly normal numbers have a mean within ±2.6 %, one standard deviation.
    """
    cells, variance = 20, 200.0
    within = nesting([{}, {"k": pa.array(range(cells))}], [1, cells])
    assert isinstance(within, Hierarchy)
    expected = 1 / (1 / variance + 1 / (cells * variance))
    told = within.variances([variance, variance])
    assert told[0] == pytest.approx(expected + 1 / 6)
    assert told[0] < variance
    random, errors = np.random.default_rng(6), []
    for _ in range(3000):
        noise = [np.rint(random.laplace(0, 10, n)).astype(np.int64) for n in (1, cells)]
        errors.append([float(each[0]) for each in within.solved(noise, [variance, variance])])
    for found, said in zip(np.var(errors, axis=0), told, strict=True):
        assert abs(found / said - 1) < 0.13


def test_keys_that_always_stand_together_are_one_factor() -> None:
    """Nations by region are no product, but their pairs times a status are."""
    nations, regions = ["CA", "US", "FR"], ["AMERICA", "AMERICA", "EUROPE"]
    pairs = {"r": pa.array(regions), "n": pa.array(nations)}
    crossed = {
        "r": pa.array(regions * 2),
        "n": pa.array(nations * 2),
        "s": pa.array(["F"] * 3 + [None] * 3),
    }
    found = nesting([{}, {"s": pa.array([None, "F"])}, pairs, crossed], [1, 2, 3, 6])
    assert isinstance(found, Margins)
    assert sorted(found.sizes) == [2, 3]
    chain = nesting([{}, {"r": pa.array(["AMERICA", "EUROPE"])}, pairs, crossed], [1, 2, 3, 6])
    assert isinstance(chain, Hierarchy)
    assert chain.parents[1].tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    "levels",
    [
        # A cell without children, one without a parent, and pairs that aren't all there are.
        [{"r": ["A", "B"]}, {"r": ["A", "A"], "n": [1, 2]}],
        [{"r": ["A"]}, {"r": ["A", "B"], "n": [1, 2]}],
        [{}, {"r": ["A", "B"]}, {"n": [1, 2, 3]}, {"r": ["A", "A", "B"], "n": [1, 2, 3]}],
        [{"r": ["A", "A"]}, {"r": ["A", "A"], "n": [1, 2]}],
    ],
)
def test_cells_that_do_not_lie_in_each_other_have_no_structure(
    levels: list[dict[str, list[object]]],
) -> None:
    counts = [len(next(iter(level.values()))) if level else 1 for level in levels]
    arrays = [{key: pa.array(values) for key, values in level.items()} for level in levels]
    assert nesting(arrays, counts) is None
