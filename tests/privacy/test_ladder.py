"""Ladders: their rungs, what they refuse, and a top that isn't above the highest unit."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from dpsql.privacy.ladder.ladder import TOP_FAILS, Ladder, margin
from dpsql.privacy.ladder.rungs import half_octaves
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.noise.noise import IndependentNoise
from dpsql.privacy.mechanisms.noise.rounded_gaussian import RoundedGaussian

RUNGS = half_octaves(Fraction(1), 40)
LAPLACE = DiscreteLaplace(Fraction(2))
NOISES: list[IndependentNoise] = [
    LAPLACE,
    DiscreteLaplace(Fraction(1, 5)),
    DiscreteLaplace(Fraction(30)),
    DiscreteGaussian(Fraction(9)),
    DiscreteGaussian(Fraction(1, 4)),
]


def ladder(counts: dict[int, int], noise: IndependentNoise = LAPLACE) -> Ladder:
    """On `RUNGS`, with these counts and no others."""
    return Ladder(tuple(counts.get(rung, 0) for rung in range(len(RUNGS))), RUNGS, noise)


def law(noise: IndependentNoise) -> NDArray[np.float64]:
    """Of one draw, on the integers about 0 that floats give a probability to."""
    reach = 40 * isqrt(int(noise.variance) + 1) + 40
    places = np.arange(-reach, reach + 1)
    match noise:
        case DiscreteLaplace(scale=scale):
            weights = np.exp(-np.abs(places) / float(scale))
        case DiscreteGaussian(variance=variance):
            weights = np.exp(-(places**2) / (2 * float(variance)))
        case RoundedGaussian(normal_variance=variance):
            edges = np.arange(-reach, reach + 2) - 0.5
            weights = np.diff(stats.norm.cdf(edges, scale=float(variance) ** 0.5))
    return np.asarray(weights / weights.sum())


def test_rungs_are_the_grids_multiples_that_are_nearest_to_half_octaves() -> None:
    step = Fraction(1, 4)
    multiples = [0, 1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64]
    assert half_octaves(step, 13) == tuple(step * each for each in multiples)


@pytest.mark.parametrize(("step", "count"), [(Fraction(0), 5), (Fraction(-1), 5), (Fraction(1), 1)])
def test_no_ladder_has_a_step_of_nothing_or_a_single_rung(step: Fraction, count: int) -> None:
    with pytest.raises(ValueError, match="two rungs at least"):
        half_octaves(step, count)


@pytest.mark.parametrize(
    ("counts", "rungs", "step", "told"),
    [
        ((1, 2), (Fraction(0),), 0, "a count for each"),
        ((1,), (Fraction(0),), 0, "two at least"),
        ((1, 2), (Fraction(1), Fraction(2)), 0, "begin at 0"),
        ((1, 2, 3), (Fraction(0), Fraction(2), Fraction(2)), 0, "increase strictly"),
        ((1, 2), (Fraction(0), Fraction(2**901)), 0, "between"),
        ((1, 2), (Fraction(0), Fraction(1, 2**901)), 0, "between"),
        ((1, 2), (Fraction(0), Fraction(1)), 2, "step"),
        ((1, 2), (Fraction(0), Fraction(1)), -1, "step"),
    ],
)
def test_what_is_no_ladder_is_refused(
    counts: tuple[int, ...], rungs: tuple[Fraction, ...], step: int, told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        Ladder(counts, rungs, LAPLACE, Fraction(step))


def test_noise_beyond_floats_is_refused() -> None:
    with pytest.raises(ValueError, match="variance"):
        ladder({}, DiscreteLaplace(Fraction(2**101)))


@pytest.mark.parametrize("noise", NOISES, ids=str)
@pytest.mark.parametrize("terms", [1, 2, 4, 8])
@pytest.mark.parametrize("probability", [1e-3, 1e-6])
def test_sums_of_noise_reach_their_margin_as_rarely_as_is_said(
    noise: IndependentNoise, terms: int, probability: float
) -> None:
    of_sum = np.array([1.0])
    for _ in range(terms):
        of_sum = np.convolve(of_sum, law(noise))
    places = np.arange(of_sum.size) - of_sum.size // 2
    reached = of_sum[places >= margin(noise, terms, probability)].sum()
    assert reached <= probability
    # A margin isn't wasteful either: at half of it the probability is above.
    assert of_sum[places >= margin(noise, terms, probability) / 2 - 1].sum() > probability


def test_without_units_there_is_no_top() -> None:
    assert ladder({}).top() == 0
    assert ladder(dict.fromkeys(range(40), -(10**9))).top() == 0


def test_the_top_is_the_highest_rung_with_more_than_noise() -> None:
    assert ladder({7: 1000, 20: 60, 22: 3, 31: -50}).top() == 20


def test_a_few_units_in_each_of_several_rungs_are_seen_together() -> None:
    few = dict.fromkeys(range(20, 28), 16)
    assert max(few.values()) < margin(LAPLACE, 1, TOP_FAILS / 200)
    assert 20 <= ladder(few).top() <= 27


@given(st.lists(st.integers(-(10**40), 10**40), min_size=40, max_size=40))
def test_any_integers_have_a_top(counts: list[int]) -> None:
    assert 0 <= Ladder(tuple(counts), RUNGS, LAPLACE).top() < 40


def test_a_top_is_hardly_ever_above_all_units() -> None:
    # At TOP_FAILS each, more than 7 of 5,000 are above with probability 6e-8; the seed is fixed.
    random = np.random.default_rng(1)
    p = 1 - np.exp(-1 / 2)
    noise = random.geometric(p, (5_000, 40)) - random.geometric(p, (5_000, 40))
    noise[:, 9] += 500
    tops = [Ladder(tuple(row), RUNGS, LAPLACE).top() for row in noise.tolist()]
    assert min(tops) == 9
    assert sum(top > 9 for top in tops) <= 7
