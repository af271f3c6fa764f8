"""The sparse vector technique over time: its law over two checks, and its loss on neighbours."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from mpmath import mp, mpf
from privacy.laws import Law, exact, fit, loss_range
from privacy.seeded import SeededRandomness

from dpsql.privacy.mechanisms.selection.above_threshold import AboveThreshold, ThresholdMoves
from dpsql.privacy.mechanisms.selection.threshold_stream import ThresholdStream

ALPHA = 1e-6
NOTHING = -1
Short = tuple[int, ...]
ABOVE = AboveThreshold(Fraction(1, 4), Fraction(1), 2, ThresholdMoves(1, 1), 1)


def law(mechanism: AboveThreshold, checks: tuple[Short, ...], *, anew: bool = False) -> Law:
    """The probability of what the checks name together; `anew`: each with a number of its own."""
    if anew:
        laws = [law(mechanism, (one,)) for one in checks]
        return [mp.fprod(parts) for parts in product(*laws)]
    rate, own = exact(mechanism.threshold_rate), exact(mechanism.query_rate)
    total = [mpf(0)] * len(list(_outcomes(checks)))
    for raised in range(int(150 / rate) + 1):
        weight = (1 - mp.exp(-rate)) * mp.exp(-rate * raised)
        alone = []
        for short in checks:
            yes = [mp.exp(-own * max(0, s + raised + mechanism.offset)) for s in short]
            passed = [mp.fprod(1 - p for p in yes[:n]) for n in range(len(yes) + 1)]
            alone.append([passed[-1], *(passed[n] * yes[n] for n in range(len(yes)))])
        for index, parts in enumerate(product(*alone)):
            total[index] += weight * mp.fprod(parts)
    return total


def _outcomes(checks: tuple[Short, ...]) -> product[tuple[int, ...]]:
    return product(*([NOTHING, *range(len(short))] for short in checks))


def test_all_checks_have_the_law_of_one_number() -> None:
    # Each comparison of laws fails falsely with a probability of 10^-6.
    checks, source = ((-1, 0), (-2, 1)), SeededRandomness("stream")
    numbers = {names: index for index, names in enumerate(_outcomes(checks))}
    drawn = []
    for _ in range(4_000):
        stream = ThresholdStream(ABOVE, 2, ABOVE.raised(source))
        named = [stream.named(np.array(s, dtype=object), source).tolist() for s in checks]
        assert all(len(one) <= 1 for one in named)
        drawn.append(numbers[tuple(one[0] if one else NOTHING for one in named)])
    assert abs(sum(law(ABOVE, checks)) - 1) < mpf(10) ** -30
    assert fit(np.array(drawn), law(ABOVE, checks)) > ALPHA
    assert fit(np.array(drawn), law(ABOVE, checks, anew=True)) < ALPHA


@pytest.mark.parametrize(("down", "up"), [(0, 1), (1, 1), (1, 2)])
def test_all_checks_together_lose_what_was_paid(down: int, up: int) -> None:
    # Neighbours may move what each check compares otherwise: one unit comes, stays or goes.
    moves = ThresholdMoves(max(down, up), down + up)
    mechanism = AboveThreshold(Fraction(2, 3), Fraction(1, 2), 2, moves, -1)
    epsilon, slack = exact(mechanism.epsilon()), mpf(10) ** -30
    bounded_range = mp.sqrt(8 * exact(mechanism.rho()))
    before = law(mechanism, ((0, 3), (2, 1)))
    for a, b, c, d in product((-down, up), repeat=4):
        after = law(mechanism, ((0 - a, 3 - b), (2 - c, 1 - d)))
        low, high = loss_range(before, after)
        assert max(high, -low) <= epsilon + slack
        assert high - low <= bounded_range + slack


def test_a_number_that_is_drawn_anew_would_lose_more() -> None:
    # Nothing is named of ten checks, each of many integers that all move up.
    mechanism = AboveThreshold(Fraction(1), Fraction(1), 1, ThresholdMoves(1, 1), 0)
    one, other = (0,) * 8, (-1,) * 8

    def silent(short: Short, checks: int) -> mpf:
        """The probability that so many checks of one number name nothing."""
        passed = [mp.fprod(1 - mp.exp(-max(0, s + raised)) for s in short) for raised in range(150)]
        base = mp.exp(mpf(-1))
        return mp.fsum((1 - base) * base**n * passed[n] ** checks for n in range(150))

    epsilon = exact(mechanism.epsilon())
    assert silent((3, 2), 1) == pytest.approx(law(mechanism, ((3, 2),))[0])
    assert mp.log(silent(one, 10) / silent(other, 10)) <= epsilon
    assert 10 * mp.log(silent(one, 1) / silent(other, 1)) > 3 * epsilon


def test_the_number_is_not_shown() -> None:
    assert "12345" not in repr(ThresholdStream(ABOVE, 9, 12345))


def test_nothing_is_compared_before_the_number_is_drawn() -> None:
    with pytest.raises(ValueError, match="drawn before"):
        ThresholdStream(ABOVE, 2).named(np.array([0], dtype=object), SeededRandomness("none"))
