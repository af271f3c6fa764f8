"""Losses, their sums and their conversions."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

from dp_accounting import pld
from literature.facts import Given, fact
from literature.gaussian import epsilon_of, mu_of
from scipy import optimize

from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.accounting.zcdp_conversion import delta_of_rho, epsilon_of_rho, rho_of_epsilon
from dpsql.privacy.mechanisms import DiscreteGaussian, DiscreteLaplace
from dpsql.privacy.mechanisms.selection.exponential import Exponential, epsilon_of_choice
from dpsql.privacy.mechanisms.selection.permute_and_flip import rho_of_pure


def tight(rho: float | Fraction, delta: float) -> float:
    return float(epsilon_of_rho(Fraction(rho), Fraction(str(delta))))


def simple(rho: float, delta: float) -> float:
    return rho + 2 * math.sqrt(rho * math.log(1 / delta))


@fact("zcdp.convert.*")
def conversions(given: Given) -> dict[str, float]:
    rho, delta = given["rho"], given["delta"]
    return {
        "simple": simple(rho, delta),
        "tight": tight(rho, delta),
        "exact_if_gaussian": epsilon_of(math.sqrt(2 * rho), delta),
    }


@fact("zcdp.delta_from_rho_eps")
def delta_of(given: Given) -> float:
    return float(delta_of_rho(Fraction(str(given["rho"])), Fraction(given["eps"])))


@fact("zcdp.rho_budget_for_eps1_delta1e-6")
def budget(given: Given) -> dict[str, float]:
    epsilon, delta = given["eps"], given["delta"]
    mu = mu_of(epsilon, delta)
    return {
        "simple": float(optimize.brentq(lambda r: simple(r, delta) - epsilon, 1e-9, 1, xtol=1e-15)),
        "tight": float(rho_of_epsilon(Fraction(epsilon), Fraction(str(delta)))),
        "gdp_mu": mu,
        "gdp_rho": mu**2 / 2,
    }


@fact("zcdp.of_pure.*")
def rho_of(given: Given) -> dict[str, float]:
    epsilon = Fraction(str(given["eps"]))
    choice = Exponential(epsilon, spread=1).rho()
    assert epsilon * (1 - Fraction(1, 10**25)) <= epsilon_of_choice(choice) <= epsilon
    fine = DiscreteLaplace(10**6 / epsilon).rho(10**6)
    laplace = given["eps"] + math.expm1(-given["eps"])
    assert math.isclose(float(fine), laplace, rel_tol=1e-5)
    return {
        "classic": given["eps"] ** 2 / 2,
        "tight_any_pure": float(rho_of_pure(epsilon)),
        "laplace": laplace,
        "exp_mech": float(choice),
    }


@fact("zcdp.dlaplace_integer_sens")
def rho_of_laplace(given: Given) -> float:
    return float(DiscreteLaplace(Fraction(given["b"])).rho(given["sens"]))


@fact("zcdp.laplace_beats_gauss_above_eps")
def crossing(_: Given) -> list[float]:
    epsilon = optimize.brentq(
        lambda e: e * e - 4 * (e + math.expm1(-e)), 1, 10, xtol=1e-14, rtol=1e-14
    )
    return [epsilon, epsilon + math.expm1(-epsilon)]


@fact("compose.laplace.*")
def composed(given: Given) -> dict[str, float]:
    each, n, delta = given["eps0"], given["n"], given["delta"]
    root = each * math.sqrt(2 * n * math.log(1 / delta))
    losses = [PrivacyLoss(Accounting.PURE, Fraction(str(each)))] * n
    rho = n * Fraction(str(each)) ** 2 / 2
    return {
        "basic": float(sum(losses[1:], losses[0]).amount),
        "advanced_DRV": root + n * each * math.expm1(each),
        "filter_whitehouse": root + n * each**2 / 2,
        "zcdp_tight": tight(rho, delta),
    }


@fact("compose.expmech.*")
def choices(given: Given) -> float:
    one = Exponential(Fraction(str(given["eps0"])), spread=2).loss(Accounting.ZCDP)
    return tight(given["n"] * one.amount, given["delta"])


@fact("compose.gauss.*")
def gaussians(given: Given) -> float:
    return epsilon_of(math.sqrt(given["n"]) / given["sigma"], given["delta"])


@fact("compose.pld.*")
def by_loss_distribution(given: Given) -> dict[str, float]:
    law = pld.privacy_loss_distribution
    step = given["discretization"]
    return {
        name: one.self_compose(given["n"]).get_epsilon_for_delta(given["delta"])
        for name, one in (
            (
                "laplace",
                law.from_laplace_mechanism(1 / given["eps0"], value_discretization_interval=step),
            ),
            (
                "discrete_laplace_or_RR",
                law.from_discrete_laplace_mechanism(
                    given["eps0"], sensitivity=1, value_discretization_interval=step
                ),
            ),
        )
    }


@cache
def laplace_scale(n: int, epsilon: float, delta: float) -> float:
    """The scale at which n Laplace counts cost (ε, δ) by privacy loss distributions."""

    def excess(scale: float) -> float:
        one = pld.privacy_loss_distribution.from_laplace_mechanism(
            scale, value_discretization_interval=1e-4
        )
        return float(one.self_compose(n).get_epsilon_for_delta(delta)) - epsilon

    low = math.sqrt(n) * 0.9
    return float(optimize.brentq(excess, low, n * 1.1 + math.sqrt(n) * 4, xtol=1e-3))


@fact("budget1.noise_sd_per_count.*")
def deviations(given: Given) -> dict[str, float]:
    epsilon, delta, n = given["eps"], given["delta"], given["n"]
    rho = rho_of_epsilon(Fraction(epsilon), Fraction(str(delta))) / n
    gaussian = DiscreteGaussian(1 / (2 * rho))
    assert gaussian.rho(l2_squared=1) == rho
    pure = optimize.brentq(lambda e: e * math.tanh(e / 2) - float(rho), 1e-9, 10)
    laplace = optimize.brentq(lambda e: e + math.expm1(-e) - float(rho), 1e-9, 10)
    assert laplace > pure
    return {
        "laplace_basic": math.sqrt(2) * n / epsilon,
        "laplace_zcdp": math.sqrt(2 / (2 * float(rho))),
        "laplace_pld": math.sqrt(2) * laplace_scale(n, epsilon, delta),
        "analytic_gauss_basic": 1 / mu_of(epsilon / n, delta / n),
        "gauss_zcdp_tight": math.sqrt(gaussian.variance),
        "gauss_exact": math.sqrt(n) / mu_of(epsilon, delta),
    }


@fact("parallel.add_remove")
def in_parallel(given: Given) -> float:
    return float(max(given["eps"]))


@fact("parallel.change_one")
def in_parallel_when_rows_change(given: Given) -> float:
    # A changed record leaves one part and enters another.
    return float(sum(sorted(given["eps"])[-2:]))


@fact("parallel.l0")
def in_several_parts(given: Given) -> float:
    return float(sum(sorted(given["eps_each"])[-given["l0"] :]))


@fact("sequential")
def in_sequence(given: Given) -> float:
    losses = [PrivacyLoss(Accounting.PURE, Fraction(str(e))) for e in given["eps"]]
    return float(sum(losses[1:], losses[0]).amount)


@fact("group_privacy")
def of_a_group(given: Given) -> dict[str, float]:
    k, epsilon = given["k"], given["eps"]
    laplace = DiscreteLaplace(1 / Fraction(epsilon))
    gaussian = DiscreteGaussian(1 / (2 * Fraction(str(given["rho"]))))
    grown = math.expm1(k * epsilon) / math.expm1(epsilon)
    return {
        "eps": float(laplace.epsilon(l1=k)),
        "delta": given["delta"] * grown,
        "rho": float(gaussian.rho(l2_squared=k * k)),
    }


@fact("rwm.eta_and_regret")
def learning_rate(given: Given) -> list[float]:
    eta = math.sqrt(math.log(given["k"]) / given["T"])
    return [eta, eta + math.log(given["k"]) / (eta * given["T"])]


def private_rate(given: Given) -> float:
    return float(given["eps"] / math.sqrt(32 * given["T"] * math.log(1 / given["delta"])))


@fact("rwm.dp_eta")
def private_learning_rate(given: Given) -> float:
    return private_rate(given)


@fact("rwm.dp_via_bounded_range")
def private_learning(given: Given) -> list[float]:
    step = Exponential(2 * Fraction(private_rate(given)), spread=1)
    rho = float(given["T"] * step.rho())
    return [rho, simple(rho, given["delta"])]
