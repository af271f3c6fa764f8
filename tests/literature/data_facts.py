"""Counts of public datasets, and the noise proposed for them."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from functools import cache
from typing import Any

from literature.facts import Given, fact
from scipy import stats

from dpsql.privacy.mechanisms import DiscreteLaplace


@cache
def penguins() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it imports pkg_resources, which setuptools deprecates
        import palmerpenguins

        return palmerpenguins.load_penguins()


@cache
def diamonds() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from plotnine.data import diamonds

        return diamonds


@fact(
    "data.penguins.dropna.Adelie", "data.penguins.dropna.Chinstrap", "data.penguins.dropna.Gentoo"
)
def complete_penguins(given: Given) -> int:
    species = given["name"].rpartition(".")[2]
    return int((penguins().dropna()["species"] == species).sum())


@fact("data.penguins.Adelie_without_dropna")
def all_adelies(_: Given) -> int:
    return int((penguins()["species"] == "Adelie").sum())


@fact("data.penguins.rows")
def penguin_rows(_: Given) -> list[int]:
    return [len(penguins()), len(penguins().dropna())]


@fact("data.diamonds.rows")
def diamond_rows(_: Given) -> int:
    return len(diamonds())


@fact("data.diamonds.carat_bins")
def carat_bins(_: Given) -> list[int]:
    bins = [math.ceil(carat) for carat in diamonds()["carat"]]
    return [bins.count(number) for number in range(1, 7)]


@fact("laplace.scale.diamonds_*")
def scale_of_bins(given: Given) -> float:
    # One vector release: a diamond is in one bin, so six counts cost what one does.
    epsilon = Fraction(str(given["eps"])) / given.get("queries", 1)
    mechanism = DiscreteLaplace(1 / epsilon)
    assert mechanism.epsilon(l1=1) == epsilon
    return float(mechanism.scale)


@fact("small_business.rel_error")
def relative_errors(given: Given) -> list[float]:
    # E|noise| is the scale, for continuous noise, whichever state is counted.
    return [1 / given["eps"] / count for count in given["n"]]


@fact("small_business.sum_scale")
def scale_of_sum(given: Given) -> float:
    largest = max(abs(given["lo"]), abs(given["hi"]))
    mechanism = DiscreteLaplace(largest / Fraction(str(given["eps"])))
    assert mechanism.epsilon(l1=largest) == Fraction(str(given["eps"]))
    return float(mechanism.scale)


@fact("small_business.expected_total")
def expected_total(given: Given) -> float:
    law = stats.poisson(given["lambda"])
    capped = sum(min(k, given["cap"]) * law.pmf(k) for k in range(200))
    return float(given["n"] * capped)


@fact("eps_table.round_exp_*")
def rounded_odds(given: Given) -> int:
    return round(math.exp(given["eps"]))
