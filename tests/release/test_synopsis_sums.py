"""Sums beside the rows of a synopsis: their loss, their law, and how near they come."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from privacy.seeded import SeededRandomness

from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.allocation.mwem_calibration import (
    TOTAL_SHARE,
    HistogramSensitivity,
    MwemParameters,
    mwem_calibration,
)
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.release.columns.integer_arrays import summable
from dpsql.release.synopsis.cell_partition import Partition
from dpsql.release.synopsis.margin_error import decode_measured, encode_measured
from dpsql.release.synopsis.mwem import fit_sums, fit_weights
from dpsql.release.synopsis.sum_fit import spread_sums
from dpsql.release.synopsis.weight_fit import Measured

ROWS, VALUES = HistogramSensitivity(2, 3, 5), HistogramSensitivity(2, 3 * 70, 5 * 70)


def calibrated(amount: Fraction) -> MwemParameters:
    made, _ = mwem_calibration([ROWS, VALUES], 4, PrivacyLoss(Accounting.ZCDP, amount))
    return made


@pytest.mark.parametrize("accounting", list(Accounting))
def test_each_histogram_has_an_equal_share_of_the_loss(accounting: Accounting) -> None:
    delta = Fraction(0) if accounting is Accounting.PURE else Fraction(1, 10**6)
    loss = PrivacyLoss(accounting, Fraction(1, 2), delta)
    both, cost = mwem_calibration([ROWS, VALUES, VALUES], 4, loss)
    assert cost.amount <= loss.amount
    assert cost.delta <= delta
    assert both.sums[0] == both.sums[1]
    assert both.sums[0].part == both.part
    assert both.sums[0].sensitivity == VALUES
    shares = [PrivacyLoss(accounting, Fraction(1, 6), delta)] * 2
    for moves, share, found in zip((ROWS, VALUES), shares, (both, both.sums[0]), strict=True):
        if accounting is not Accounting.APPROX:  # there (ε, δ) is converted once, for all of them
            alone, _ = mwem_calibration([moves], 4, share)
            assert found.total == alone.total
            assert found.part == alone.part


def test_the_noise_of_a_sum_has_the_law_that_was_paid_for() -> None:
    """Of one cell nothing is chosen, and its estimate is the noisy sum.

    The variance of 4,000 draws strays by a relative √(2/4000) = 0.022 in standard deviation, and by
    0.13, six of them, with a chance below 1e-8; their mean by 6/√4000 = 0.095 of a deviation.
    """
    made = calibrated(Fraction(1, 2)).sums[0]
    variance = float(VALUES.l1**2 / (2 * Fraction(1, 4) * TOTAL_SHARE))
    assert float(made.total.variance) == pytest.approx(variance)
    cells, weights = np.array([[1234]]), np.ones((1, 1))
    randomness = SeededRandomness("sums")
    drawn = [fit_sums(cells, made, weights, randomness).estimates.item() for _ in range(4_000)]
    off = (np.array(drawn) - 1234) / variance**0.5
    assert abs(off.mean()) < 0.095
    assert abs(off.var() - 1) < 0.13


def world(*, apart: bool) -> tuple[Integers, Integers]:
    """Rows of cells and the sums of their values, from 0 to 70, by what cell they are in or not."""
    chance = np.random.default_rng(5)
    rows = chance.poisson(np.outer([30, 300, 900], chance.integers(1, 9, 16))).astype(np.int64)
    means = np.outer([0.2, 1, 1.6], np.linspace(0.3, 1.7, 16)) if apart else np.ones(rows.shape)
    return rows, np.minimum(rows * 20 * means, rows * 70).astype(np.int64)


def test_sums_that_differ_from_cell_to_cell_are_found_and_others_stay_at_the_mean() -> None:
    """Seeds are fixed. By halves of the second key, on whose margin nothing was asked for."""
    for apart, amount in ((True, Fraction(1)), (False, Fraction(1, 200))):
        rows, sums = world(apart=apart)
        made, randomness = calibrated(amount), SeededRandomness("halves")
        weights = fit_weights(rows, made, randomness).estimates
        found = fit_sums(sums, made.sums[0], weights, randomness).estimates
        even = weights * (found.sum() / weights.sum())
        half = Partition(rows.shape, (1, 8))
        errors = [float(np.abs(half.sums(one - sums)).sum()) for one in (found, even)]
        assert errors[0] < (errors[1] / 4 if apart else errors[1] * 1.2)


def test_noise_that_shows_nothing_moves_no_cell() -> None:
    """Measured sums are as far from the mean's as their noise is, or nearer."""
    weights = np.array([[1.0, 2.0], [3.0, 4.0]])
    whole, columns = Partition((2, 2), (2, 2)), Partition((2, 2), (2, 1))
    near = [
        Measured(whole, np.array([[100.0]]), 9.0),
        Measured(columns, np.array([[42.0, 58.0]]), 9.0),
    ]
    assert np.allclose(spread_sums(weights, near, 50), 10 * weights)
    far = [near[0], Measured(columns, np.array([[20.0, 80.0]]), 9.0)]
    moved = spread_sums(weights, far, 50)
    assert 20 < moved[:, 0].sum() < 30
    # In proportion to the rows of a measured box, and a sum may be negative.
    assert moved[0, 0] / moved[1, 0] == pytest.approx(1 / 3)
    below = [Measured(whole, np.array([[-100.0]]), 9.0), *near[1:]]
    assert (spread_sums(weights, below[:1], 50) < 0).all()


def test_sums_over_measured_margins_are_within_their_intervals() -> None:
    """Seeds are fixed. Of some 95 % of them, or more, whether or not cells' means differ."""
    for apart, runs in ((True, 8), (False, 20)):
        rows, sums = world(apart=apart)
        made, held, asked = calibrated(Fraction(1, 20)), 0, 0
        for run in range(runs):
            randomness = SeededRandomness(f"interval {run}")
            weights = fit_weights(rows, made, randomness).estimates
            found = fit_sums(sums, made.sums[0], weights, randomness)
            text = encode_measured([found.measured, found.measured])
            _, noise = decode_measured(text, rows.shape, 1.96)
            for single in ((), (0,), (1,), (0, 1)):
                if (variance := noise.variance(single)) is not None:
                    other = tuple(axis for axis in (0, 1) if axis not in single)
                    off = np.abs((found.estimates - sums).sum(axis=other))
                    held += int((off <= 1.96 * variance**0.5).sum())
                    asked += off.size
        assert asked > 40
        assert held / asked >= 0.93


@pytest.mark.parametrize("size", [2**40, 2**62, 2**90])
def test_sums_of_any_size_are_exact_and_fail_nothing(size: int) -> None:
    """Sums of 128 bits, whose partitions' sums pass 64 bits, and scores that pass what is taken."""
    cells = np.array([[size, -size, 0], [size, size, -size]], dtype=object)
    grid = summable(cells.astype(np.int64) if size < 2**63 else cells)
    assert int(Partition((2, 3), (2, 4)).sums(grid).item()) == size
    moves = HistogramSensitivity(1, size)
    made, _ = mwem_calibration([ROWS, moves], 3, PrivacyLoss(Accounting.PURE, Fraction(50)))
    for of in (made.sums[0], made):  # noise that fits the sums, and far less than they are
        found = fit_sums(grid, of, np.ones((2, 3)), SeededRandomness("large")).estimates
        assert np.isfinite(found).all()
        assert abs(found.sum() - size) < size
    assert summable(np.zeros(3, np.int64)).dtype == np.int64
