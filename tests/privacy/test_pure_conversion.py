"""ε-DP and bounded ranges as GDP, beside the two laws on two outcomes that are the worst."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf
from privacy.laws import exact

from dpsql.privacy.accounting.gdp_conversion import delta_of_mu_squared
from dpsql.privacy.accounting.pure_conversion import (
    HIGH_PI,
    mu_squared_of_pure,
    mu_squared_of_range,
    range_of_mu_squared,
)

losses = st.fractions(min_value=Fraction(1, 10**6), max_value=60)
parts = st.fractions(min_value=Fraction(1, 1000), max_value=Fraction(999, 1000))


def quantile(p: mpf) -> mpf:
    return -mp.sqrt(2) * mp.erfinv(1 - 2 * p)


def distance(p: mpf, q: mpf) -> mpf:
    """The μ of which a test with these probabilities on two laws is."""
    return quantile(p) - quantile(q)


def of_range(width: mpf, top: mpf) -> tuple[mpf, mpf]:
    """The probabilities of one of two outcomes whose losses are `top` and `top` - width."""
    p = (1 - mp.exp(top - width)) / (1 - mp.exp(-width))
    return p, p * mp.exp(-top)


@given(epsilon=losses)
def test_randomised_response_costs_what_every_pure_mechanism_does(epsilon: Fraction) -> None:
    with mp.workdps(60):
        p = 1 / (1 + mp.exp(-exact(epsilon)))
        truth = distance(p, 1 - p) ** 2
        found = exact(mu_squared_of_pure(epsilon))
        assert truth <= found <= truth * (1 + mpf("1e-20"))


@given(width=losses, part=parts)
def test_no_mechanism_of_a_range_costs_more(width: Fraction, part: Fraction) -> None:
    with mp.workdps(60):
        cost = mp.sqrt(exact(mu_squared_of_range(width)))
        assert distance(*of_range(exact(width), exact(width * part))) <= cost
        worst = distance(*of_range(exact(width), exact(width) / 2))
        assert worst <= cost <= worst * (1 + mpf("1e-20"))


@pytest.mark.parametrize("width", [Fraction(1, 2), Fraction(2), Fraction(6)])
@pytest.mark.parametrize("part", [Fraction(1, 2), Fraction(1, 5), Fraction(19, 20)])
@pytest.mark.parametrize("count", [1, 12])
def test_many_choices_are_covered_by_the_sum(width: Fraction, part: Fraction, count: int) -> None:
    p, q = of_range(exact(width), exact(width * part))
    of_all = count * mu_squared_of_range(width)
    for epsilon in (Fraction(0), Fraction(1, 2), Fraction(2), Fraction(5)):
        for one, other in ((p, q), (q, p)):
            laws = [
                [
                    mp.binomial(count, hits) * x**hits * (1 - x) ** (count - hits)
                    for hits in range(count + 1)
                ]
                for x in (one, other)
            ]
            found = mp.fsum(
                max(a - mp.exp(exact(epsilon)) * b, mpf(0)) for a, b in zip(*laws, strict=True)
            )
            assert found <= exact(delta_of_mu_squared(of_all, epsilon)) * (1 + mpf("1e-20"))


@given(width=losses)
def test_the_cost_of_a_range_is_below_its_closed_form(width: Fraction) -> None:
    assert mu_squared_of_range(width) <= HIGH_PI * width**2 / 8
    assert float(mu_squared_of_range(Fraction(1, 1000)) * 8 * 10**6 / HIGH_PI) > 0.999999


def test_cost_rises_faster_than_the_range() -> None:
    widths = [Fraction(k, 10) for k in range(1, 400, 7)]
    per_width = [mu_squared_of_range(width) / width for width in widths]
    assert all(low < high for low, high in pairwise(per_width))


@given(mu_squared=losses)
def test_a_range_is_the_largest_but_for_a_hair(mu_squared: Fraction) -> None:
    width = range_of_mu_squared(mu_squared)
    assert mu_squared_of_range(width) <= mu_squared
    assert mu_squared_of_range(width * (1 + Fraction(1, 10**15))) > mu_squared


def test_what_has_no_cost_has_none() -> None:
    assert mu_squared_of_pure(Fraction(0)) == 0
    assert exact(Fraction(1)) * mp.pi < HIGH_PI
    with pytest.raises(ValueError, match="at least 0"):
        mu_squared_of_pure(Fraction(-1))
    with pytest.raises(ValueError, match="positive"):
        range_of_mu_squared(Fraction(0))
