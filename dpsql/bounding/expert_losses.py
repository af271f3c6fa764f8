"""The losses of experts in each round, as sums of integers on one grid.

DECIDE AMONG a, b FROM trades BY day         with a in [0, 10], b in [2, 5]

Sum(a, center=10) in [-10, 0]                by day: what a lost less than 10, row by row
Sum(b, center=10) in [-8, 0]

All losses are in steps of one size, so that sums can be compared, and less the highest loss that
any expert can have: what all experts have in common changes no choice. A row where an expert's loss
is NULL or NaN adds 0, so it counts as the highest loss.
"""

from __future__ import annotations

import math
from typing import Final

from dpsql.analysis.domains.column_domains import column_domains
from dpsql.analysis.domains.expression_domain import Environment
from dpsql.bounding.contribution_limit import limit_contributions
from dpsql.bounding.key_domain import key_domains, limit_cells
from dpsql.bounding.options import ContributionLimits
from dpsql.bounding.public_bounds import with_public_bounds
from dpsql.bounding.public_facts import Facts
from dpsql.bounding.randomized_response import estimate_true_answers
from dpsql.bounding.statistics.discretization import Grid, grid_of
from dpsql.errors import Refused, TooComplex
from dpsql.plan.aggregate import AggregateCall, AggregateFunction
from dpsql.plan.bounded_release.bounded_release import BoundedRelease, Contributions, KeyDomain
from dpsql.plan.bounded_release.estimator import EstimatedColumn, ExpertChoice
from dpsql.plan.bounded_release.statistic import Discretized, Statistic, Sum
from dpsql.plan.expression import Cast
from dpsql.plan.expression_text import describe
from dpsql.plan.operator import Release
from dpsql.plan.prune_columns import prune_release
from dpsql.schema.sql_type import Double

MAX_ROUNDS: Final = 10_000
"""The largest number of rounds: each expert's losses before each of them are held together."""


def is_decision(release: Release) -> bool:
    """Whether `release` chooses an expert in each of its groups."""
    return any(a.call.function is AggregateFunction.WEIGHTED_MAJORITY for a in release.aggregates)


def bound_decision(release: Release, facts: Facts, limits: ContributionLimits) -> BoundedRelease:
    """The decision `release` as integers within limits.

    Raises Refused for rounds that aren't listed, for fewer than two, and for losses without bounds
    or of randomised answers; TooComplex for more than MAX_ROUNDS rounds.
    """
    read = with_public_bounds(prune_release(release), facts)
    (output,), (key,) = read.aggregates, read.keys
    estimate_true_answers(read)  # refuses all that reads randomised answers, and is no sum
    below = column_domains(read.source)
    listed = key_domains(read.keys, read.source, read.key_source, below, facts)
    rounds = _rounds(read, tuple(map(_without_null, limit_cells(listed))))
    losses = _losses(output.call, below)
    statistics = tuple(dict.fromkeys(losses))
    terms = Contributions(read.source, read.keys, rounds, statistics)
    chain, reasons = limit_contributions(terms, facts, limits)
    estimator = ExpertChoice(tuple(statistics.index(loss) for loss in losses))
    notes = (*reasons, f"rounds are in the order of {describe(key.expression)}")
    return BoundedRelease(chain, (EstimatedColumn(output.column, estimator),), None, notes)


def _rounds(release: Release, listed: tuple[KeyDomain, ...]) -> tuple[KeyDomain, ...]:
    """The rounds, `listed` by public facts."""
    (key,) = release.keys
    text = describe(key.expression)
    if not listed:
        raise Refused(
            f"the rounds of a decision are listed, and {text} has no domain",
            at=key.at,
            hint=f"declare values or bounds of {text}, or write BY CASE, date_trunc or extract",
            note="weighted_majority",
        )
    count = math.prod(len(domain.cells) for domain in listed)
    if count < 2:
        raise Refused(
            f"{text} has one value, and a decision is made over two rounds or more",
            at=key.at,
            hint="choose BY another column",
            note="weighted_majority",
        )
    if count > MAX_ROUNDS:
        raise TooComplex(
            f"{text} has {count:,} values, and a decision has at most {MAX_ROUNDS:,} rounds",
            at=key.at,
            hint="write longer rounds, such as BY date_trunc('month', day)",
            note="weighted_majority",
        )
    return listed


def _without_null(listed: KeyDomain) -> KeyDomain:
    """The rounds but NULL, which is no time: its rows are dropped, as those of other rounds are."""
    return KeyDomain(listed.keys, tuple(cell for cell in listed.cells if None not in cell))


def _losses(call: AggregateCall, below: Environment) -> tuple[Statistic, ...]:
    """The statistic of each expert's losses, all in steps of one size."""
    for each in call.arguments:
        grid_of(each, below, call.at, squared=False)  # which refuses it as it is written
    # Of doubles steps are powers of two: the largest is a multiple of each, and ends that aren't
    # multiples of it are rounded outwards.
    doubles = [each if each.type == Double() else Cast(each, Double()) for each in call.arguments]
    own = [grid_of(each, below, call.at, squared=False) for each in doubles]
    step = max(grid.step for grid in own)
    grids = [
        Grid(math.floor(g.low * g.step / step), math.ceil(g.high * g.step / step), step)
        for g in own
    ]
    highest = max(grid.high for grid in grids)
    values: list[Discretized] = [
        grid.centered(argument, highest) for grid, argument in zip(grids, doubles, strict=True)
    ]
    return tuple(Statistic(Sum(value), None) for value in values)
