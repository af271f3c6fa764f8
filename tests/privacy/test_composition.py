"""Composition by privacy loss distributions: never below the truth, and as dp-accounting says."""

from __future__ import annotations

from fractions import Fraction

import pytest
from dp_accounting.pld import privacy_loss_distribution as pld

from dpsql.privacy.accounting.pld_composition import (
    MIN_DELTA,
    WIDEST,
    PureLoss,
    ShiftedNoise,
    composed_epsilon,
)
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace

DELTA = Fraction(1, 10**6)
COUNT = ShiftedNoise(DiscreteLaplace(Fraction(10)), 1)


@pytest.mark.parametrize(("times", "expected"), [(10, 0.9994), (100, 4.775), (1000, 19.35)])
def test_equal_counts_cost_what_dp_accounting_says(times: int, expected: float) -> None:
    found = composed_epsilon({COUNT: times}, DELTA)
    law = pld.from_discrete_laplace_mechanism(0.1, use_connect_dots=True)
    theirs = law.self_compose(times).get_epsilon_for_delta(1e-6)
    assert theirs < found < theirs * 1.001
    assert float(found) == pytest.approx(expected, rel=1e-3)


def test_a_pure_choice_costs_as_much_as_a_count_that_moves_by_one() -> None:
    assert composed_epsilon({PureLoss(Fraction(1, 10)): 100}, DELTA) == composed_epsilon(
        {COUNT: 100}, DELTA
    )


def test_a_sum_costs_less_than_any_choice_of_its_epsilon() -> None:
    total = composed_epsilon({ShiftedNoise(DiscreteLaplace(Fraction(1000)), 100): 100}, DELTA)
    assert float(total) == pytest.approx(4.693, rel=1e-3)


def test_gaussian_counts_cost_what_they_do_exactly() -> None:
    found = composed_epsilon({ShiftedNoise(DiscreteGaussian(Fraction(100)), 1): 100}, DELTA)
    assert 4.8866 < found < 4.8866 * 1.002


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(7, 2), Fraction(10**12, 7)])
def test_one_measurement_is_bounded_by_its_own_epsilon(scale: Fraction) -> None:
    for move in (1, 3, WIDEST, WIDEST + 1):
        if move / scale < 20:
            epsilon = composed_epsilon({ShiftedNoise(DiscreteLaplace(scale), move): 1}, DELTA)
            assert epsilon <= move / scale + Fraction(3, 10**6) + Fraction(1, 1000) * move / scale


def test_one_measurement_is_no_cheaper_than_its_law_says() -> None:
    # P(loss = ε) = 1/(1 + e^-ε) for a move of 1: δ(e) = (1 - e^(e - ε))/(1 + e^-ε), turned round.
    for epsilon in (Fraction(1, 1000), Fraction(1, 10), Fraction(2)):
        law = 1 / (1 + 2.718281828459045 ** -float(epsilon))
        delta = Fraction(1, 10**4)
        found = float(composed_epsilon({PureLoss(epsilon): 1}, delta))
        assert law * (1 - 2.718281828459045 ** (found - float(epsilon))) <= float(delta)


def test_different_measurements_are_composed() -> None:
    parts: dict[ShiftedNoise | PureLoss, int] = {
        COUNT: 50,
        PureLoss(Fraction(1, 5)): 5,
        ShiftedNoise(DiscreteGaussian(Fraction(400)), 2): 10,
    }
    found = composed_epsilon(parts, DELTA)
    assert composed_epsilon({COUNT: 50}, DELTA) < found < Fraction(5 + 1) + 3


def test_what_can_not_be_composed_is_an_error() -> None:
    with pytest.raises(ValueError, match="nothing to compose"):
        composed_epsilon({}, DELTA)
    with pytest.raises(ValueError, match="too small a delta"):
        composed_epsilon({COUNT: 1}, MIN_DELTA / 2)
    with pytest.raises(ValueError, match="too wide"):
        composed_epsilon({ShiftedNoise(DiscreteGaussian(Fraction(WIDEST**2 + 1)), 1): 1}, DELTA)
