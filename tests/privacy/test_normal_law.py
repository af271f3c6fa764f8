from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf
from privacy.laws import exact

from dpsql.privacy.normal_law import FARTHEST, tail_point, upper_tail

points = st.fractions(min_value=-49, max_value=49, max_denominator=10**6)


def true_tail(z: Fraction) -> mpf:
    with mp.workdps(60):
        return mp.erfc(exact(z) / mp.sqrt(2)) / 2


@given(z=points)
def test_the_tail_is_enclosed_closely(z: Fraction) -> None:
    found, truth = upper_tail(z), true_tail(z)
    with mp.workdps(60):
        assert exact(found.low) <= truth <= exact(found.high)
        assert exact(found.high - found.low) < truth * mpf("1e-33")


@pytest.mark.parametrize("z", [Fraction(0), Fraction(3), Fraction(-3), Fraction(FARTHEST)])
def test_the_tail_is_enclosed_at_its_seams(z: Fraction) -> None:
    found, truth = upper_tail(z), true_tail(z)
    with mp.workdps(60):
        assert exact(found.low) <= truth <= exact(found.high)


def test_far_tails_are_still_enclosed() -> None:
    found = upper_tail(Fraction(10**9))
    assert found.low == 0
    assert 0 < found.high < Fraction(1, 10**400)


@given(exponent=st.floats(-299, 0), negative=st.booleans())
def test_a_point_has_the_tail_and_hardly_less(exponent: float, negative: bool) -> None:
    tail = Fraction(10) ** int(exponent) * Fraction(999 - 400 * negative, 1000)
    point = tail_point(tail)
    assert upper_tail(point).high <= tail
    assert point == 0 or upper_tail(point * (1 - Fraction(1, 10**25))).low > tail


def test_there_are_points_of_half_and_of_no_tail() -> None:
    assert tail_point(Fraction(1, 2)) == tail_point(Fraction(1)) == 0
    with pytest.raises(ValueError, match="small"):
        tail_point(Fraction(1, 10**301))
