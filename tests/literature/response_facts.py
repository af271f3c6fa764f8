"""Randomised response, by dpsql's own."""

from __future__ import annotations

import math
from fractions import Fraction

from literature.facts import Given, fact
from privacy.respondents import of_truth

from dpsql.privacy.mechanisms.randomized_response import RandomizedResponse


def of_epsilon(given: Given, categories: int = 2) -> RandomizedResponse:
    return RandomizedResponse.of_epsilon(Fraction(str(given["eps"])), categories)


@fact("rr.two_coins.epsilon")
def two_coins(given: Given) -> float:
    return float(of_truth(Fraction(given["p_truth"])).epsilon)


@fact("rr.two_coins.debiased")
def debiased(given: Given) -> float:
    mechanism = of_truth(Fraction(given["p"]))
    return float(mechanism.estimate(round(1000 * given["observed_yes_rate"]), 1000)) / 1000


@fact("rr.binary.prob_truth")
def truth(given: Given) -> float:
    return float(of_epsilon(given).p)


@fact("rr.binary.count_sd")
def count_deviation(given: Given) -> float:
    return math.sqrt(of_epsilon(given).variance(0, given["n"]))


@fact("rr.kary.p_q")
def probabilities(given: Given) -> list[float]:
    mechanism = of_epsilon(given, given["k"])
    return [float(mechanism.p), float(mechanism.q)]


@fact("rr.kary_freq_sd")
def frequency_deviation(given: Given) -> float:
    mechanism = of_epsilon(given, given["k"])
    deviation = math.sqrt(mechanism.variance(round(given["f"] * given["n"]), given["n"]))
    return float(deviation / given["n"])
