"""Bounds of margins that no round of a synopsis measured: their probabilities, and their reach."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from privacy.seeded import SeededRandomness

from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.allocation.mwem_calibration import (
    HistogramSensitivity,
    MwemParameters,
    mwem_calibration,
)
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.noise.noise import IndependentNoise
from dpsql.privacy.mechanisms.noise.rounded_gaussian import RoundedGaussian
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.release.synopsis.cell_partition import Partition, partitions
from dpsql.release.synopsis.margin_bound import (
    MarginBound,
    margin_bounds,
    noise_of_sum,
)
from dpsql.release.synopsis.margin_error import MeasuredNoise, decode_measured, encode_measured
from dpsql.release.synopsis.mwem import Round, Synopsis, fit_sums, fit_weights, penalty
from dpsql.release.synopsis.weight_fit import Estimates, Measured

ROWS = HistogramSensitivity(2, 1)
VALUES = HistogramSensitivity(2, 50)


def calibrated(accounting: Accounting, amount: Fraction) -> MwemParameters:
    made, _ = mwem_calibration([ROWS, VALUES], 12, PrivacyLoss(accounting, amount), 4)
    return made


def probabilities(noise: IndependentNoise) -> NDArray[np.float64]:
    """Those of the integers from -200 to 200, by the law's tail."""
    tails = [
        1 - float(noise.tail(1 - k)) if k < 1 else float(noise.tail(k)) for k in range(-200, 202)
    ]
    return -np.diff(tails)


@pytest.mark.parametrize(
    "noise",
    [DiscreteGaussian(Fraction(9)), RoundedGaussian(Fraction(9)), DiscreteLaplace(Fraction(2))],
    ids=repr,
)
def test_a_sum_of_noise_passes_its_bound_as_seldom_as_is_said(noise: IndependentNoise) -> None:
    """By its exact law, of one draw and of several, whatever their signs: all laws are even."""
    one, law = probabilities(noise), np.ones(1)
    for draws in range(1, 9):
        law = np.convolve(law, one)
        values = np.arange(law.size) - law.size // 2
        for failure in (0.3, 0.05, 1e-3, 1e-6):
            most = noise_of_sum(noise, draws, failure)
            assert law[values > most].sum() <= failure
            assert most <= 6 * (draws * float(noise.variance)) ** 0.5 * -np.log10(failure / 10)


def off(synopsis: Synopsis[Estimates], cells: Integers, axes: Iterable[int]) -> NDArray[np.float64]:
    others = tuple({*range(cells.ndim)} - {*axes})
    return np.asarray((synopsis.estimates - cells).sum(axis=others))


def is_passed(
    synopsis: Synopsis[Estimates], cells: Integers, bound: MarginBound, chance: np.random.Generator
) -> bool:
    """Whether some count of a margin passes its bound, or some sum of its counts, the worst too."""
    errors = off(synopsis, cells, bound.axes).ravel()
    sums = [abs(errors[chance.random(errors.size) < 0.5].sum()) for _ in range(20)]
    worst = max(errors[errors > 0].sum(), -errors[errors < 0].sum(), *sums)
    return bool(abs(errors).max() > bound.of_count or worst > (bound.of_sum or np.inf))


@pytest.mark.parametrize("accounting", [Accounting.ZCDP, Accounting.GDP, Accounting.PURE])
def test_no_margin_is_off_by_more_than_its_bound(accounting: Accounting) -> None:
    """Seeds are fixed. Of rows and of sums, with 95 %: of 16 synopses two at most aren't.

    If each failed with 5 %, three or more of 32 would with 21 %: they fail far less often.
    """
    chance, failed, tight = np.random.default_rng(4), 0, 0
    made, unordered = calibrated(accounting, Fraction(1)), (0, 1)
    among = partitions((3, 4, 6), unordered)
    for run in range(16):
        means = np.outer(chance.integers(1, 60, 12), chance.integers(1, 9, 6)).reshape(3, 4, 6)
        rows = chance.poisson(means).astype(np.int64)
        sums = (rows * chance.integers(-25, 25, rows.shape)).astype(np.int64)
        randomness = SeededRandomness(f"bounds {run}")
        counted = fit_weights(rows, made, randomness, unordered)
        summed = fit_sums(sums, made.sums[0], counted.estimates, randomness, unordered)
        for cells, found, of in ((rows, counted, made), (sums, summed, made.sums[0])):
            bounds = margin_bounds(found, among, of, 0.05, is_count=cells is rows)
            assert len(bounds) == 2**3 - 1
            failed += any(is_passed(found, cells, one, chance) for one in bounds)
            tight += sum(one.of_count < 2 * cells.sum() for one in bounds if cells is rows)
    assert failed <= 2
    assert tight > 16


def test_what_moved_after_a_round_and_what_it_left_out_are_in_the_bound() -> None:
    """By hand: a round that chose the first key, after which the second one's counts moved."""
    among, made = partitions((2, 2), (0, 1)), calibrated(Accounting.PURE, Fraction(3))
    first, second = (next(p for p in among if p.single_axes == axes) for axes in ((0,), (1,)))
    before = np.full((2, 2), 1000.0)
    measured = Measured(first, np.array([[2100.0], [1900.0]]), 1.0)
    whole = Measured(Partition((2, 2), (2, 2)), np.array([[4000.0]]), 1.0)
    after = np.array([[1500.0, 600.0], [1500.0, 400.0]])
    found = Synopsis(after, (whole, measured), (Round(2, before, measured),))
    bounds = {
        one.axes: one.of_sum for one in margin_bounds(found, among, made, 0.05, is_count=False)
    }
    share, noise = 0.05 * 0.9 * (2 / 4) / 2, made.noise(2, first.merged)
    beyond = 200 + noise_of_sum(noise, 2, share) - penalty(made, first, 2)
    beyond += np.log(3 / share) / float(made.choice(2).rate)
    total = noise_of_sum(made.total, 1, 0.05 * 0.1 / 2)
    apart = beyond + penalty(made, second, 2) + 2000
    assert bounds[1,] == pytest.approx(min(apart, (apart + total) / 2), abs=3)
    assert (bounds[0,] or 0) < (bounds[1,] or 0)


def test_counts_are_off_by_no_more_than_the_larger_of_them_and_their_estimate() -> None:
    """Where the loss is next to nothing, choices say nothing."""
    made = calibrated(Accounting.ZCDP, Fraction(1, 10**6))
    cells, among = np.full((4, 5), 10), partitions((4, 5), (0, 1))
    found = fit_weights(cells, made, SeededRandomness("nothing"), (0, 1))
    total = noise_of_sum(made.total, 1, 0.05 * 0.1 / 2)
    apart = abs(found.estimates.sum() - found.measured[0].counts.sum())
    for one in margin_bounds(found, among, made, 0.05, is_count=True):
        assert one.of_count <= found.estimates.sum() + apart + total + 2
    (unbounded,) = (margin_bounds(found, among, made, 0.05, is_count=False)[:1],)
    assert unbounded[0].of_count > total


def test_a_bound_of_sums_is_of_all_coarser_margins_and_that_of_a_count_is_not() -> None:
    """A count by two keys is part of one by either; of 40 rows of a ward 5 are of each month.

    That a ward's count of a month is off by 5 at most says nothing of a ward.
    """
    shape = (3, 1, 5)
    whole = (Partition(shape, shape), 4.0)
    own, finer = MarginBound((0,), 90, 95), MarginBound((0, 2), 5, 70)
    noise = MeasuredNoise((whole,), 2.0, (own, finer))
    assert noise.bound((0,)) == noise.bound((0, 1)) == noise.bound((2,)) == 70
    assert noise.bound((0, 2)) == 5
    assert noise.bound((2,), several=(0,)) == noise.bound((), several=(0, 2)) == 70
    assert noise.bound((0, 2), several=(1,)) == 5
    unknown = MeasuredNoise((whole,), 2.0, (own, MarginBound((0, 2), 5, None)))
    assert (unknown.bound((0,)), unknown.bound((2,)), unknown.bound((0,), (2,))) == (90, None, None)
    assert MeasuredNoise((whole,), 2.0).bound((0,)) is None
    one = Measured(whole[0], np.zeros((1, 1, 1)), 4.0)
    text = encode_measured([[one], [one]], [noise.bounds, ()])
    assert decode_measured(text, shape, 2.0)[0].bounds == noise.bounds
    assert decode_measured("[[[3, 1, 5], 4.0]]", shape, 2.0)[0].bounds == ()


@pytest.mark.parametrize("size", [0, 2**53, 2**90])
def test_bounds_of_no_rows_and_of_huge_sums_are_numbers(size: int) -> None:
    """What doubles are rounded by is in them, where sums are far larger than noise."""
    made = calibrated(Accounting.PURE, Fraction(50))
    for shape in ((1,), (1, 3), (2, 3)):
        cells = np.full(shape, size, dtype=object if size > 2**53 else np.int64)
        cells.flat[0] = -size
        found = fit_sums(cells, made.sums[0], np.ones(shape), SeededRandomness("huge"))
        among = partitions(shape)
        for one in margin_bounds(found, among, made.sums[0], 0.05, is_count=False):
            errors = off(found, cells, one.axes).astype(float)
            assert abs(errors).max() <= one.of_count
            assert one.of_count <= 3_000 + 10 * size
