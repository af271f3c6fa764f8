"""Plans of marginals: within their loss, and as little noise as the closed form has."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import pytest
from benchmarks.planned_error import EIGHT_CHARTS, FOUR, ONE_AND_TWO_WAY, SIX

from dpsql.privacy.allocation.marginal_allocation import (
    MarginalWorkload,
    WeightedMarginal,
    optimal_variance,
    split_residuals,
)
from dpsql.privacy.distance import NeighborDistance
from dpsql.privacy.mechanisms.residual_gaussian import Axes, ResidualGaussian, UnitMoves

ONE_ROW = UnitMoves(1, 1, is_signed=False)
RHO = Fraction(1, 20)


def cells(shape: tuple[int, ...], axes: Axes) -> int:
    return math.prod(shape[axis] for axis in axes)


def workload(
    shape: tuple[int, ...], marginals: list[Axes], moves: UnitMoves = ONE_ROW, power: float = 0.0
) -> MarginalWorkload:
    weighted = [WeightedMarginal(axes, cells(shape, axes) ** power) for axes in marginals]
    return MarginalWorkload(tuple(weighted), moves)


def variances(noise: ResidualGaussian, marginals: list[Axes]) -> list[float]:
    """Of a cell of each marginal."""
    shape = noise.shape
    boxes = ([1 if a in axes else n for a, n in enumerate(shape)] for axes in marginals)
    return [float(noise.variance(box) or math.nan) for box in boxes]


CASES = [(SIX, ONE_AND_TWO_WAY, 1.6), (FOUR, EIGHT_CHARTS, 1.25)]


@pytest.mark.parametrize("power", [0.0, -0.5])
@pytest.mark.parametrize(("shape", "marginals", "gain"), CASES)
def test_planned_as_one_charts_have_less_error_than_apart(
    shape: tuple[int, ...], marginals: list[Axes], gain: float, power: float
) -> None:
    (noise,) = split_residuals(
        shape, [workload(shape, marginals, power=power)], NeighborDistance(), RHO
    )
    assert noise.rho(ONE_ROW, NeighborDistance()) <= RHO
    # Apart, each of k charts has ρ/k: the variance of its cells is k/(2ρ).
    apart = len(marginals) / (2 * float(RHO))
    sizes = [cells(shape, axes) for axes in marginals]
    found = zip(variances(noise, marginals), sizes, strict=True)
    mean = sum(v * n for v, n in found) / sum(sizes)
    assert math.sqrt(apart / mean) >= gain


@pytest.mark.parametrize("power", [0.0, -0.5])
@pytest.mark.parametrize(("shape", "marginals", "gain"), CASES)
def test_a_plan_is_as_good_as_the_closed_form(
    shape: tuple[int, ...], marginals: list[Axes], gain: float, power: float
) -> None:
    del gain
    wanted = workload(shape, marginals, power=power)
    (noise,) = split_residuals(shape, [wanted], NeighborDistance(), RHO)
    weighted = sum(
        v * cells(shape, m.axes) * m.weight
        for v, m in zip(variances(noise, marginals), wanted.marginals, strict=True)
    )
    least = optimal_variance(shape, wanted, RHO)
    assert least <= weighted * (1 + 1e-9) <= 1.001 * least


def test_no_other_variances_of_two_residuals_do_better() -> None:
    """By trying: of the total and one column, shares of the loss on a fine grid."""
    shape, marginals = (5,), [(), (0,)]
    least = optimal_variance(shape, workload(shape, marginals), RHO)
    best = math.inf
    for percent in range(1, 100):
        share = percent / 100
        total = 1 / (2 * float(RHO) * share)
        residual = 0.8 / (2 * float(RHO) * (1 - share))
        cell = total / 25 + residual * 0.8
        best = min(best, total + 5 * cell)
    assert least <= best <= 1.001 * least


@pytest.mark.parametrize(
    "distance", [NeighborDistance(2), NeighborDistance(1, is_replacement=True)]
)
@pytest.mark.parametrize(
    "moves", [UnitMoves(4, 3, is_signed=False), UnitMoves(2, 7, is_signed=True)]
)
def test_units_in_several_cells_pay_for_all_of_them(
    moves: UnitMoves, distance: NeighborDistance
) -> None:
    wanted = [workload(SIX, ONE_AND_TWO_WAY, moves), workload(SIX, [(0,)], ONE_ROW)]
    noise = split_residuals(SIX, wanted, distance, RHO)
    spent = sum(one.rho(each.moves, distance) for one, each in zip(noise, wanted, strict=True))
    assert RHO * Fraction(999, 1000) <= spent <= RHO


def test_a_hundred_columns_are_planned_by_pairs() -> None:
    shape = tuple(2 + n % 20 for n in range(100))
    pairs: list[Axes] = list(combinations(range(100), 2))
    (noise,) = split_residuals(shape, [workload(shape, pairs)], NeighborDistance(), RHO)
    assert len(noise.residuals) == 1 + 100 + 4950
    assert noise.rho(ONE_ROW, NeighborDistance()) <= RHO


def test_axes_of_one_value_are_no_axes() -> None:
    (noise,) = split_residuals((1, 3), [workload((1, 3), [(0, 1)])], NeighborDistance(), RHO)
    assert [one.axes for one in noise.residuals] == [(), (1,)]
    assert noise.variance([1, 1]) is not None


@pytest.mark.parametrize(
    ("wanted", "rho"),
    [
        ([], RHO),
        ([workload((2,), [])], RHO),
        ([workload((2,), [(0,)])], Fraction(0)),
        ([workload((2,) * 18, [tuple(range(18))])], RHO),
    ],
)
def test_what_has_no_plan_is_refused(wanted: list[MarginalWorkload], rho: Fraction) -> None:
    with pytest.raises(ValueError, match=r"plan|marginal|residuals"):
        split_residuals((2,) * 18, wanted, NeighborDistance(), rho)
