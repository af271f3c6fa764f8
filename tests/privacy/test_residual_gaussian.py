"""Noise on the residuals of marginals: what it loses, by brute force, and its exact law."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import chain, combinations, product

import numpy as np
import pytest
from neighbor_search.share import values_in_turn
from privacy.seeded import SeededRandomness

from dpsql.privacy.distance import NeighborDistance
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.rounded_gaussian import RoundedGaussian
from dpsql.privacy.mechanisms.residual_gaussian import (
    Axes,
    Residual,
    ResidualGaussian,
    UnitMoves,
    scaled_residual,
)
from dpsql.structs import replace

ONE = NeighborDistance()
REPLACED = NeighborDistance(1, is_replacement=True)


def every(axes: int) -> list[Axes]:
    """All sets of so many axes."""
    return list(chain.from_iterable(combinations(range(axes), n) for n in range(axes + 1)))


def measured(shape: tuple[int, ...], variances: dict[Axes, Fraction]) -> ResidualGaussian:
    return ResidualGaussian(shape, tuple(Residual(a, v) for a, v in variances.items()))


def loss(noise: ResidualGaussian, moved: np.ndarray) -> Fraction:
    """What it loses on two databases whose cells differ by `moved`, integer by integer."""
    lost = Fraction(0)
    for one in noise.residuals:
        law, squares = noise.noise(one), int((scaled_residual(moved, one.axes) ** 2).sum())
        match law:
            case DiscreteGaussian():
                lost += law.rho(squares)
            case RoundedGaussian():
                lost += law.mu_squared(squares)
    return lost


PLANS = [
    measured((3,), {(): Fraction(2), (0,): Fraction(5)}),
    measured(
        (2, 3), {(): Fraction(9), (0,): Fraction(1, 2), (1,): Fraction(4), (0, 1): Fraction(7)}
    ),
    measured((2, 3), {(1,): Fraction(3)}),
    measured((2, 1, 2), {(0,): Fraction(1), (2,): Fraction(1, 3), (0, 2): Fraction(2)}),
    measured((4, 2), {(0, 1): Fraction(1, 8)}),
]


def units(size: int, cells: int, per_cell: int, *, signed: bool) -> list[np.ndarray]:
    """Every way in which a unit may move so many cells by as much or less."""
    values = range(-per_cell if signed else 0, per_cell + 1)
    return [
        np.array(moved, dtype=np.int64)
        for moved in product(values, repeat=size)
        if sum(map(abs, moved)) <= cells * per_cell and sum(map(bool, moved)) <= cells
    ]


@pytest.mark.parametrize("noise", PLANS, ids=lambda noise: f"{noise.shape}")
@pytest.mark.parametrize(
    ("cells", "per_cell", "signed"), [(1, 1, False), (1, 2, True), (2, 1, False), (3, 1, True)]
)
def test_no_unit_loses_more(
    noise: ResidualGaussian, cells: int, per_cell: int, *, signed: bool
) -> None:
    moves = UnitMoves(cells, per_cell, signed)
    size = math.prod(noise.shape)
    worst = max(
        loss(noise, moved.reshape(noise.shape))
        for moved in units(size, cells, per_cell, signed=signed)
    )
    assert worst <= noise.rho(moves, ONE)
    if cells == 1:
        assert worst == noise.rho(moves, ONE)
        rounded = replace(noise, is_rounded=True)
        assert 2 * worst == max(
            loss(rounded, moved.reshape(noise.shape))
            for moved in units(size, cells, per_cell, signed=signed)
        )


@pytest.mark.parametrize("noise", PLANS, ids=lambda noise: f"{noise.shape}")
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("cells", [1, 2])
def test_no_unit_in_the_place_of_another_loses_more(
    noise: ResidualGaussian, cells: int, *, signed: bool
) -> None:
    one = units(math.prod(noise.shape), cells, 1, signed=signed)
    worst = max(loss(noise, (u - v).reshape(noise.shape)) for u in one for v in one)
    assert worst <= noise.rho(UnitMoves(cells, 1, signed), REPLACED)


def test_a_row_that_changes_its_cell_loses_what_that_moves() -> None:
    # Of one axis, two cells' difference is a move of the residual alone: ‖e - f‖² = 2.
    noise = measured((3,), {(): Fraction(2), (0,): Fraction(5)})
    moved = loss(noise, np.array([1, -1, 0], dtype=np.int64))
    assert moved == Fraction(2, 2 * 5)
    assert moved <= noise.rho(UnitMoves(1, 1, is_signed=False), REPLACED)


def test_a_row_of_one_column_loses_less_than_of_its_histogram() -> None:
    # (n - 1)/n of what the histogram alone loses at the same variance, and the total's part.
    noise = measured((4,), {(): Fraction(8), (0,): Fraction(8)})
    assert noise.rho(UnitMoves(1, 1, is_signed=False), ONE) == (1 + Fraction(3, 4)) / 16


@pytest.mark.parametrize("distance", [ONE, REPLACED])
def test_three_units_lose_nine_times_as_much(distance: NeighborDistance) -> None:
    noise, moves = PLANS[1], UnitMoves(2, 3, is_signed=False)
    three = NeighborDistance(3, distance.is_replacement)
    assert noise.rho(moves, three) == 9 * noise.rho(moves, distance)


def test_many_axes_have_a_bound_that_holds() -> None:
    shape = (2,) * 9
    pairs = {axes: Fraction(1 + len(axes)) for n in range(3) for axes in combinations(range(9), n)}
    noise, moves = measured(shape, pairs), UnitMoves(2, 1, is_signed=False)
    moved = np.zeros(shape, dtype=np.int64)
    moved[0, 0, 0, 0, 0, 0, 0, 0, 0] = 1
    for other in ((1,) + (0,) * 8, (1,) * 9, (0,) * 8 + (1,)):
        both = moved.copy()
        both[other] = 1
        assert loss(noise, both) <= noise.rho(moves, ONE)


def test_without_noise_every_cell_is_what_it_was() -> None:
    shape = (3, 2, 4)
    cells = np.arange(24, dtype=np.int64).reshape(shape) ** 2
    noise = measured(shape, dict.fromkeys(every(3), Fraction(1, 10**9)))
    # Below a variance of 1/100, a discrete Gaussian is 0 but for a chance of e^-50.
    found = noise.release(cells, SeededRandomness("no noise"))
    assert np.allclose(found, cells, rtol=0, atol=1e-9)


def test_what_isnt_measured_is_spread_evenly() -> None:
    cells = np.array([[10, 0], [0, 10]], dtype=np.int64)
    noise = measured((2, 2), dict.fromkeys([(), (0,), (1,)], Fraction(1, 10**9)))
    found = noise.release(cells, SeededRandomness("even"))
    assert np.allclose(found, 5)
    assert noise.variance([1, 1]) is None
    assert noise.variance([1, 2]) is not None


def test_integers_beyond_64_bits_are_exact() -> None:
    cells = np.array([2**61, -(2**61), 2**61 - 1], dtype=np.int64)
    assert scaled_residual(cells, (0,)).tolist() == [
        3 * int(x) - sum(map(int, cells)) for x in cells
    ]
    noise = measured((3,), {(): Fraction(1), (0,): Fraction(1)})
    assert np.allclose(noise.release(cells, SeededRandomness("large")), cells, rtol=1e-12)


def test_parents_are_the_sums_of_their_children() -> None:
    shape, draws = (3, 4, 2), SeededRandomness("parents")
    cells = np.arange(24, dtype=np.int64).reshape(shape)
    found = measured(shape, dict.fromkeys(every(3), Fraction(50))).release(cells, draws)
    assert np.allclose(found.sum(axis=1).sum(axis=1), found.sum(axis=(1, 2)), atol=1e-9)


@pytest.mark.parametrize("taken", values_in_turn([(1, 1), (1, 3), (2, 1), (2, 3), (1, 2)], 5))
@pytest.mark.parametrize("is_rounded", [False, True])
def test_the_variance_of_a_sum_over_a_box_is_as_told(
    taken: tuple[int, int], *, is_rounded: bool
) -> None:
    shape, variances = (2, 3), {(): 4, (0,): 9, (1,): 1, (0, 1): 25}
    noise = measured(shape, {axes: Fraction(v) for axes, v in variances.items()})
    noise = replace(noise, is_rounded=is_rounded)
    told = noise.variance(taken)
    assert told is not None
    draws, cells = SeededRandomness(f"box {taken}"), np.zeros(shape, dtype=np.int64)
    sums = [noise.release(cells, draws)[: taken[0], : taken[1]].sum() for _ in range(2000)]
    # A sample variance of 2,000 draws is off by 6·√(2/2000) = 19 % once in 10^8.
    assert np.mean(np.square(sums)) == pytest.approx(float(told), rel=0.2)


def test_the_law_of_a_difference_is_that_of_discrete_gaussians() -> None:
    # Of two cells, the residual is (d, -d)/2 with d = (2·P·x + G)'s difference: by convolution.
    variance = Fraction(1, 2)
    noise = measured((2,), {(0,): variance})
    density = {k: math.exp(-k * k / (2 * 4 * float(variance))) for k in range(-40, 41)}
    whole = sum(density.values())
    law: dict[int, float] = {}
    for one, p in density.items():
        for other, q in density.items():
            law[one - other] = law.get(one - other, 0.0) + p * q / whole**2
    draws, size = SeededRandomness("difference"), 4000
    cells = np.array([3, 1], dtype=np.int64)
    seen = [round(4 * float(noise.release(cells, draws)[0])) for _ in range(size)]
    # Twice the first cell is d/2 with d = 2·(3 - 1) + G₀ - G₁.
    for value in range(-8, 9):
        expected = law[value]
        share = sum(s == 4 + value for s in seen) / size
        # Seven deviations: once in 10^11 for each.
        assert abs(share - expected) <= 7 * math.sqrt(expected / size)


def test_its_renyi_divergence_is_what_it_loses() -> None:
    """On one axis of two values, by summing both laws: α times ρ, for α = 2 and 3."""
    noise = measured((2,), {(): Fraction(2), (0,): Fraction(3, 2)})
    moved = np.array([1, 0], dtype=np.int64)
    found = loss(noise, moved)
    for order in (2, 3):
        divergence = 0.0
        for one in noise.residuals:
            variance = float(noise.noise(one).variance)
            for move in scaled_residual(moved, one.axes).ravel().tolist():
                line = np.arange(-30, 31)
                p = np.exp(-((line - move) ** 2) / (2 * variance))
                q = np.exp(-(line**2) / (2 * variance))
                p, q = p / p.sum(), q / q.sum()
                divergence += math.log(float((p**order * q ** (1.0 - order)).sum())) / (order - 1)
        assert divergence == pytest.approx(order * float(found), rel=1e-9)


@pytest.mark.parametrize(
    ("shape", "axes"), [((2, 2), (1, 0)), ((2, 2), (0, 0)), ((2, 1), (1,)), ((2,), (1,))]
)
def test_axes_are_ascending_and_of_two_values(shape: tuple[int, ...], axes: Axes) -> None:
    with pytest.raises(ValueError, match="axes"):
        measured(shape, {axes: Fraction(1)})
