"""The sparse vector technique: its law, exactly, and its loss on all small neighbours."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from mpmath import mp, mpf
from neighbor_search.share import in_turn
from privacy.laws import Law, exact, fit, loss_range
from privacy.seeded import SeededRandomness

from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.accounting.pure_conversion import mu_squared_of_range
from dpsql.privacy.allocation.threshold_rates import above_threshold
from dpsql.privacy.mechanisms.selection.above_threshold import (
    AboveThreshold,
    ThresholdMoves,
    geometric,
)

ALPHA = 1e-6
CONFIDENCE = Fraction(95, 100)
Short = tuple[int, ...]


def law(mechanism: AboveThreshold, short: Short) -> Law:
    """The probability of each set of names, in the order of `outcomes`, to fifty digits."""
    total = {names: mpf(0) for names in outcomes(len(short), mechanism.firings)}
    above = zip(*(passes(mechanism, s) for s in short), strict=True)
    for weight, yes_of in zip(raises(mechanism), above, strict=True):
        no_of = [1 - yes for yes in yes_of]
        for names in total:
            part = weight
            for index, (yes, no) in enumerate(zip(yes_of, no_of, strict=True)):
                if len(names) == mechanism.firings and index > names[-1]:
                    break
                part *= yes if index in names else no
            total[names] += part
    return list(total.values())


@cache
def raises(mechanism: AboveThreshold) -> Law:
    """The probability that the threshold is raised by so many steps."""
    rate = exact(mechanism.threshold_rate)
    # Beyond this many steps it is raised with a probability of e^-150 at most.
    return [(1 - mp.exp(-rate)) * mp.exp(-rate * n) for n in range(int(150 / rate) + 1)]


@cache
def passes(mechanism: AboveThreshold, short: int) -> Law:
    """The probability that one query is named, at each threshold of `raises`."""
    own, least = exact(mechanism.query_rate), short + mechanism.offset
    return [mp.exp(-own * max(0, least + n)) for n in range(len(raises(mechanism)))]


def outcomes(queries: int, firings: int) -> list[tuple[int, ...]]:
    return [names for n in range(firings + 1) for names in combinations(range(queries), n)]


@pytest.mark.parametrize("firings", [1, 2])
def test_names_have_their_law(firings: int) -> None:
    # Each test fails falsely with a probability of 10^-6.
    mechanism = AboveThreshold(Fraction(1, 2), Fraction(1, 3), firings, ThresholdMoves(1, 1), 1)
    short = (4, -1, 2)
    source = SeededRandomness(f"names {firings}")
    numbers = {names: n for n, names in enumerate(outcomes(3, firings))}
    drawn = [
        numbers[tuple(mechanism.named(np.array(short, dtype=object), source).tolist())]
        for _ in range(20_000)
    ]
    probabilities = law(mechanism, short)
    assert abs(sum(probabilities) - 1) < mpf(10) ** -30
    assert fit(np.array(drawn), probabilities) > ALPHA
    assert fit(np.array(drawn), law(mechanism, (4, 0, 2))) < ALPHA


def test_the_threshold_rises_by_geometric_noise() -> None:
    # It fails falsely with a probability of 10^-6.
    source = SeededRandomness("geometric")
    drawn = np.array([min(geometric(Fraction(1, 2), source), 12) for _ in range(20_000)])
    base = mp.exp(mpf(-1) / 2)
    expected = [(1 - base) * base**n for n in range(12)]
    assert fit(drawn, [*expected, 1 - sum(expected)]) > ALPHA


@pytest.mark.parametrize(
    ("down", "up", "firings"),
    in_turn(
        (
            (f"{down}-{up}-{firings}", (down, up, firings))
            for firings in (1, 2)
            for down, up in ((1, 2), (0, 2), (2, 0), (1, 1))
        ),
        2,
    ),
)
def test_no_neighbours_are_told_apart_by_more_than_is_claimed(
    down: int, up: int, firings: int
) -> None:
    moves = ThresholdMoves(max(down, up), down + up)
    mechanism = AboveThreshold(Fraction(2, 3), Fraction(1, 2), firings, moves, -1)
    epsilon = exact(mechanism.epsilon())
    bounded_range = mp.sqrt(8 * exact(mechanism.rho()))
    slack = mpf(10) ** -30
    for short in [(0, 3, 1), (2, 2, -2), (-4, 5, 0)]:
        before = law(mechanism, short)
        for moved in product(range(-down, up + 1), repeat=3):
            after = law(mechanism, tuple(s - d for s, d in zip(short, moved, strict=True)))
            low, high = loss_range(before, after)
            assert max(high, -low) <= epsilon + slack
            assert high - low <= bounded_range + slack


def test_the_loss_is_met_where_integers_move_apart() -> None:
    # All that was passed over comes up, and what was named goes down: nothing cheaper is true.
    mechanism = AboveThreshold(Fraction(1, 2), Fraction(1, 2), 1, ThresholdMoves(1, 2), 0)
    before = law(mechanism, (-20,) * 10 + (0,))
    after = law(mechanism, (-21,) * 10 + (1,))
    low, high = loss_range(before, after)
    assert max(high, -low) > exact(mechanism.epsilon()) * mpf("0.99")


@pytest.mark.parametrize("accounting", list(Accounting))
@pytest.mark.parametrize("firings", [1, 3])
@pytest.mark.parametrize("moves", [ThresholdMoves(3, 3), ThresholdMoves(3, 6)])
def test_rates_spend_what_is_granted_and_no_more(
    accounting: Accounting, firings: int, moves: ThresholdMoves
) -> None:
    granted = PrivacyLoss(accounting, Fraction(1, 7))
    mechanism, loss = above_threshold(50, firings, moves, granted, CONFIDENCE)
    spent = {
        Accounting.PURE: mechanism.epsilon(),
        Accounting.APPROX: mechanism.epsilon(),
        Accounting.ZCDP: mechanism.rho(),
        Accounting.GDP: mu_squared_of_range(mechanism.loss_range),
    }
    assert loss.amount == spent[accounting]
    assert granted.amount * (1 - Fraction(1, 10**9)) <= loss.amount <= granted.amount
    assert not loss.delta


def test_no_other_split_has_much_less_error() -> None:
    granted = PrivacyLoss(Accounting.PURE, Fraction(1))
    mechanism, _ = above_threshold(100, 1, ThresholdMoves(2, 2), granted, CONFIDENCE)
    error = mechanism.error(100, CONFIDENCE)
    for percent in range(5, 100, 5):
        of_threshold = Fraction(percent, 100) / 2
        other = AboveThreshold(of_threshold, Fraction(1, 2) - of_threshold, 1, mechanism.moves, 0)
        # Offsets don't change the sum of both errors.
        errors = other.error(100, CONFIDENCE) * 2
        assert error <= errors + 1


def test_an_answer_is_off_by_its_error_rarely() -> None:
    # Of 2,000 answers 5 % may be off: more than 150 are with a probability below 10^-6.
    granted = PrivacyLoss(Accounting.PURE, Fraction(1))
    mechanism, _ = above_threshold(30, 1, ThresholdMoves(1, 1), granted, CONFIDENCE)
    error = int(mechanism.error(30, CONFIDENCE)) + 1
    source = SeededRandomness("error")
    short = np.array([error + 1] * 29 + [-error - 1], dtype=object)
    wrong = sum(mechanism.named(short, source).tolist() != [29] for _ in range(2000))
    assert wrong <= 150


def test_what_is_far_from_its_threshold_is_named_or_not_whatever_noise_is() -> None:
    mechanism = AboveThreshold(Fraction(1), Fraction(1), 2, ThresholdMoves(1, 1), 0)
    short = np.array([2**200, -(2**200), 2**70, -(2**64), -5000], dtype=object)
    assert mechanism.named(short, SeededRandomness("far")).tolist() == [1, 3]
    assert not mechanism.named(np.array([], dtype=object), SeededRandomness("none")).size


def test_what_can_be_no_mechanism_is_none() -> None:
    with pytest.raises(ValueError, match="reach"):
        ThresholdMoves(2, 1)
    with pytest.raises(ValueError, match="rates"):
        AboveThreshold(Fraction(0), Fraction(1), 1, ThresholdMoves(1, 1), 0)
