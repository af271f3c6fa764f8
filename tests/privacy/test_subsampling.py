"""What a secret sample loses of what is spent on it: the bound's figures, its proof on small data.

Databases are small enough that all their samples are listed, and the noise has weights E^-|k| for a
whole E = e^ε, so that every probability is an exact fraction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations, product

import pytest

from dpsql.privacy.directed_rounding import exp, ln
from dpsql.privacy.subsampling import BITS, PoissonSampling

Law = dict[tuple[int, ...], Fraction]
"""The probability of each answer, or of each transcript of answers."""

TENTH = PoissonSampling(Fraction(1, 10))


def test_the_figures_of_the_literature() -> None:
    """ln(1 + 0.1·(e - 1)) = 0.1585…, and back."""
    assert float(TENTH.epsilon_of_all(Fraction(1))) == pytest.approx(0.158565, abs=1e-6)
    assert float(TENTH.epsilon_of_sample(Fraction(1))) == pytest.approx(2.900478, abs=1e-6)
    assert TENTH.delta_of_sample(Fraction(1, 10**6)) == Fraction(1, 10**5)
    assert TENTH.delta_of_all(Fraction(1, 10**5)) == Fraction(1, 10**6)
    assert TENTH.epsilon_of_all(Fraction(0)) == 0


@pytest.mark.parametrize("rate", ["0.000001", "0.01", "1/3", "0.5", "0.999999"])
@pytest.mark.parametrize("epsilon", ["0.000001", "0.1", "1", "7.5", "64", "500"])
def test_both_ways_are_rounded_against_ourselves(rate: str, epsilon: str) -> None:
    law, promised = PoissonSampling(Fraction(rate)), Fraction(epsilon)
    spent = law.epsilon_of_sample(promised)
    assert spent >= promised
    # All that may be spent on the sample costs no more than was promised, by enclosures.
    assert ln(1 + law.rate * (exp(spent).low - 1)).low <= promised
    cost = law.epsilon_of_all(spent)
    assert promised * (1 - Fraction(1, 10**5)) <= cost <= promised * (1 + Fraction(1, 10**9))
    assert exp(cost).high >= 1 + law.rate * (exp(spent).low - 1)


@pytest.mark.parametrize("rate", ["0.1", "1/3", "0.999999", "0.000001"])
def test_a_unit_is_never_drawn_more_often_than_is_declared(rate: str) -> None:
    law = PoissonSampling(Fraction(rate))
    assert law.drawn <= law.rate < law.drawn + Fraction(1, 2**BITS)
    assert law.threshold == law.drawn * 2**BITS


@pytest.mark.parametrize("rate", ["0", "1", "-0.1", "2", f"1/{2**65}"])
def test_nobody_or_everybody_is_no_sample(rate: str) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        PoissonSampling(Fraction(rate))


def samples(units: tuple[int, ...], rate: Fraction) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """Every subset of `units`, with its probability."""
    for size in range(len(units) + 1):
        for drawn in combinations(units, size):
            yield drawn, rate**size * (1 - rate) ** (len(units) - size)


def noise(base: Fraction, reach: int) -> dict[int, Fraction]:
    """Weights of discrete Laplace noise with e^ε = `base`, those beyond `reach` left out."""
    return {k: (base - 1) / (base + 1) / base ** abs(k) for k in range(-reach, reach + 1)}


def of_sum(base: Fraction) -> Callable[[tuple[int, ...]], Law]:
    """The sum of values of at most 2, with noise of ε for 2."""
    # A value of 1 moves the answer by half of what the noise hides with ε.
    return lambda drawn: {(2 * sum(drawn) + k,): p for k, p in noise(base, 30).items()}


def of_two(base: Fraction) -> Callable[[tuple[int, ...]], Law]:
    """A count, and what is asked in view of it: the count again, or that of the 2s.

    Each loses ε/2, with e^(ε/2) = `base`.
    """
    weights = noise(base, 12)

    def law(drawn: tuple[int, ...]) -> Law:
        answers: Law = {}
        for (first, p), (second, r) in product(weights.items(), repeat=2):
            shown = len(drawn) + first
            other = len(drawn) if shown > 1 else sum(value == 2 for value in drawn)
            answer = shown, other + second
            answers[answer] = answers.get(answer, Fraction(0)) + p * r
        return answers

    return law


def leaking(drawn: tuple[int, ...]) -> Law:
    """Whether the 2 is there, told as it is with δ = ¼, else by a coin of e^ε = 3."""
    there = int(2 in drawn)
    fair = Fraction(3, 4)
    return {(9, there): 1 - fair, (there,): fair * Fraction(3, 4), (1 - there,): fair / 4}


def over(units: tuple[int, ...], rate: Fraction, mechanism: Callable[..., Law]) -> Law:
    """The law of `mechanism` of a sample of `units`."""
    law: Law = {}
    for drawn, weight in samples(units, rate):
        for answer, probability in mechanism(drawn).items():
            law[answer] = law.get(answer, Fraction(0)) + weight * probability
    return law


def loss(mine: Law, other: Law, e_epsilon: Fraction) -> Fraction:
    """The least δ with which `mine` ≤ e^ε·`other` + δ on every event."""
    return sum(
        (max(Fraction(0), p - e_epsilon * other.get(answer, Fraction(0))))
        for answer, p in mine.items()
    ) or Fraction(0)


@pytest.mark.parametrize("rate", [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)])
@pytest.mark.parametrize("others", [(), (1,), (1, 1), (2, 1, 2)])
def test_samples_of_neighbours_are_as_close_as_the_bound_says(
    rate: Fraction, others: tuple[int, ...]
) -> None:
    """Of all small databases, by all their samples: exactly, in both directions."""
    for unit in (1, 2):
        for mechanism, base in (
            (of_sum(Fraction(3)), Fraction(3) ** 4),  # a unit moves it by 4 steps at most
            (of_two(Fraction(2)), Fraction(4)),
        ):
            mine, less = (over(units, rate, mechanism) for units in ((*others, unit), others))
            bound = 1 + rate * (base - 1)
            for answer in set(mine) & set(less):
                # Weights at the ends are cut off, those of one side sooner.
                if max(map(abs, answer)) < 8:
                    assert mine[answer] <= bound * less[answer]
                    assert less[answer] <= bound * mine[answer]


def test_the_bound_is_reached_by_a_noisy_count() -> None:
    """Far out, each unit that is there makes an answer e^ε times as likely: no bound is less."""
    base, rate = Fraction(3), Fraction(1, 10)

    def count(drawn: tuple[int, ...]) -> Law:
        return {(len(drawn) + k,): p for k, p in noise(base, 30).items()}

    mine, less = over((1, 1), rate, count), over((1,), rate, count)
    assert mine[20,] == (1 + rate * (base - 1)) * less[20,]
    assert math.log(mine[20,] / less[20,]) == pytest.approx(math.log(1.2))


@pytest.mark.parametrize("rate", [Fraction(1, 10), Fraction(1, 2)])
def test_delta_shrinks_with_the_sample_and_no_further(rate: Fraction) -> None:
    """Of all events together; by whatever is told with δ a unit is found if it was drawn."""
    law = PoissonSampling(rate)
    e_epsilon = 1 + rate * (3 - 1)
    delta = law.delta_of_all(Fraction(1, 4))
    worst = Fraction(0)
    for others in ((), (1,), (1, 1)):
        mine, less = (over(units, rate, leaking) for units in ((*others, 2), others))
        for one, other in ((mine, less), (less, mine)):
            assert loss(one, other, e_epsilon) <= delta
            worst = max(worst, loss(one, other, e_epsilon))
    assert worst == delta


def test_answer_by_answer_it_would_be_another_sum() -> None:
    """Twice ε of one sample costs more than ε of each of two: losses are amplified once, whole."""
    once = TENTH.epsilon_of_all(Fraction(1))
    assert TENTH.epsilon_of_all(Fraction(2)) > 2 * once
    # Both answers of the test above are of one sample: e^ε = 4 together, and no less is enough.
    base, rate = Fraction(2), Fraction(1, 10)

    def twice(drawn: tuple[int, ...]) -> Law:
        weights = noise(base, 12)
        return {
            (len(drawn) + k, len(drawn) + j): p * r
            for (k, p), (j, r) in product(weights.items(), repeat=2)
        }

    mine, less = over((1,), rate, twice), over((), rate, twice)
    answer_by_answer = (1 + rate * (base - 1)) ** 2
    assert mine[5, 5] == (1 + rate * (base**2 - 1)) * less[5, 5] > answer_by_answer * less[5, 5]
