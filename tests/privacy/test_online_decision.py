"""dpsql.decide and dpsql.OnlineDecision: losses in the caller's own hands.

The simulated regret fails by chance with a probability below 10^-6: it is the mean of 5,000
independent choices' losses, each in [0, 1], which by Hoeffding's inequality is within 0.04 of its
expectation but for 2·e^-16 < 3·10^-7.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from privacy.seeded import SeededRandomness

import dpsql
from dpsql.privacy.mechanisms.selection.exponential import choose

ROUNDS = 1_000
RUNS = 5


def alternating(rounds: int) -> list[list[float]]:
    """Two experts, of whom whoever lost less so far loses next."""
    return [[0.5, 0.0], *([0.0, 1.0] if n % 2 == 0 else [1.0, 0.0] for n in range(rounds - 1))]


def drifting(rounds: int) -> list[list[float]]:
    """Ten experts of nearly the same losses, of which the best one changes."""
    return [
        [((7 * n + 3 * i * (n // 250 + 1)) % 11) / 10.1 for i in range(10)] for n in range(rounds)
    ]


@pytest.mark.parametrize(
    ("losses", "bound"), [(alternating(ROUNDS), 0.052658), (drifting(ROUNDS), 0.095971)]
)
def test_the_simulated_regret_is_within_the_documents_bound(
    losses: list[list[float]], bound: float
) -> None:
    total = 0.0
    for run in range(RUNS):
        chosen = dpsql.decide(losses, epsilon=10**6, randomness=SeededRandomness(f"run {run}"))
        total += sum(each[expert] for each, expert in zip(losses, chosen, strict=True))
    best = min(map(sum, zip(*losses, strict=True)))
    assert (total / RUNS - best) / ROUNDS <= bound + 0.04


def test_whoever_follows_the_leader_regrets_more_than_the_bound() -> None:
    losses = alternating(ROUNDS)
    sums, lost = [0.0, 0.0], 0.0
    for each in losses:
        lost += each[sums.index(min(sums))]
        sums = [a + b for a, b in zip(sums, each, strict=True)]
    assert (lost - min(sums)) / ROUNDS > 0.4


def test_rate_and_regret_are_the_documents_where_epsilon_allows_it() -> None:
    made = dpsql.OnlineDecision(10, 1_000, epsilon=10**6)
    assert made.learning_rate == pytest.approx(0.047985, rel=3e-4)
    assert made.regret == pytest.approx(0.095971, rel=3e-4)
    assert made.epsilon == pytest.approx(999 * 2 * made.learning_rate)
    wide = dpsql.OnlineDecision(10, 1_000, epsilon=10**6, bounds=(-5, 15))
    assert wide.regret == pytest.approx(20 * made.regret)


def test_a_delta_lets_many_rounds_cost_less() -> None:
    pure = dpsql.OnlineDecision(10, 1_001, epsilon=1)
    approximate = dpsql.OnlineDecision(10, 1_001, epsilon=1, delta=1e-6)
    assert pure.learning_rate == pytest.approx(1 / 2_000)
    assert approximate.learning_rate == pytest.approx(0.0069794, rel=1e-4)
    assert approximate.epsilon <= 1
    assert approximate.regret < pure.regret


def test_whose_data_are_in_several_rounds_is_hidden_at_a_lower_rate() -> None:
    made = dpsql.OnlineDecision(2, 5, epsilon=1, rounds_per_unit=3)
    # After 1, 2, 3 and 4 rounds sums came apart by 2, 4, 6 and 6.
    assert made.learning_rate == pytest.approx(1 / 18)


def test_rounds_come_one_by_one_as_in_a_whole_run() -> None:
    """By the same law: where one expert is far ahead, by the same choices."""
    losses = [[0.0, 1.0, 1.0]] * 400 + [[1.0, 0.0, 1.0]] * 1_200
    made = dpsql.OnlineDecision(3, 1_600, epsilon=10**6, randomness=SeededRandomness("steps"))
    chosen = []
    for each in losses:
        chosen.append(made.choose())
        made.observe(each)
    whole = dpsql.decide(losses, epsilon=10**6, randomness=SeededRandomness("whole"))
    # At a rate of 0.0262 a lead of 399 losses is a factor e^-10.4 against each other expert, and
    # one of 799 e^-20.9: the last choice is another with a probability of 4·10^-9.
    assert chosen[-1] == whole[-1] == 1


def test_a_choice_is_drawn_by_the_sums_of_earlier_losses() -> None:
    made = dpsql.OnlineDecision(3, 4, epsilon=8, randomness=SeededRandomness("by sums"))
    rate = Fraction(made.learning_rate) / 2**20
    randomness = SeededRandomness("by sums")
    sums = [0, 0, 0]
    for losses in ([0.25, 1, 0], [1, 0.5, 0.5], [0, 0, 1], [0.5, 0.5, 0.5]):
        (expected,) = choose(sums, rate, randomness)
        assert made.choose() == expected
        made.observe(losses)
        sums = [a + int(2**20 * b) for a, b in zip(sums, losses, strict=True)]


def test_losses_beyond_their_bounds_are_clamped() -> None:
    clamped = dpsql.decide(
        [[-math.inf, 5], [0, math.inf], [0.5, 1.5], [0, 0]],
        epsilon=4,
        randomness=SeededRandomness("clamped"),
    )
    assert clamped == dpsql.decide(
        [[0, 1], [0, 1], [0.5, 1], [0, 0]], epsilon=4, randomness=SeededRandomness("clamped")
    )


def test_each_round_is_chosen_once_and_paid_for_once() -> None:
    made = dpsql.OnlineDecision(2, 2, epsilon=1)
    made.choose()
    with pytest.raises(ValueError, match="observe this round's losses"):
        made.choose()
    made.observe([0, 1])
    made.observe([1, 0])  # without a choice
    for more in (made.choose, lambda: made.observe([0, 0])):
        with pytest.raises(ValueError, match="all rounds are over"):
            more()


@pytest.mark.parametrize("losses", [[math.nan, 0.0], [0.0], [0.0, 1.0, 0.0]])
def test_what_is_no_round_is_refused_and_changes_nothing(losses: list[float]) -> None:
    made = dpsql.OnlineDecision(2, 3, epsilon=1)
    with pytest.raises(ValueError, match=r"NaN is no loss|each expert has one loss"):
        made.observe(losses)
    for _ in range(3):
        made.observe([0, 1])


@pytest.mark.parametrize(
    "wrong",
    [
        {"experts": 1},
        {"rounds": 1},
        {"epsilon": 0},
        {"epsilon": -1},
        {"delta": 1},
        {"delta": -0.1},
        {"bounds": (1, 1)},
        {"bounds": (2, 1)},
        {"rounds_per_unit": 0},
    ],
)
def test_what_has_no_promise_is_refused(wrong: dict[str, object]) -> None:
    arguments: dict[str, object] = {"experts": 2, "rounds": 3, "epsilon": 1} | wrong
    with pytest.raises(ValueError, match=r"two experts|positive|lowest loss|a loss is at least 0"):
        dpsql.OnlineDecision(**arguments)  # type: ignore[arg-type]


def test_rounds_of_other_experts_are_refused() -> None:
    wrong: list[list[list[float]]] = [[[0, 1], [0]], [[]], [], [[1, 2]]]
    for losses in wrong:
        with pytest.raises(ValueError, match=r"two experts|one loss"):
            dpsql.decide(losses, epsilon=1)


def test_arrays_of_any_width_are_rounds() -> None:
    for kind in (np.float32, np.float64, np.int64):
        losses = np.array([[0, 1], [1, 0], [1, 1]], dtype=kind)
        assert len(dpsql.decide(losses, epsilon=1)) == 3  # type: ignore[arg-type]
