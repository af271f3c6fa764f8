from __future__ import annotations

import decimal
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsql.privacy.directed_rounding import (
    Enclosure,
    exp,
    ln,
    ln_above,
    power_below,
    round_down,
    round_up,
    scaled_exp,
    sqrt,
)

rationals = st.fractions(min_value=Fraction(1, 10**12), max_value=10**6)


@given(x=rationals)
def test_narrow_enclosures_lie_in_wide_ones(x: Fraction) -> None:
    for function, argument in ((exp, -x), (ln, x), (sqrt, x)):
        wide, narrow = function(argument, 20), function(argument, 90)
        assert wide.low <= narrow.low <= narrow.high <= wide.high


@given(x=rationals)
def test_enclosures_hold_what_floats_say(x: Fraction) -> None:
    assert float(exp(-x).low) == pytest.approx(math.exp(-x), rel=1e-9, abs=1e-300)
    assert float(ln(x).high) == pytest.approx(math.log(x), rel=1e-12, abs=1e-12)
    assert float(sqrt(x).high) == pytest.approx(math.sqrt(x), rel=1e-12)


@given(x=rationals)
def test_square_root_squared_is_around_the_number(x: Fraction) -> None:
    root = sqrt(x, 30)
    assert root.low**2 <= x <= root.high**2
    assert root.high - root.low <= x * Fraction(1, 10**27) + Fraction(1, 10**27)


def test_exp_of_one_has_the_digits_of_e() -> None:
    e = Fraction("2.71828182845904523536028747135266249775724709369995957496696762772407663")
    assert exp(Fraction(1)).low <= e <= exp(Fraction(1)).high


def test_exp_underflows_to_an_enclosure() -> None:
    tiny = exp(Fraction(-(10**9)))
    assert tiny.low == 0
    assert 0 < tiny.high < Fraction(1, 10**900)


@given(exponent=st.fractions(min_value=0, max_value=1000), bits=st.sampled_from([32, 64, 256]))
def test_scaled_exp_is_at_most_one_off(exponent: Fraction, bits: int) -> None:
    scaled, truth = scaled_exp(exponent, bits), exp(-exponent, 200)
    assert scaled - 1 <= truth.low * 2**bits
    assert truth.high * 2**bits <= scaled + 1
    assert scaled <= 2**bits


@given(x=st.fractions(min_value=0, max_value=1), exponent=st.integers(0, 400))
def test_a_power_is_bounded_from_below(x: Fraction, exponent: int) -> None:
    truth, below = x**exponent, power_below(x, exponent, 30)
    assert below <= truth
    assert truth - below <= truth * (2 * exponent + 1) * Fraction(1, 10**28) + Fraction(1, 10**990)


def test_a_power_of_very_many_factors_is_bounded_closely() -> None:
    # (1 - 10^-12)^(10^12) is e^-1, but for 10^-12 of it.
    below = power_below(1 - Fraction(1, 10**12), 10**12)
    assert exp(Fraction(-1)).low * (1 - Fraction(1, 10**12)) < below < exp(Fraction(-1)).low


def test_the_powers_of_0_and_1_are_exact() -> None:
    assert power_below(Fraction(1), 10**9) == power_below(Fraction(1, 3), 0) == 1
    assert power_below(Fraction(0), 5) == 0


def test_scaled_exp_of_zero_is_one() -> None:
    assert scaled_exp(Fraction(0), 104) == 2**104


@given(x=rationals, digits=st.integers(1, 40))
def test_rounding_goes_the_way_it_says(x: Fraction, digits: int) -> None:
    assert round_down(x, digits) <= x <= round_up(x, digits)
    assert round_up(x, digits) - round_down(x, digits) <= x * Fraction(10) ** (1 - digits)


def test_a_caller_s_decimal_context_changes_nothing() -> None:
    before = exp(Fraction(-1, 3)), ln(Fraction(1, 3)), round_up(Fraction(1, 3))
    with decimal.localcontext() as context:
        context.prec, context.rounding, context.Emin = 3, decimal.ROUND_DOWN, -5
        context.traps[decimal.Inexact] = True
        assert (exp(Fraction(-1, 3)), ln(Fraction(1, 3)), round_up(Fraction(1, 3))) == before


def test_only_positive_numbers_have_a_logarithm() -> None:
    with pytest.raises(ValueError, match="logarithm"):
        ln(Fraction(0))
    with pytest.raises(ValueError, match="logarithm"):
        ln_above(Fraction(-1))


def test_the_logarithm_of_1_is_0() -> None:
    # And not the decimals next to 0, of a million digits.
    assert ln(Fraction(1)) == Enclosure(Fraction(0), Fraction(0))
    assert ln_above(Fraction(1)) == 0
