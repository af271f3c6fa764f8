"""A synopsis of too many cells to list: its exact counts, its estimates, and what it measures."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from privacy.seeded import SeededRandomness

from dpsql.errors import TooComplex
from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.allocation.mwem_calibration import (
    HistogramSensitivity,
    MwemParameters,
    mwem_calibration,
)
from dpsql.release.synopsis.cell_partition import Shape
from dpsql.release.synopsis.factored.factored_table import fit_margins
from dpsql.release.synopsis.factored.margin_choice import (
    MAX_MARGIN_CELLS,
    Axes,
    candidate_margins,
    check_domains,
    fitting_margins,
    margin,
    stored_rows,
)
from dpsql.release.synopsis.factored.margin_model import MarginModel
from dpsql.release.synopsis.factored.nonnegative import nonnegative
from dpsql.release.synopsis.factored.occupied_cells import OccupiedCells
from dpsql.release.synopsis.margin_error import MeasuredNoise
from dpsql.release.synopsis.weight_fit import Measured

SHAPE = (4, 3, 1, 5, 2)


def subsets(shape: Shape) -> Iterator[Axes]:
    own = [axis for axis, n in enumerate(shape) if n > 1]
    for size in range(len(own) + 1):
        yield from combinations(own, size)


def rows(shape: Shape, mean: float = 40.0) -> NDArray[np.int64]:
    return np.random.default_rng(4).poisson(mean, shape).astype(np.int64)


def occupied(cells: NDArray[Any]) -> OccupiedCells:
    positions = np.nonzero(cells)
    return OccupiedCells(cells.shape, tuple(positions), cells[positions])


def exact(cells: NDArray[Any], axes: Axes, variance: float = 1.0) -> Measured:
    one = margin(cells.shape, axes)
    return Measured(one, one.sums(cells).astype(np.float64), variance)


def true_margin(cells: NDArray[Any], axes: Axes) -> NDArray[Any]:
    return margin(cells.shape, axes).sums(cells).reshape([cells.shape[axis] for axis in axes])


def calibrated(moves: HistogramSensitivity, parts: int, rho: Fraction) -> MwemParameters:
    return mwem_calibration([moves], parts, PrivacyLoss(Accounting.ZCDP, rho))[0]


@pytest.mark.parametrize("worth", [1, 2**61, 2**70], ids=["small", "64 bits", "more"])
def test_occupied_cells_have_the_sums_of_all_cells(worth: int) -> None:
    cells = rows(SHAPE, 0.5).astype(object) * worth
    if worth == 1:
        cells = cells.astype(np.int64)
    assert np.count_nonzero(cells) < cells.size
    for one in candidate_margins(SHAPE):
        assert (one.sums(occupied(cells)) == one.sums(cells)).all()


def test_no_row_at_all_is_a_margin_of_zeros() -> None:
    nothing = occupied(np.zeros(SHAPE, dtype=np.int64))
    assert not margin(SHAPE, (0, 3)).sums(nothing).any()


def test_candidates_are_the_small_margins_of_up_to_three_axes() -> None:
    shape = (1_000, 90, 1, 80, 1_200, 2)
    among = {one.single_axes: one.boxes for one in candidate_margins(shape)}
    assert (0, 1) in among
    assert (0, 4) not in among
    assert not any(2 in axes or len(axes) > 3 for axes in among)
    assert max(among.values()) <= MAX_MARGIN_CELLS
    assert list(among.values()) == sorted(among.values())


def test_margins_are_candidates_as_long_as_they_can_be_kept() -> None:
    columns = 200
    shape = (30, 50, 40)
    among = candidate_margins(shape)
    assert stored_rows(columns) == 3_932
    first = [Measured(margin(shape, axes), np.zeros(1), 1.0) for axes in [(), (1, 2)]]
    assert {one.single_axes for one in fitting_margins(among, [], columns)} == {
        *[(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]
    }
    assert {one.single_axes for one in fitting_margins(among, first, columns)} == {
        *[(0,), (1,), (2,), (0, 1), (0, 2)]
    }


@pytest.mark.parametrize(
    "domains",
    [
        [[(n,) for n in range(1_000)]] * 5,
        [[(0,), (1,)]] * 31,
        [[(n,) for n in range(40_000)]] * 2,
        [[("x" * 100_000 + str(n),) for n in range(30)]] * 4,
    ],
    ids=["cells", "keys", "values", "text"],
)
def test_what_could_not_be_kept_is_refused_before_it_is_charged(
    domains: list[list[tuple[int | str, ...]]],
) -> None:
    with pytest.raises(TooComplex):
        check_domains(domains, len(domains) + 1)


def test_estimates_are_the_least_squares_of_all_that_was_measured() -> None:
    """Counts are so large that none is near zero: then there is nothing but a linear fit."""
    shape = (3, 2, 4)
    chance = np.random.default_rng(5)
    cells = chance.integers(10_000, 20_000, shape)
    measured = []
    for axes, variance in [((), 9.0), ((0, 1), 4.0), ((1, 2), 25.0), ((1,), 16.0), ((0, 1), 1.0)]:
        one = exact(cells, axes, variance)
        noise = chance.normal(0, variance**0.5, one.counts.shape)
        measured.append(Measured(one.partition, one.counts + noise, variance))
    matrix, told = [], []
    for one in measured:
        unit = np.eye(cells.size).reshape(-1, *shape)
        sums = np.array([one.partition.sums(each).ravel() for each in unit]).T
        matrix.append(sums / one.variance**0.5)
        told.append(one.counts.ravel() / one.variance**0.5)
    least = np.linalg.lstsq(np.concatenate(matrix), np.concatenate(told), rcond=None)[0]
    model = MarginModel(shape, measured)
    for axes in [(), (0,), (1,), (2,), (0, 1), (1, 2)]:
        assert model.margin(axes) == pytest.approx(true_margin(least.reshape(shape), axes))


def test_margins_add_up_and_are_not_below_zero() -> None:
    """Of three keys there may be no counts that are so, and agree with those of any two."""
    cells = rows((4, 5, 6), 0.3)
    chance = np.random.default_rng(6)
    measured = []
    for axes in [(), (0, 1, 2), (0, 1), (2,)]:
        one = exact(cells, axes, 4.0)
        noisy = one.counts + np.rint(chance.normal(0, 2, one.counts.shape))
        measured.append(Measured(one.partition, noisy, 4.0))
    model = MarginModel(cells.shape, measured)
    for axes in subsets(cells.shape):
        found = model.margin(axes)
        assert found.min() >= (-0.25 if len(axes) == 3 else -0.002)
        for place in range(len(axes)):
            below = model.margin(axes[:place] + axes[place + 1 :])
            assert found.sum(axis=place) == pytest.approx(below, abs=1e-6)


def test_what_was_not_measured_together_is_independent_given_what_was() -> None:
    """Of a, b and b, c the counts of all three are those of a, b times the shares of c at b."""
    cells = rows((3, 4, 5))
    model = MarginModel(cells.shape, [exact(cells, axes) for axes in [(), (0, 1), (1, 2)]])
    left, right = true_margin(cells, (0, 1)), true_margin(cells, (1, 2))
    given = left[:, :, None] * right[None] / left.sum(axis=0)[None, :, None]
    assert model.margin((0, 1, 2)) == pytest.approx(given, rel=1e-3)
    # Of a and c alone it is the sum of that, and not their independence.
    assert model.margin((0, 2)) == pytest.approx(given.sum(axis=1), rel=1e-3)
    alone = MarginModel(cells.shape, [exact(cells, axes) for axes in [(), (0,), (2,)]])
    shares = np.outer(cells.sum(axis=(1, 2)), cells.sum(axis=(0, 1))) / cells.sum()
    assert alone.margin((0, 2)) == pytest.approx(shares, rel=1e-6)


def test_nothing_but_a_number_of_rows_is_spread_evenly() -> None:
    cells = rows(SHAPE)
    model = MarginModel(SHAPE, [exact(cells, ())])
    assert model.margin((0, 3)) == pytest.approx(np.full((4, 5), cells.sum() / 20))


def test_a_noisy_number_of_rows_below_zero_is_none() -> None:
    below = Measured(margin(SHAPE, ()), np.full((1,) * len(SHAPE), -7.0), 9.0)
    model = MarginModel(SHAPE, [below])
    assert model.margin(()) == 0
    assert not model.margin((0, 1)).any()


def test_counts_below_zero_are_lifted_to_the_nearest_of_the_same_sums() -> None:
    """In two rows and columns one number decides: the count below zero is none, at all others'
    cost.
    """
    noisy = np.array([[10.0, -2.0], [5.0, 6.0]])
    assert nonnegative(noisy) == pytest.approx(np.array([[8.0, 0.0], [7.0, 4.0]]), abs=0.01)
    assert nonnegative(np.array([-3.0, 2.0, 5.0])) == pytest.approx([0, 0.5, 3.5], abs=0.01)
    assert nonnegative(np.array(-3.0)) == 0


def test_what_is_measured_has_the_noise_that_its_law_says_and_no_more_parts_than_there_are() -> (
    None
):
    """Of n counts Σ(noise/σ)² is within 6·√(2n) of n: false with probability below 1e-6.

    Seeds are fixed.
    """
    cells = occupied(rows((6, 7, 8, 9), 0.2))
    made = calibrated(HistogramSensitivity(3, 2), 12, Fraction(2))
    squares, counts = 0.0, 0
    for run in range(6):
        measured = fit_margins(cells, made, 5, SeededRandomness(f"law {run}")).measured
        first, *others = measured
        assert first.variance == float(made.total.variance)
        taken = 0
        for one in others:
            noises = {k: float(made.noise(k, one.partition.merged).variance) for k in range(1, 13)}
            (parts,) = [k for k, variance in noises.items() if variance == one.variance]
            taken += parts
        assert taken == made.parts
        for one in measured:
            noise = one.counts - one.partition.sums(cells)
            assert (noise == np.rint(noise)).all()
            squares += float(np.square(noise).sum()) / one.variance
            counts += noise.size
    assert abs(squares - counts) <= 6 * math.sqrt(2 * counts)


def test_measured_margins_are_within_their_error_as_often_as_is_said() -> None:
    """Of each measured margin 92 % at least, of all 94 %: seeds are fixed."""
    chance = np.random.default_rng(8)
    cells = np.zeros((5, 6, 4, 7), np.int64)
    hidden = chance.integers(0, 3, 4_000)
    places = [np.minimum(hidden * chance.integers(1, 3, 4_000), n - 1) for n in (5, 6, 4, 7)]
    np.add.at(cells, tuple(places), 1)
    made = calibrated(HistogramSensitivity(1, 1), 8, Fraction(1, 20))
    inside: dict[int, list[bool]] = {}
    for run in range(25):
        synopsis = fit_margins(occupied(cells), made, 5, SeededRandomness(f"error {run}"))
        law = MeasuredNoise(tuple((one.partition, one.variance) for one in synopsis.measured), 1.96)
        for axes in subsets(cells.shape):
            variance = law.variance(axes)
            if variance is not None:
                off = synopsis.estimates.margin(axes) - true_margin(cells, axes)
                inside.setdefault(len(axes), []).extend(
                    (np.abs(off) <= 1.96 * variance**0.5 + 1e-9).ravel().tolist()
                )
    assert {*inside} >= {0, 1, 2}
    for hits in inside.values():
        assert np.mean(hits) >= 0.92
    assert np.mean([hit for hits in inside.values() for hit in hits]) >= 0.94
