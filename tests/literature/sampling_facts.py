"""Sensitivity sampling (Rubinstein & Aldà 2017) and its heights: no privacy, only figures."""

from __future__ import annotations

import math

from literature.facts import Given, fact
from scipy import optimize, special, stats


def gap(given: Given) -> float:
    return float((given["mu_M"] - given["mu_F"]) / math.sqrt(2 * pooled(given)))


def pooled(given: Given) -> float:
    return float(given["sigma_M"] ** 2 + given["sigma_F"] ** 2)


def covered(given: Given, level: float) -> float:
    """P(|h - h'| <= level) of two heights from the mixture."""
    same = [
        2 * stats.norm.cdf(level / (math.sqrt(2) * given[sigma])) - 1
        for sigma in ("sigma_M", "sigma_F")
    ]
    apart = stats.norm(given["mu_M"] - given["mu_F"], math.sqrt(pooled(given)))
    return float(sum(same) / 4 + (apart.cdf(level) - apart.cdf(-level)) / 2)


@fact("height.m")
def standardised_gap(given: Given) -> float:
    return gap(given)


@fact("height.expected_sensitivity_cm")
def expected(given: Given) -> float:
    m = gap(given)
    spread = given["sigma_M"] + given["sigma_F"]
    spread += math.sqrt(2 * pooled(given)) * (
        math.exp(-m * m) + math.sqrt(math.pi) * m * math.erf(m)
    )
    return float(spread / (2 * math.sqrt(math.pi)))


@fact("height.mixture_sd")
def deviation(given: Given) -> float:
    return math.sqrt(pooled(given) / 2 + (given["mu_M"] - given["mu_F"]) ** 2 / 4)


@fact("height.sensitivity_levels")
def levels(given: Given) -> list[float]:
    return [expected(given) + steps * deviation(given) for steps in range(3)]


@fact("height.coverage_of_levels")
def coverages(given: Given) -> list[float]:
    return [covered(given, level) for level in levels(given)]


@fact("height.coverage_of_47.38")
def coverage(given: Given) -> float:
    return covered(given, given["level"])


@fact("height.q95_abs_difference")
def high_quantile(given: Given) -> float:
    return float(optimize.brentq(lambda level: covered(given, level) - 0.95, 0, 100, xtol=1e-12))


def sample_size(gamma: float, branch: int) -> tuple[float, int, int]:
    """ρ, m and k for confidence gamma, by this branch of Lambert's W."""
    rho = math.exp(special.lambertw(-gamma / (2 * math.sqrt(math.e)), branch).real + 0.5)
    m = math.ceil(math.log(1 / rho) / (2 * (gamma - rho) ** 2))
    k = math.ceil(m * (1 - gamma + rho + math.sqrt(math.log(1 / rho) / (2 * m))))
    return rho, m, k


@fact("sampler.rubinstein.rho")
def rho(given: Given) -> float:
    return sample_size(given["gamma"], -1)[0]


@fact("sampler.rubinstein.m")
def m(given: Given) -> int:
    return sample_size(given["gamma"], -1)[1]


@fact("sampler.rubinstein.k")
def k(given: Given) -> int:
    return sample_size(given["gamma"], -1)[2]


@fact("sampler.wrong_branch.m")
def wrong_m(given: Given) -> int:
    # What a published implementation computes; the right branch gives another number.
    wrong = sample_size(given["gamma"], given["branch"])[1]
    assert wrong != sample_size(given["gamma"], -1)[1]
    return wrong
