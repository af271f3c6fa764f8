"""Discrete noise, the analytic Gaussian, noise splits and the errors that are shown."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

import dp_accounting
import pytest
from literature.facts import Given, fact
from literature.gaussian import hockey_stick, mu_of

from dpsql.privacy.allocation.noise_allocation import split_gaussian, split_laplace
from dpsql.privacy.mechanisms import DiscreteGaussian, DiscreteLaplace

CONFIDENCE = Fraction(95, 100)


def tails(mechanism: DiscreteLaplace | DiscreteGaussian) -> list[float]:
    """P(noise >= k) for k from 1 on, as far as it matters."""
    found, k = list[float](), 1
    while not found or found[-1] > 1e-25:
        found.append(float(mechanism.tail(k)))
        k += 1
    return found


def variance(above: list[float]) -> float:
    return sum(2 * (2 * k - 1) * tail for k, tail in enumerate(above, start=1))


@fact("dlaplace.*")
def discrete_laplace(given: Given) -> dict[str, float]:
    mechanism = DiscreteLaplace(Fraction(given["scale"]))
    above = tails(mechanism)
    assert float(mechanism.variance) == pytest.approx(variance(above), rel=1e-12)
    return {
        "var": float(mechanism.variance),
        "p0": 1 - 2 * above[0],
        "mean_abs": 2 * sum(above),
        "radius95": mechanism.half_width(CONFIDENCE),
    }


@fact("dgauss.sigma2_*")
def discrete_gaussian(given: Given) -> dict[str, float]:
    above = tails(DiscreteGaussian(Fraction(given["sigma2"])))
    return {"var": variance(above), "p0": 1 - 2 * above[0]}


@fact("dgauss.delta_at_agm_sigma")
def discrete_delta(given: Given) -> float:
    # P(x) - e^ε·P(x - 1) is positive from one x down: a difference of two tails.
    mechanism = DiscreteGaussian(Fraction(given["sigma"]) ** 2)
    steps = math.floor(float(mechanism.variance) * given["eps"] + 0.5)
    near, far = mechanism.tail(steps), mechanism.tail(steps + 1)
    return max(
        float(a) - math.exp(given["eps"]) * float(b)
        for a, b in ((near, far), (far, mechanism.tail(steps + 2)))
    )


@fact("agm.sigma.*")
def analytic_gaussian(given: Given) -> float:
    sigma = given["l2"] / mu_of(given["eps"], given["delta"])
    oracle = given["l2"] * dp_accounting.get_sigma_gaussian(given["eps"], given["delta"])
    assert sigma == pytest.approx(oracle, rel=1e-8)
    return float(sigma)


def classical(given: Given) -> float:
    return float(math.sqrt(2 * math.log(1.25 / given["delta"])) / given["eps"])


@fact("gauss.classical_sigma")
def classical_deviation(given: Given) -> float:
    return float(given["l2"] * classical(given))


@fact("gauss.classical_invalid_at_eps10")
def classical_fails(given: Given) -> list[float]:
    delta = hockey_stick(1 / classical(given), given["eps"])
    assert delta > given["delta"]
    return [classical(given), delta]


@fact("gauss.classical_wasteful_at_eps.1")
def classical_wastes(given: Given) -> list[float]:
    wasted = classical(given) * mu_of(given["eps"], given["delta"])
    return [wasted, hockey_stick(1 / classical(given), given["eps"])]


@fact("noise.laplace_gauss_crossover_l0")
def crossover(given: Given) -> float:
    return float((given["eps"] / mu_of(given["eps"], given["delta"])) ** 2 / 2)


@fact("split.gauss")
def gaussian_split(given: Given) -> dict[str, object]:
    deltas, costs, rho = given["delta_j"], given["cost"], given["rho"]
    reach = sum(d * math.sqrt(c) for d, c in zip(deltas, costs, strict=True))
    best = [d / math.sqrt(c) * reach / (2 * rho) for d, c in zip(deltas, costs, strict=True)]
    ours = split_gaussian(deltas, [Fraction(c) for c in costs], 1, Fraction(rho))
    for mechanism, wanted in zip(ours, best, strict=True):
        assert wanted * (1 - 1e-9) <= mechanism.variance <= wanted * (1 + 2**-14)
    equal = sum(c * d * d * len(deltas) / (2 * rho) for d, c in zip(deltas, costs, strict=True))
    total = sum(c * v for c, v in zip(costs, best, strict=True))
    return {"sigma2": best, "total": total, "equal_total": equal}


@fact("split.laplace")
def laplace_split(given: Given) -> dict[str, object]:
    deltas, costs, epsilon = given["delta_j"], given["cost"], given["eps"]
    reach = sum(d ** (2 / 3) * c ** (1 / 3) for d, c in zip(deltas, costs, strict=True))
    best = [(d / c) ** (1 / 3) * reach / epsilon for d, c in zip(deltas, costs, strict=True)]
    ours = split_laplace(deltas, [Fraction(c) for c in costs], 1, Fraction(epsilon))
    for mechanism, wanted in zip(ours, best, strict=True):
        assert wanted * (1 - 1e-9) <= mechanism.scale <= wanted * (1 + 2**-14)
    total = sum(2 * c * b * b for c, b in zip(costs, best, strict=True))
    even = [len(deltas) * d / epsilon for d in deltas]
    equal = sum(2 * c * b * b for c, b in zip(costs, even, strict=True))
    return {"b": best, "total_var": total, "equal_total_var": equal}


@fact("sens.sum_alone_centring_no_gain")
def centring_a_sum(given: Given) -> list[float]:
    low, high, rho = given["L"], given["U"], given["rho"]
    centre, radius = Fraction(low + high, 2), Fraction(high - low, 2)
    raw = Fraction(max(abs(low), abs(high))) ** 2 / (2 * rho)
    # Centred sum and count, the count's error weighing centre²; our split, rounded up by 2^-14.
    ours = split_gaussian([int(radius), 1], [Fraction(1), centre**2], 1, Fraction(rho))
    total = ours[0].variance + centre**2 * ours[1].variance
    best = (radius + abs(centre)) ** 2 / (2 * rho)
    assert best <= total * (1 + Fraction(1, 10**9))
    assert total <= best * (1 + Fraction(1, 2**14))
    return [float(raw), float(best)]


@fact("avg.sd_midpoint_vs_raw")
def mean_deviations(given: Given) -> list[float]:
    low, high, count, mean = given["L"], given["U"], given["N"], given["avg"]
    centre, radius = (low + high) / 2, (high - low) / 2
    of_one = math.sqrt(1 / (2 * given["rho_each"]))
    around = [(radius, mean - centre), (max(abs(low), abs(high)), mean)]
    return [of_one * math.sqrt(reach**2 + off**2) / count for reach, off in around]


@fact("ci.laplace95")
def laplace_interval(given: Given) -> float:
    width = given["scale"] * math.log(20)
    assert abs(DiscreteLaplace(Fraction(given["scale"])).half_width(CONFIDENCE) - width) <= 1
    return float(width)


@fact("ci.gauss95")
def gaussian_interval(given: Given) -> float:
    width = given["sigma"] * NormalDist().inv_cdf(0.975)
    ours = DiscreteGaussian(Fraction(given["sigma"]) ** 2).half_width(CONFIDENCE)
    assert abs(ours - width) <= 1
    return float(width)


@fact("ci.bonferroni_laplace")
def joint_interval(given: Given) -> float:
    width = given["scale"] * math.log(given["cells"] / given["alpha"])
    each = 1 - Fraction(str(given["alpha"])) / given["cells"]
    assert abs(DiscreteLaplace(Fraction(given["scale"])).half_width(each) - width) <= 1
    return float(width)


@fact("ci.fieller_avg")
def fieller(given: Given) -> list[float]:
    s, n, z = given["S_centred"], given["N"], given["z"]
    a = n**2 - z**2 * given["sd_N"] ** 2
    b, c = -2 * s * n, s**2 - z**2 * given["sd_S"] ** 2
    root = math.sqrt(b * b - 4 * a * c)
    return [given["mid"] + (-b - root) / (2 * a), given["mid"] + (-b + root) / (2 * a)]


@fact("bias.clip_at_zero")
def clipping_bias(given: Given) -> list[float]:
    return [given["laplace_b"] / 2, given["gauss_sigma"] / math.sqrt(2 * math.pi)]
