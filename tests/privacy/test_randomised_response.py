"""Chi-squared tests are made at 1e-6: that is the false-failure probability of each."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf
from privacy.laws import exact, fit, renyi
from privacy.respondents import estimates, of_truth, respond
from privacy.seeded import SeededRandomness

from dpsql.privacy.mechanisms.randomized_response import RandomizedResponse
from dpsql.privacy.mechanisms.selection.permute_and_flip import rho_of_pure

FALSE_FAILURE = 1e-6
ONE = Fraction(1)


@pytest.mark.parametrize(
    ("categories", "p", "q"),
    [(2, 0.7310585786300049, 0.2689414213699951), (5, 0.40460967519168967, 0.14884758120207758)],
)
def test_probabilities_have_their_known_values(categories: int, p: float, q: float) -> None:
    mechanism = RandomizedResponse.of_epsilon(ONE, categories)
    assert float(mechanism.p) == pytest.approx(p, abs=1e-15)
    assert float(mechanism.q) == pytest.approx(q, abs=1e-15)


def test_two_coins_lose_ln_3() -> None:
    mechanism = of_truth(Fraction(3, 4))
    assert (mechanism.truth, mechanism.lie) == (3, 1)
    assert float(mechanism.epsilon) == pytest.approx(1.0986122886681098, abs=1e-15)
    assert mechanism.estimate(40, 100) == 30


@given(
    epsilon=st.fractions(Fraction(1, 10**5), 60),
    categories=st.one_of(st.integers(2, 40), st.just(2**20)),
)
def test_the_loss_is_never_above_epsilon_and_nearly_reaches_it(
    epsilon: Fraction, categories: int
) -> None:
    mechanism = RandomizedResponse.of_epsilon(epsilon, categories)
    assert mechanism.p + (categories - 1) * mechanism.q == 1
    assert mp.log(exact(mechanism.p / mechanism.q)) <= exact(epsilon)
    if epsilon <= 20 and categories <= 40:
        assert mechanism.epsilon >= epsilon * (1 - Fraction(1, 10**9))


@pytest.mark.parametrize("categories", [2, 3, 5])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(3)])
def test_what_is_said_fits_its_law(categories: int, epsilon: Fraction) -> None:
    mechanism = RandomizedResponse.of_epsilon(epsilon, categories)
    answer = categories - 1
    answers = np.full(200_000, answer)
    said = respond(mechanism, answers, SeededRandomness(f"said {categories} {epsilon}"))
    law = [exact(mechanism.q)] * categories
    law[answer] = exact(mechanism.p)
    assert fit(said, law) > FALSE_FAILURE
    less = RandomizedResponse.of_epsilon(epsilon / Fraction(11, 10), categories)
    law = [exact(less.q)] * categories
    law[answer] = exact(less.p)
    assert fit(said, law) < FALSE_FAILURE


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), ONE, Fraction(4)])
@pytest.mark.parametrize("categories", [2, 4])
def test_rho_covers_every_order(epsilon: Fraction, categories: int) -> None:
    mechanism = RandomizedResponse.of_epsilon(epsilon, categories)
    rho = exact(rho_of_pure(mechanism.epsilon))
    one, other = ([exact(mechanism.q)] * categories for _ in range(2))
    one[0] = other[1] = exact(mechanism.p)
    for order in ("1.001", "1.5", "2", "8", "64"):
        assert renyi(one, other, mpf(order)) <= mpf(order) * rho * (1 + mpf(10) ** -20)


def test_estimates_are_unbiased_and_vary_as_they_say() -> None:
    # 4,000 surveys of 500 people: six standard errors, false failure below 1e-8 each.
    mechanism = RandomizedResponse.of_epsilon(ONE, 5)
    answers = np.repeat([0, 1, 2, 3, 4], [100, 250, 50, 100, 0])
    said = respond(mechanism, np.tile(answers, (4000, 1)), SeededRandomness("surveys"))
    for answer, truly in enumerate([100, 250, 50, 100, 0]):
        counts = (said == answer).sum(axis=1)
        estimates = np.array([float(mechanism.estimate(int(count), 500)) for count in counts])
        variance = float(mechanism.variance(truly, 500))
        assert abs(estimates.mean() - truly) < 6 * math.sqrt(variance / 4000)
        assert abs(estimates.var() - variance) < 6 * variance * math.sqrt(2 / 4000) * 1.1


@given(counts=st.lists(st.integers(0, 1000), min_size=3, max_size=3))
def test_estimates_add_up_to_all_answers(counts: list[int]) -> None:
    mechanism = RandomizedResponse.of_epsilon(ONE, 3)
    assert sum(estimates(mechanism, counts)) == sum(counts)


def test_deviations_have_their_known_values() -> None:
    binary = RandomizedResponse.of_epsilon(ONE)
    assert math.sqrt(binary.variance(3000, 10_000)) == pytest.approx(95.95173756674717, abs=1e-9)
    several = RandomizedResponse.of_epsilon(ONE, 5)
    deviation = math.sqrt(several.variance(2000, 10_000)) / 10_000
    assert deviation == pytest.approx(0.01511935937910329, abs=1e-12)
    assert several.variance(-5, 100) == several.variance(0, 100)
    assert several.variance(105, 100) == several.variance(100, 100)


def test_opendp_charges_the_same() -> None:
    dp.enable_features("contrib")
    binary = dp.m.make_randomized_response_bool(0.75)
    assert float(of_truth(Fraction(3, 4)).epsilon) == pytest.approx(binary.map(1), rel=1e-12)
    several = dp.m.make_randomized_response(["a", "b", "c"], 0.5)
    assert float(of_truth(Fraction(1, 2), 3).epsilon) == pytest.approx(several.map(1), rel=1e-12)


@pytest.mark.parametrize(("truth", "lie", "categories"), [(1, 1, 2), (3, 0, 2), (2**62, 1, 2)])
def test_the_truth_is_told_more_often_but_not_always(truth: int, lie: int, categories: int) -> None:
    with pytest.raises(ValueError, match="truth"):
        RandomizedResponse(truth, lie, categories)


def test_there_are_two_answers() -> None:
    with pytest.raises(ValueError, match="two answers"):
        RandomizedResponse(3, 1, 1)


def test_epsilon_is_positive() -> None:
    with pytest.raises(ValueError, match="positive"):
        RandomizedResponse.of_epsilon(Fraction(0))
