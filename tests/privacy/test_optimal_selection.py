from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from privacy.laws import exact
from privacy.optimal_selection import OptimalSelection

from dpsql.privacy.mechanisms import DiscreteLaplace
from dpsql.privacy.partition_selection import threshold

UNIT = Fraction(1)


@pytest.mark.parametrize(
    ("groups", "delta", "probabilities"),
    [
        (
            1,
            "1e-5",
            {
                0: 0,
                1: 1e-05,
                2: 3.7182818284590455e-05,
                5: 0.0008579102488372161,
                10: 0.12818308050524602,
                15: 0.9880721172346895,
                20: 0.9999254111119027,
            },
        ),
        (
            1,
            "1e-6",
            {1: 1e-06, 5: 8.579102488372157e-05, 10: 0.012818308050524595, 20: 0.9992566750275028},
        ),
        (4, "1e-6", {1: 2.5e-07, 10: 9.842863792888598e-06, 53: 0.5000160255437864}),
    ],
)
def test_probabilities_have_their_known_values(
    groups: int, delta: str, probabilities: dict[int, float]
) -> None:
    selection = OptimalSelection.of_groups(UNIT, Fraction(delta), groups)
    for units, probability in probabilities.items():
        assert float(selection.probability(units)) == pytest.approx(probability, abs=1e-12)


@pytest.mark.parametrize(("delta", "units"), [("1e-5", 23), ("1e-6", 28)])
def test_a_group_is_certain_from_its_known_size(delta: str, units: int) -> None:
    selection = OptimalSelection(UNIT, Fraction(delta))
    assert selection.certain_from == units
    assert selection.probability(units) == 1
    assert selection.probability(units - 1) < 1


@settings(max_examples=25)
@given(
    epsilon=st.fractions(Fraction(1, 10), 5, max_denominator=100),
    delta=st.sampled_from([Fraction(1, 10**power) for power in (2, 6, 12, 20)]),
)
def test_one_unit_more_stays_within_epsilon_and_delta(epsilon: Fraction, delta: Fraction) -> None:
    # All four inequalities of (ε, δ)-DP, of the very numbers that rules are compared with.
    selection = OptimalSelection(epsilon, delta)
    grown, left = mp.exp(exact(epsilon)), exact(delta)
    assert selection.probability(0) == 0
    for units in range(selection.certain_from + 1):
        p, more = (exact(selection.probability(n)) for n in (units, units + 1))
        assert p <= more <= 1
        assert more <= grown * p + left
        assert 1 - p <= grown * (1 - more) + left
        best = min(grown * p + left, 1 - (1 - p - left) / grown, mpf(1))
        assert more >= best - mpf(2) ** -120


@pytest.mark.parametrize("groups", [1, 3])
def test_no_threshold_keeps_more(groups: int) -> None:
    delta = Fraction(1, 10**6)
    selection = OptimalSelection.of_groups(UNIT, delta, groups)
    noise = DiscreteLaplace(Fraction(groups))
    tau = threshold(noise, groups=groups, per_group=1, delta=delta)
    for units in range(1, tau):
        assert float(selection.probability(units)) >= float(noise.tail(tau - units)) * (1 - 1e-6)


@pytest.mark.parametrize(("epsilon", "delta"), [(0, "0.1"), (1, "0"), (1, "1"), (-1, "0.1")])
def test_epsilon_and_delta_are_positive(epsilon: int, delta: str) -> None:
    with pytest.raises(ValueError, match="positive"):
        OptimalSelection(Fraction(epsilon), Fraction(delta))


def test_so_little_that_nothing_is_kept_is_refused() -> None:
    selection = OptimalSelection(Fraction(1, 10**7), Fraction(1, 10**9))
    with pytest.raises(ValueError, match="keeps no group"):
        selection.probability(1)
