from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from privacy.seeded import ReplayedRandomness, SeededRandomness, replayed, uniform_script

from dpsql.privacy.directed_rounding import exp
from dpsql.privacy.mechanisms.selection.bernoulli_exp import bernoulli_exp, certain_thresholds

exponents = st.fractions(min_value=0, max_value=1, max_denominator=10**6)


def accept_one(exponent: Fraction, uniform: int, bits: int, rounded: float | None = None) -> bool:
    approximate = np.array([float(exponent) if rounded is None else rounded])
    randomness = ReplayedRandomness(uniform_script(uniform, bits))
    (accepted,) = bernoulli_exp(
        certain_thresholds(approximate),
        lambda places: approximate[places],
        lambda _: exponent,
        randomness,
    )
    return bool(accepted)


@given(exponent=exponents, uniform=st.integers(0, 2**128 - 1))
def test_accepts_exactly_the_uniforms_below(exponent: Fraction, uniform: int) -> None:
    accepted = accept_one(exponent, uniform, 128)
    assert accepted == (replayed(uniform, 128) < exp(-exponent, 80).low)


@pytest.mark.parametrize("exponent", [Fraction(1, 3), Fraction(2, 10**10), Fraction(99, 100)])
@pytest.mark.parametrize("bits", [64, 128, 256])
@pytest.mark.parametrize("offset", [-4, 4])
def test_next_to_the_bound_bits_are_read_until_they_decide(
    exponent: Fraction, bits: int, offset: int
) -> None:
    uniform = int(exp(-exponent, 200).low * 2**bits) + offset
    assert accept_one(exponent, uniform, bits) == (offset < 0)


@pytest.mark.parametrize("uniform", [2**127, 2**128 - 2**90, 0])
def test_unknown_exponents_are_decided_exactly(uniform: int) -> None:
    # e^-30 lies far below the range of the series.
    for exponent in (Fraction(30), Fraction(1, 2)):
        accepted = accept_one(exponent, uniform, 128, rounded=float("nan"))
        assert accepted == (Fraction(uniform, 2**128) < exp(-exponent).low)


def test_exponent_zero_is_always_accepted() -> None:
    assert accept_one(Fraction(0), 2**32 - 1, 32)


@given(exponent=exponents)
def test_what_is_sure_is_below_the_truth(exponent: Fraction) -> None:
    (sure,) = certain_thresholds(np.array([float(exponent)]))
    assert Fraction(int(sure), 2**16) <= exp(-exponent).low <= Fraction(int(sure) + 2800, 2**16)


def test_of_unknown_or_large_exponents_nothing_is_sure() -> None:
    assert certain_thresholds(np.array([np.nan, 1.5, 1e9])).tolist() == [0, 0, 0]


def test_frequency_is_e_to_the_minus_exponent() -> None:
    # Six standard deviations: false failure below 1e-8.
    count, exponent = 500_000, Fraction(1, 10)
    rounded = np.full(count, float(exponent))
    accepted = bernoulli_exp(
        certain_thresholds(rounded),
        lambda places: rounded[places],
        lambda _: exponent,
        SeededRandomness("a"),
    )
    chance = float(exp(-exponent).low)
    assert abs(accepted.sum() - count * chance) < 6 * (count * chance * (1 - chance)) ** 0.5
