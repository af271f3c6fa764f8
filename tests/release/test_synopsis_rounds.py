"""What a synopsis is made by: its accounting, its bounds, its choices, and the errors it tells."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, cast

import numpy as np
import pytest
from privacy.seeded import SeededRandomness

from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.allocation.mwem_calibration import (
    CHOICE_SHARE,
    TOTAL_SHARE,
    HistogramSensitivity,
    MwemParameters,
    mwem_calibration,
)
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.noise.rounded_gaussian import RoundedGaussian
from dpsql.privacy.mechanisms.selection.exponential import Exponential
from dpsql.release.synopsis.cell_partition import (
    MAX_PARTITIONS,
    Partition,
    count_partitions,
    partitions,
)
from dpsql.release.synopsis.margin_error import (
    MeasuredNoise,
    decode_measured,
    encode_measured,
)
from dpsql.release.synopsis.mwem import _choose, fit_weights


def test_a_pure_synopsis_costs_what_the_reference_says() -> None:
    """MWEM's own sum, ε = Σ (ε_choice + ε_noise), for a histogram that moves by 1."""
    epsilon, rounds = Fraction(1), 10
    made, loss = mwem_calibration(
        [HistogramSensitivity(1, 1)], rounds, PrivacyLoss(Accounting.PURE, epsilon)
    )
    part = epsilon * (1 - TOTAL_SHARE) / rounds
    assert made.choice(1).epsilon == part * CHOICE_SHARE
    assert made.noise(1, 1) == DiscreteLaplace(1 / (part * (1 - CHOICE_SHARE)))
    assert made.choice(1).spread == 2
    assert loss == PrivacyLoss(Accounting.PURE, epsilon)


def test_a_zcdp_synopsis_costs_what_the_reference_says() -> None:
    """ρ = Σ (ε0²/8 + 1/(2σ²)), for a histogram that moves by 1."""
    rho, rounds = Fraction(1, 50), 10
    made, loss = mwem_calibration(
        [HistogramSensitivity(1, 1)], rounds, PrivacyLoss(Accounting.ZCDP, rho)
    )
    noise = made.noise(1, 1)
    assert isinstance(noise, DiscreteGaussian)
    spent = rounds * (made.choice(1).epsilon ** 2 / 8 + 1 / (2 * noise.variance))
    assert loss.amount == rho
    assert rho * (1 - Fraction(1, 10**9)) < rho * TOTAL_SHARE + spent <= rho


@pytest.mark.parametrize(
    "moves",
    [
        HistogramSensitivity(1, 1),
        HistogramSensitivity(12, 24, 40),
        HistogramSensitivity(3, 2),
    ],
    ids=repr,
)
@pytest.mark.parametrize("accounting", list(Accounting))
def test_what_a_unit_moves_is_in_all_of_it(
    moves: HistogramSensitivity, accounting: Accounting
) -> None:
    delta = Fraction(0) if accounting is Accounting.PURE else Fraction(1, 10**6)
    made, loss = mwem_calibration([moves], 4, PrivacyLoss(accounting, Fraction(1, 2), delta))
    assert loss.amount <= Fraction(1, 2)
    assert loss.delta <= delta
    for taken, merged in product((1, 3, 4), (1, 2, 100)):
        assert made.choice(taken).spread == 2 * moves.l1
        noise, paid = made.noise(taken, merged), made.part * taken * (1 - CHOICE_SHARE)
        if isinstance(noise, DiscreteLaplace):
            assert noise.epsilon(moves.l1) == paid
        elif isinstance(noise, RoundedGaussian):
            assert noise.mu_squared(moves.l2_squared(merged)) == paid
        else:
            assert noise.rho(moves.l2_squared(merged)) == paid


def test_rounds_take_all_parts_and_none_twice() -> None:
    """Of no rows each round finds noise alone, so that the next one takes four times as much."""
    moves = HistogramSensitivity(1, 1)
    for parts in (1, 2, 3, 8, 21, 50):
        made, _ = mwem_calibration([moves], parts, PrivacyLoss(Accounting.PURE, Fraction(1)))
        for rows in (0, 10**6):
            taken: list[int] = []
            cells = np.zeros((4, 4), np.int64)
            cells[2, 1] = rows
            fit_weights(cells, cast("Any", _Noting(made, taken)), SeededRandomness("parts"))
            assert sum(taken) == parts
            assert all(k >= 1 for k in taken)


@dataclass
class _Noting:
    """Parameters of a synopsis that note how many parts each of its choices takes."""

    made: MwemParameters
    taken: list[int]

    def choice(self, taken: int) -> Exponential:
        self.taken.append(taken)
        return self.made.choice(taken)

    def __getattr__(self, name: str) -> object:
        return getattr(self.made, name)


def test_no_neighbour_moves_a_partition_or_a_score_by_more_than_derived() -> None:
    """Under both relations: a unit in at most `groups` cells, with at most `rows` in each."""
    chance, shape = random.Random(7), (3, 4)
    for groups, rows, steps in product((1, 2, 5), (1, 3), (1, 2, 4)):
        in_all = chance.choice([None, groups * rows, 2 * rows + 1, 1])
        limit = None if in_all is None else steps * in_all
        moves = HistogramSensitivity(groups, steps * rows, limit)
        for _ in range(40):
            cells = np.array(chance.choices(range(9), k=12)).reshape(shape)
            other = cells.copy()
            corner = chance.random() < 0.5
            for step in range(steps):
                sign = 1 if step % 2 else -1
                chosen = range(groups) if corner else chance.sample(range(12), groups)
                left = groups * rows if in_all is None else in_all
                for place in chosen:
                    size = min(left, rows if corner else chance.randint(0, rows))
                    other.flat[place] += sign * size
                    left -= size
            assert abs(cells.sum() - other.sum()) <= moves.l1
            weights = np.array(chance.choices(range(9), k=12)).reshape(shape)
            for one in partitions(shape):
                change = one.sums(cells) - one.sums(other)
                assert np.abs(change).sum() <= moves.l1
                assert np.square(change).sum() <= moves.l2_squared(one.merged)
                before, after = (
                    np.abs(one.sums(weights) - one.sums(c)).sum() for c in (cells, other)
                )
                assert abs(before - after) <= moves.l1


def test_partitions_are_of_the_whole_grid() -> None:
    cells = np.arange(3 * 5 * 84).reshape(3, 5, 84)
    found = partitions(cells.shape)
    assert len(found) == count_partitions(cells.shape) == 3 * 4 * 8 - 1
    for one in found:
        sums = one.sums(cells)
        assert sums.size == one.boxes
        assert sums.sum() == cells.sum()
        assert np.array_equal(one.sums(np.ones(cells.shape)), one.sums(one.spread(sums) * 0 + 1))
        assert one.sums(np.ones(cells.shape)).max() == one.merged
    assert count_partitions((2,) * 16) == len(partitions((2,) * 16)) == MAX_PARTITIONS
    assert Partition((3,), (4,)).boxes == 1


def test_axes_without_an_order_are_whole_or_in_single_cells() -> None:
    shape = (3, 5, 84, 1)
    found = partitions(shape, unordered=[0, 1, 3])
    assert len(found) == count_partitions(shape, unordered=[0, 1, 3]) == 2 * 2 * 8 - 1
    assert set(found) <= set(partitions(shape))
    assert {one.sizes[1] for one in found} == {1, 8}
    assert {one.sizes[2] for one in found} == {2**k for k in range(8)}
    assert {one.sizes[3] for one in found} == {1}


@pytest.mark.parametrize("accounting", list(Accounting))
def test_laplace_noise_has_parts_of_its_own(accounting: Accounting) -> None:
    """Under approx, whether noise is of Laplace or Gaussian doesn't depend on these."""
    delta = Fraction(0) if accounting is Accounting.PURE else Fraction(1, 10**6)
    for moves, amount in product(
        (HistogramSensitivity(1, 1), HistogramSensitivity(40, 1)), (Fraction(1, 2), Fraction(3))
    ):
        loss = PrivacyLoss(accounting, amount, delta)
        made, cost = mwem_calibration([moves], 80, loss, 8)
        is_laplace = isinstance(made.total, DiscreteLaplace)
        assert made.parts == (8 if is_laplace else 80)
        assert cost.amount <= amount
        said, _ = mwem_calibration([moves], 8, loss)
        assert isinstance(said.total, DiscreteLaplace) == is_laplace


@pytest.mark.parametrize("accounting", [Accounting.ZCDP, Accounting.PURE])
def test_sums_over_measured_margins_are_within_their_intervals(accounting: Accounting) -> None:
    """Seeds are fixed. Of some 95 % of them, or more: weights know more than a single margin."""
    chance = np.random.default_rng(11)
    moves, held, asked = HistogramSensitivity(2, 1), 0, 0
    made, _ = mwem_calibration([moves], 4, PrivacyLoss(accounting, Fraction(1, 5)))
    for run in range(25):
        cells = chance.poisson(np.outer([3, 40, 90], chance.integers(1, 20, 6))).astype(np.int64)
        found = fit_weights(cells, made, SeededRandomness(f"interval {run}"))
        factor = 1.96 if accounting is Accounting.ZCDP else 2.118
        (noise,) = decode_measured(encode_measured([found.measured]), cells.shape, factor)
        for single in ((), (0,), (1,), (0, 1)):
            if (variance := noise.variance(single)) is not None:
                other = tuple(axis for axis in (0, 1) if axis not in single)
                off = np.abs((found.estimates - cells).sum(axis=other))
                held += int((off <= factor * variance**0.5).sum())
                asked += off.size
    assert asked > 150
    assert held / asked >= 0.93


def test_an_error_is_that_of_all_measurements_that_tell_a_margin() -> None:
    def of(*sizes: int) -> Partition:
        return Partition((3, 5), sizes)

    noise = MeasuredNoise(((of(4, 8), 9.0), (of(1, 8), 6.0), (of(1, 2), 2.0), (of(2, 1), 1.0)), 2.0)
    assert noise.variance((0,)) == pytest.approx(1 / (1 / 6 + 1 / (3 * 2)))
    assert noise.variance(()) == pytest.approx(1 / (1 / 9 + 1 / 18 + 1 / 18 + 1 / 10))
    assert noise.variance((1,)) == 2
    assert noise.variance((0, 1)) is None


def test_a_partition_is_chosen_with_the_odds_of_its_score() -> None:
    """Exact odds e^(ε·score/2Δ). Hoeffding: each share strays by 0.07 with a chance below 1e-12."""
    moves, draws = HistogramSensitivity(2, 1), 3_000
    made, _ = mwem_calibration([moves], 2, PrivacyLoss(Accounting.PURE, Fraction(3)))
    cells, weights = np.array([[9, 2], [3, 6]]), np.full((2, 2), 5.0)
    among = partitions(cells.shape)
    off: dict[tuple[int, ...], int] = {(1, 1): 4 + 3 + 2 + 1, (1, 2): 1 + 1, (2, 1): 2 + 2}
    rate = float(made.choice(2).epsilon) / (2 * 2)
    scores = []
    for one in among:
        scale = float(made.noise(2, one.merged).variance) ** 0.5 * 0.5**0.5
        scores.append(off[one.sizes] - math.floor(one.boxes * scale))
    odds = np.exp(rate * np.array(scores))
    randomness = SeededRandomness("odds")
    chosen = [_choose(among, cells, weights, made, 2, randomness) for _ in range(draws)]
    shares = np.array([chosen.count(one) / draws for one in among])
    assert np.abs(shares - odds / odds.sum()).max() < 0.07


def test_no_rows_and_one_cell_have_a_synopsis() -> None:
    made, _ = mwem_calibration(
        [HistogramSensitivity(1, 1)], 8, PrivacyLoss(Accounting.PURE, Fraction(1, 10**9))
    )
    for shape in ((1,), (1, 1), (1, 3), (5,)):
        for rows in (0, 2**53):
            cells = np.full(shape, rows // math.prod(shape))
            found = fit_weights(cells, made, SeededRandomness("little"))
            assert np.isfinite(found.estimates).all()
            assert (found.estimates >= 0).all()
