"""Private selection, quantile scores, and which groups may appear."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import opendp.prelude as dp
from literature.facts import Given, fact
from literature.gaussian import hockey_stick
from privacy.laws import exponential_law, permute_and_flip_law
from privacy.optimal_selection import OptimalSelection
from scipy import stats

from dpsql.privacy.accounting.loss import Accounting
from dpsql.privacy.mechanisms import DiscreteGaussian, DiscreteLaplace
from dpsql.privacy.mechanisms.selection.exponential import Exponential
from dpsql.privacy.mechanisms.selection.permute_and_flip import PermuteAndFlip
from dpsql.privacy.mechanisms.selection.quantile import Quantiles
from dpsql.privacy.mechanisms.selection.quantile_range import QuantileRange
from dpsql.privacy.partition_selection import selection_delta, threshold


@fact("em.0_*")
def exponential(given: Given) -> list[float]:
    mechanism = Exponential(Fraction(given["eps"]), spread=2 * given["sens"])
    return list(map(float, exponential_law([-s for s in given["scores"]], mechanism.rate)))


@fact("pf.0_*")
def permute_and_flip(given: Given) -> list[float]:
    mechanism = PermuteAndFlip(Fraction(given["eps"]), spread=2 * given["sens"])
    return list(map(float, permute_and_flip_law([-s for s in given["scores"]], mechanism.rate)))


@fact("em.utility_gap")
def utility_gap(given: Given) -> float:
    mechanism = Quantiles((Fraction(1, 2),), Fraction(given["eps"]), 1, Accounting.ZCDP)
    return float(mechanism.rank_error(given["candidates"], 1 - Fraction(str(given["beta"]))))


def moves_of(alpha: float) -> list[Fraction]:
    """How one row more moves the loss of each cut point, in rows, for rows far from it or near."""
    target = Fraction(str(alpha))
    counts = [0, 0, 0, 20, 0] if alpha <= 0.5 else [0, 20, 0, 0, 0]
    more = [count + (cell == (0 if alpha <= 0.5 else 4)) for cell, count in enumerate(counts)]
    # An empty cell after the others begins where the last one ends.
    table = np.array([[*counts, 0], [*more, 0]])
    part = QuantileRange(table, 1, np.zeros(2, dtype=int), np.full(2, 6))
    losses = [part.slice_losses(np.full(2, cell), target) for cell in range(6)]
    changes = [int(loss[1, 0] - loss[0, 0]) for loss in losses]
    return [Fraction(change, target.denominator) for change in changes]


@fact("em.quantile_range_is_2delta")
def score_ranges(given: Given) -> list[float]:
    return [float(max(moves_of(a)) - min(moves_of(a))) for a in given["alpha"]]


@fact("quantile.score_sensitivity")
def score_sensitivities(given: Given) -> list[float]:
    return [float(max(map(abs, moves_of(alpha)))) for alpha in given["alpha"]]


def point_losses(data: list[int], candidates: list[int], alpha: Fraction) -> list[Fraction]:
    """|(d - a)·#(x < c) - a·#(x > c)|: values next to a cut point lie on neither side of it.

    Each candidate that is a value is a cell of its own, and its loss the mean over its ends.
    """
    found = []
    for candidate in candidates:
        counts = [
            sum(x < candidate for x in data),
            sum(x == candidate for x in data),
            sum(x > candidate for x in data),
        ]
        # The cell of what is above begins where the candidate's ends.
        part = QuantileRange(np.array([counts]), 1, np.array([0]), np.array([3]))
        start, end = (int(part.slice_losses(np.array([cell]), alpha)[0, 0]) for cell in (1, 2))
        found.append(Fraction(start + end, 2))
    return found


@fact("quantile.grid_scores")
def grid_scores(given: Given) -> list[float]:
    losses = point_losses(given["data"], given["candidates"], Fraction(given["alpha"]))
    return [-float(loss) / 2 for loss in losses]


@fact("quantile.grid_em_prob_50")
def probability_of_the_median(given: Given) -> float:
    losses = point_losses(list(range(1, 101)), list(range(0, 101, 10)), Fraction(1, 2))
    # Losses in halves of a rank, so the sensitivity of ½ is one.
    rate = Fraction(str(given["eps"])) / (2 * Fraction(given["sens"]) * 2)
    return float(exponential_law([int(2 * loss) for loss in losses], rate / 2)[5])


@fact("opendp.quantile_integer_scores")
def integer_losses(given: Given) -> dict[str, object]:
    alpha = Fraction(given["alpha"])
    losses = point_losses(given["data"], given["candidates"], alpha)
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.symmetric_distance()
    oracle = dp.t.make_quantile_score_candidates(*space, given["candidates"], alpha=given["alpha"])
    assert oracle(given["data"]) == losses
    most = max(alpha.numerator, alpha.denominator - alpha.numerator)
    assert oracle.map(1) == most
    return {"losses": list(map(int, losses)), "sens": most}


@fact("partition.pi_opt.*")
def kept(given: Given) -> list[float]:
    delta = Fraction(str(given["delta"]))
    selection = OptimalSelection.of_groups(Fraction(given["eps"]), delta, given["l0"])
    return [float(selection.probability(units)) for units in given["n"]]


@fact("partition.first_certain_n.*")
def certain_from(given: Given) -> int:
    return OptimalSelection(Fraction(given["eps"]), Fraction(str(given["delta"]))).certain_from


@fact("threshold.laplace.*")
def laplace_threshold(given: Given) -> float:
    each = -math.expm1(math.log1p(-given["delta"]) / given["l0"])
    scale = given["l0"] / given["eps"]
    return float(1 + scale * math.log(1 / (2 * each)))


@fact("threshold.dlaplace.*")
def discrete_laplace_threshold(given: Given) -> int:
    mechanism = DiscreteLaplace(Fraction(given["l0"], given["eps"]))
    delta = Fraction(str(given["delta"]))
    return threshold(mechanism, groups=given["l0"], per_group=1, delta=delta)


@fact("threshold.gauss.*")
def gaussian_threshold(given: Given) -> list[float]:
    import dp_accounting

    of_one = dp_accounting.get_sigma_gaussian(given["eps"], given["delta_noise"])
    sigma = math.sqrt(given["l0"]) * of_one
    each = -math.expm1(math.log1p(-given["delta_tau"]) / given["l0"])
    tau = 1 + sigma * float(stats.norm.isf(each))
    mechanism = DiscreteGaussian(Fraction(sigma) ** 2)
    ours = threshold(
        mechanism, groups=given["l0"], per_group=1, delta=Fraction(str(given["delta_tau"]))
    )
    assert tau < ours < tau + 1.5  # noise in integers, the atom at the threshold counted
    return [sigma, tau]


@fact("threshold.gshm_exact_delta*")
def gaussian_threshold_delta(given: Given) -> float:
    sigma, groups = given["sigma"], given["l0"]
    hidden = float(stats.norm.cdf((given["tau"] - 1) / sigma))
    worst = 0.0
    for known in range(groups + 1):
        new = groups - known
        mu, log_hidden = math.sqrt(known) / sigma, new * math.log(hidden)
        added = 1 - hidden**new + hidden**new * hockey_stick(mu, given["eps"] - log_hidden)
        worst = max(worst, added, hockey_stick(mu, given["eps"] + log_hidden))
    # Ours is of noise in integers, by way of zCDP: above the least there is, but not far.
    mechanism = DiscreteGaussian(Fraction(sigma) ** 2)
    ours = selection_delta(
        mechanism.tail(given["tau"] - 1),
        groups=groups,
        rho=mechanism.rho(l2_squared=groups),
        rho_per_group=mechanism.rho(l2_squared=1),
        epsilon=Fraction(given["eps"]),
    )
    assert worst < ours < 6 * worst
    return worst


@fact("threshold.opendp_gauss")
def opendp_threshold(given: Given) -> list[float]:
    mechanism = DiscreteGaussian(Fraction(given["scale"]) ** 2)
    rho = mechanism.rho(l2_squared=given["l0"] * given["linf"] ** 2)
    # Continuous noise, as in the figure; the discrete tail from the same τ on is next to it.
    continuous = float(stats.norm.sf((given["threshold"] - given["linf"]) / given["scale"]))
    ours = float(mechanism.tail(given["threshold"] - given["linf"] + 1))
    assert continuous / 3 < ours < continuous
    return [float(rho), continuous]


@fact("approx_bounds.threshold")
def bounds_threshold(given: Given) -> float:
    each = -math.expm1(math.log(given["success"]) / (given["bins"] - 1))
    return float(-math.log(2 * each) / given["eps"])


@fact("r2t.penalty")
def race_to_the_top(given: Given) -> dict[str, float]:
    levels = math.log2(given["GS"])
    penalty = levels * math.log(levels / given["beta"]) / given["eps"]
    return {
        "laplace_scale_over_tau": levels / given["eps"],
        "penalty_over_tau": penalty,
        "error_bound_over_tau_star": 4 * penalty,
    }
