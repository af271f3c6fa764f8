from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import opendp.prelude as dp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsql.privacy.accounting.zcdp_conversion import delta_of_rho, epsilon_of_rho, rho_of_epsilon

losses = st.fractions(min_value=Fraction(1, 10**6), max_value=100)
deltas = st.sampled_from([Fraction(1, 10**power) for power in (1, 3, 6, 9, 15)])


def bound(rho: Fraction, delta: Fraction, order: float) -> Decimal:
    """The published bound at one order, to 60 digits."""
    with localcontext(prec=60):
        r, d, a = (
            Decimal(x.numerator) / Decimal(x.denominator) for x in (rho, delta, Fraction(order))
        )
        return a * r + (1 / (a * d)).ln() / (a - 1) + (1 - 1 / a).ln()


@pytest.mark.parametrize(
    ("rho", "delta", "epsilon"),
    [
        ("0.1", "1e-6", 2.1419389283854735),
        ("0.5", "1e-6", 5.221534444530168),
        ("1", "1e-6", 7.766216625311721),
        ("0.5", "1e-5", 4.728386984943313),
        ("2.56", "1e-10", 17.158308712104745),
        ("0.005", "1e-6", 0.42994146883710956),
    ],
)
def test_epsilon_has_its_known_values(rho: str, delta: str, epsilon: float) -> None:
    assert float(epsilon_of_rho(Fraction(rho), Fraction(delta))) == pytest.approx(epsilon, rel=1e-9)


def test_rho_has_its_known_value() -> None:
    rho = rho_of_epsilon(Fraction(1), Fraction(1, 10**6))
    assert float(rho) == pytest.approx(0.024355970359543757, rel=1e-9)


@pytest.mark.parametrize("rho", [0.005, 0.1, 1.0])
def test_opendp_agrees(rho: float) -> None:
    dp.enable_features("contrib")
    space = dp.atom_domain(T="i64"), dp.absolute_distance(T="i64")
    oracle = dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*space, scale=(1 / (2 * rho)) ** 0.5))
    assert float(epsilon_of_rho(Fraction(rho), Fraction(1e-6))) == pytest.approx(
        oracle.map(1).epsilon(1e-6), rel=1e-6
    )


@given(rho=losses, delta=deltas, log_order=st.floats(-6, 12))
def test_no_order_gives_a_smaller_epsilon(rho: Fraction, delta: Fraction, log_order: float) -> None:
    epsilon = epsilon_of_rho(rho, delta)
    assert epsilon >= 0
    assert float(epsilon) <= max(float(bound(rho, delta, 1 + math.exp(log_order))), 0) + 1e-12


@given(rho=losses, delta=deltas)
def test_epsilon_is_rounded_up(rho: Fraction, delta: Fraction) -> None:
    # Where the derivative vanishes, found again here in decimal: nothing can be lower.
    epsilon = epsilon_of_rho(rho, delta)
    with localcontext(prec=60):
        r, d = (Decimal(x.numerator) / Decimal(x.denominator) for x in (rho, delta))
        low, high = Decimal("1e-8"), 1 / d
        for _ in range(120):
            s = (low * high).sqrt()
            low, high = (s, high) if r * s * s + (1 + s).ln() < -d.ln() else (low, s)
        least = (1 + s) * r + (-d.ln() - (1 + s).ln()) / s + s.ln() - (1 + s).ln()
    assert epsilon >= max(Fraction(least) - Fraction(1, 10**30), Fraction(0))
    assert epsilon <= max(Fraction(least), Fraction(0)) * (1 + Fraction(1, 10**9)) + Fraction(
        1, 10**13
    )


@given(epsilon=losses, delta=deltas)
def test_rho_never_exceeds_epsilon_and_nearly_reaches_it(
    epsilon: Fraction, delta: Fraction
) -> None:
    rho = rho_of_epsilon(epsilon, delta)
    assert epsilon_of_rho(rho, delta) <= epsilon
    assert epsilon_of_rho(rho * (1 + Fraction(1, 10**9)), delta) > epsilon


@given(rho=losses, delta=deltas)
def test_there_and_back_is_no_gain(rho: Fraction, delta: Fraction) -> None:
    epsilon = epsilon_of_rho(rho, delta)
    if epsilon:
        again = rho_of_epsilon(epsilon, delta)
        assert again <= rho * (1 + Fraction(1, 10**9))
        assert again >= rho * (1 - Fraction(1, 10**6))


@given(rho=losses, delta=deltas)
def test_more_rho_is_more_epsilon(rho: Fraction, delta: Fraction) -> None:
    assert epsilon_of_rho(rho, delta) <= epsilon_of_rho(rho * Fraction(1001, 1000), delta)


def test_no_loss_is_no_loss() -> None:
    assert epsilon_of_rho(Fraction(0), Fraction(1, 10**6)) == 0
    assert epsilon_of_rho(Fraction(1, 10**40), Fraction(1, 10**6)) == 0


@given(epsilon=st.sampled_from([Fraction(0), Fraction(1, 10**30), Fraction(10**9)]), delta=deltas)
def test_extreme_epsilons_are_kept_to(epsilon: Fraction, delta: Fraction) -> None:
    assert epsilon_of_rho(rho_of_epsilon(epsilon, delta), delta) <= epsilon


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1), Fraction(-1)])
def test_delta_is_between_zero_and_one(delta: Fraction) -> None:
    with pytest.raises(ValueError, match="delta"):
        epsilon_of_rho(Fraction(1), delta)
    with pytest.raises(ValueError, match="delta"):
        rho_of_epsilon(Fraction(1), delta)


def test_losses_are_not_negative() -> None:
    with pytest.raises(ValueError, match="at least 0"):
        epsilon_of_rho(Fraction(-1), Fraction(1, 10))
    with pytest.raises(ValueError, match="at least 0"):
        rho_of_epsilon(Fraction(-1), Fraction(1, 10))


def test_delta_has_its_known_value() -> None:
    delta = delta_of_rho(Fraction(1, 10), Fraction(1))
    assert float(delta) == pytest.approx(0.008933245771818369, rel=1e-9)


@given(rho=losses, delta=deltas)
def test_delta_undoes_epsilon(rho: Fraction, delta: Fraction) -> None:
    epsilon = epsilon_of_rho(rho, delta)
    if epsilon:
        again = delta_of_rho(rho, epsilon)
        assert delta * (1 - Fraction(1, 10**6)) <= again <= delta * (1 + Fraction(1, 10**6))


@given(rho=losses, epsilon=losses, log_order=st.floats(-6, 6))
def test_no_order_gives_a_smaller_delta(rho: Fraction, epsilon: Fraction, log_order: float) -> None:
    delta = delta_of_rho(rho, epsilon)
    with localcontext(prec=60):
        r, e, a = (
            Decimal(x.numerator) / Decimal(x.denominator)
            for x in (rho, epsilon, Fraction(1 + math.exp(log_order)))
        )
        other = ((a - 1) * (a * r - e) + a * (1 - 1 / a).ln()).exp() / (a - 1)
    assert delta <= min(Fraction(other), Fraction(1)) * (1 + Fraction(1, 10**9))


def test_no_loss_has_no_delta() -> None:
    assert delta_of_rho(Fraction(0), Fraction(1)) == 0
    assert delta_of_rho(Fraction(10**6), Fraction(0)) == 1
    with pytest.raises(ValueError, match="at least 0"):
        delta_of_rho(Fraction(-1), Fraction(1))
