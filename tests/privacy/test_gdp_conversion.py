"""μ² to (ε, δ) and back: the closed form, dp-accounting, analysts who choose as they go."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import dp_accounting
import pytest
from dp_accounting import pld
from hypothesis import given
from hypothesis import strategies as st
from literature.gaussian import epsilon_of
from mpmath import mp, mpf
from privacy.laws import exact

from dpsql.privacy.accounting.gdp_conversion import (
    delta_of_mu_squared,
    epsilon_of_mu_squared,
    mu_squared_of_epsilon,
)
from dpsql.privacy.accounting.pure_conversion import mu_squared_of_pure
from dpsql.privacy.accounting.zcdp_conversion import rho_of_epsilon

losses = st.fractions(min_value=Fraction(1, 10**6), max_value=100)
deltas = st.sampled_from([Fraction(1, 10**power) for power in (1, 3, 6, 9, 15)])
MILLIONTH = Fraction(1, 10**6)


def curve(mu: mpf, epsilon: mpf) -> mpf:
    """δ of N(μ, 1) against N(0, 1) at ε, of either sign."""
    near, far = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    return (mp.erfc(near / mp.sqrt(2)) - mp.exp(epsilon) * mp.erfc(far / mp.sqrt(2))) / 2


@given(mu_squared=losses, epsilon=losses)
def test_delta_is_rounded_up_by_a_hair(mu_squared: Fraction, epsilon: Fraction) -> None:
    found = delta_of_mu_squared(mu_squared, epsilon)
    with mp.workdps(100):
        truth = curve(mp.sqrt(exact(mu_squared)), exact(epsilon))
        assert truth <= exact(found) <= truth * (1 + mpf("1e-12")) + mpf("1e-499")


@given(mu_squared=losses, delta=deltas)
def test_epsilon_is_the_least_but_for_a_hair(mu_squared: Fraction, delta: Fraction) -> None:
    epsilon = epsilon_of_mu_squared(mu_squared, delta)
    assert delta_of_mu_squared(mu_squared, epsilon) <= delta
    less = epsilon * (1 - Fraction(1, 10**12)) - Fraction(1, 10**15)
    assert less < 0 or delta_of_mu_squared(mu_squared, less) > delta


@given(epsilon=losses, delta=deltas)
def test_mu_squared_never_exceeds_epsilon_and_nearly_reaches_it(
    epsilon: Fraction, delta: Fraction
) -> None:
    mu_squared = mu_squared_of_epsilon(epsilon, delta)
    assert epsilon_of_mu_squared(mu_squared, delta) <= epsilon
    assert epsilon_of_mu_squared(mu_squared * (1 + Fraction(1, 10**9)), delta) > epsilon


@given(epsilon=losses, delta=deltas)
def test_gaussian_noise_is_never_worth_less_than_under_zcdp(
    epsilon: Fraction, delta: Fraction
) -> None:
    # Gaussian noise of ρ is √(2ρ)-GDP, and zCDP's conversion only bounds its curve.
    assert mu_squared_of_epsilon(epsilon, delta) > 2 * rho_of_epsilon(epsilon, delta)


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [
        (Fraction(1, 10**9), Fraction(1, 10**20)),
        (Fraction(1, 10**6), Fraction(1, 10**18)),
        (Fraction(500), MILLIONTH),
        (Fraction(500), Fraction(1, 10**18)),
        (Fraction(64), Fraction(999, 1000)),
        (Fraction(0), MILLIONTH),
        (Fraction(10**9), MILLIONTH),
    ],
)
def test_extreme_budgets_are_kept_to(epsilon: Fraction, delta: Fraction) -> None:
    mu_squared = mu_squared_of_epsilon(epsilon, delta)
    assert mu_squared > 0
    assert epsilon_of_mu_squared(mu_squared, delta) <= epsilon
    assert epsilon_of_mu_squared(mu_squared * (1 + Fraction(1, 10**9)), delta) > epsilon


@pytest.mark.parametrize("sigma", [2, 10, 50])
@pytest.mark.parametrize("count", [1, 100])
def test_dp_accounting_finds_the_same_epsilon(sigma: int, count: int) -> None:
    ours = float(epsilon_of_mu_squared(Fraction(count, sigma**2), MILLIONTH))
    assert ours == pytest.approx(epsilon_of(math.sqrt(count) / sigma, 1e-6), rel=1e-9)
    accountant = pld.PLDAccountant(value_discretization_interval=1e-4)
    accountant.compose(dp_accounting.GaussianDpEvent(sigma), count)
    assert ours == pytest.approx(accountant.get_epsilon(1e-6), rel=1e-2)


def test_no_loss_has_no_delta_and_losses_are_not_negative() -> None:
    assert delta_of_mu_squared(Fraction(0), Fraction(1)) == 0
    assert epsilon_of_mu_squared(Fraction(0), MILLIONTH) == 0
    assert epsilon_of_mu_squared(Fraction(1, 10**40), MILLIONTH) == 0
    for delta in (Fraction(0), Fraction(1), Fraction(-1)):
        with pytest.raises(ValueError, match="delta"):
            epsilon_of_mu_squared(Fraction(1), delta)
        with pytest.raises(ValueError, match="delta"):
            mu_squared_of_epsilon(Fraction(1), delta)
    for negative in (delta_of_mu_squared, epsilon_of_mu_squared, mu_squared_of_epsilon):
        with pytest.raises(ValueError, match="at least 0"):
            negative(Fraction(-1), Fraction(1, 10))


def adaptive(pures: list[float], spent: float, budget: float, odds: mpf) -> mpf:
    """The most that an analyst's answers differ, sup over S of P(S) - odds·Q(S), within `budget`.

    At each turn the analyst asks a randomised response of one of `pures`, if its μ² is left, or for
    Gaussian noise with all that is left, by whatever was answered before.
    """
    left = budget - spent
    best = max(1 - odds, mpf(0))
    if left > 0:
        best = max(best, curve(mp.sqrt(left), mp.log(odds)))
    for epsilon in pures:
        cost = float(mu_squared_of_pure(Fraction(epsilon)))
        if cost > left:
            continue
        p = 1 / (1 + mp.exp(-mpf(epsilon)))
        best = max(
            best,
            mp.fsum(
                one * adaptive(pures, spent + cost, budget, odds * other / one)
                for one, other in ((p, 1 - p), (1 - p, p))
            ),
        )
    return best


@pytest.mark.parametrize(
    ("budget", "epsilon"), list(product([0.3, 1.0, 4.0], [0.0, 0.3, 1.0, 3.0]))
)
def test_no_choice_as_one_goes_tells_more_than_the_sum(budget: float, epsilon: float) -> None:
    with mp.workdps(30):
        pures = [math.sqrt(budget * part * 2 / math.pi) for part in (0.2, 0.3, 0.45)]
        found = adaptive(pures, 0.0, budget, mp.exp(mpf(epsilon)))
        bound = delta_of_mu_squared(Fraction(budget), Fraction(epsilon))
        assert found <= exact(bound) * (1 + mpf("1e-20"))
