"""The conditions of an alert, as sums of integers that are compared with constants.

ALERT WHEN count(*) > 100, sum(cost) < 5.25 FROM visits BY ward      with cost a decimal(10,2)

Sum(1) >= 101            by ward: what is summed, and what it has to be at least
-Sum(cost) >= -524       in steps of 0.01

Each condition is of one group, and every unit's rows move it by what they are in that group: in how
many groups a unit is makes no difference to what an alert loses, so that none of its groups is left
out. Its rows in each are limited as ever.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from dpsql.analysis.domains.column_domains import column_domains
from dpsql.bounding.contribution_limit import contribution_bounds, limit_contributions
from dpsql.bounding.key_domain import key_domains, limit_cells
from dpsql.bounding.options import ContributionLimits
from dpsql.bounding.public_bounds import with_public_bounds
from dpsql.bounding.public_facts import Facts
from dpsql.bounding.randomized_response import estimate_true_answers
from dpsql.bounding.statistics.discretization import grid_of
from dpsql.errors import InternalError, Refused, TooComplex
from dpsql.plan.aggregate import AggregateFunction
from dpsql.plan.bounded_release.bounded_release import (
    BoundedRelease,
    ByDomain,
    ByUnit,
    ClampPerGroup,
    Contributions,
    KeyDomain,
    Limited,
    LimitGroups,
    PerUnitGroup,
)
from dpsql.plan.bounded_release.estimator import (
    AlertCondition,
    EstimatedColumn,
    NamedCondition,
)
from dpsql.plan.bounded_release.statistic import Statistic, Sum
from dpsql.plan.expression import Compare, Comparison, Literal
from dpsql.plan.expression_text import describe
from dpsql.plan.operator import Release
from dpsql.plan.prune_columns import prune_release

MAX_GROUPS: Final = 10_000
"""The largest number of groups whose conditions are tried one after the other."""


def is_alert(release: Release) -> bool:
    """Whether `release` names the conditions that hold."""
    return any(a.call.function is AggregateFunction.ABOVE_THRESHOLD for a in release.aggregates)


def bound_alert(
    release: Release, facts: Facts, limits: ContributionLimits, *, is_of_sample: bool
) -> BoundedRelease:
    """The alert `release` as integers within limits.

    Raises Refused for groups that aren't listed, for sums without bounds, of randomised answers,
    or of a sample of the units; TooComplex for more than MAX_GROUPS groups.
    """
    if is_of_sample:
        raise Refused(
            "a threshold of a sample isn't one of all units",
            hint="ask SELECT count(*): each answer is scaled to all units",
            note="sampling",
        )
    read = with_public_bounds(prune_release(release), facts)
    (output,) = read.aggregates
    estimate_true_answers(read)  # refuses all that reads randomised answers, and is no sum
    below = column_domains(read.source)
    listed = key_domains(read.keys, read.source, read.key_source, below, facts)
    domains = _groups(read, limit_cells(listed))
    *compared, firings = output.call.arguments
    if not isinstance(firings, Literal) or not isinstance(firings.value, int):
        raise InternalError("an alert has no number of firings")
    statistics: list[Statistic] = []
    conditions: list[AlertCondition] = []
    for condition in compared:
        if not isinstance(condition, Compare):
            raise InternalError("an alert's condition is no comparison")
        grid = grid_of(condition.left, below, output.call.at, squared=False)
        statistic = Statistic(Sum(grid.centered(condition.left, 0)), None)
        if statistic not in statistics:
            statistics.append(statistic)
        sign, threshold = _integer_threshold(condition, statistic.step)
        conditions.append(AlertCondition(statistics.index(statistic), sign, threshold))
    terms = Contributions(read.source, read.keys, domains, tuple(statistics))
    chain, reasons = _limited(terms, facts, limits)
    order = (f"groups are in the order of {describe(read.keys[0].expression)}",) if domains else ()
    named = NamedCondition(tuple(conditions), firings.value)
    column = EstimatedColumn(output.column, named)
    return BoundedRelease(chain, (column,), None, (*reasons, *order))


def _integer_threshold(condition: Compare, step: Fraction) -> tuple[int, int]:
    """The sign of the sum, in integers of `step`, and the least that it then has to be."""
    threshold = condition.right.value if isinstance(condition.right, Literal) else None
    if not isinstance(threshold, int | Fraction):
        raise InternalError("an alert's threshold is no number")
    limit = Fraction(threshold) / step
    match condition.op:
        case Comparison.GREATER:
            return 1, math.floor(limit) + 1
        case Comparison.GREATER_EQUAL:
            return 1, math.ceil(limit)
        case Comparison.LESS:
            return -1, math.floor(-limit) + 1
        case Comparison.LESS_EQUAL:
            return -1, math.ceil(-limit)
        case _:
            raise InternalError("an alert's condition has no direction")


def _limited(
    terms: Contributions, facts: Facts, limits: ContributionLimits
) -> tuple[Limited, tuple[str, ...]]:
    """`terms` of at most so many rows of a unit in each group, of however many groups."""
    chain, reasons = limit_contributions(terms, facts, limits)
    bounds = contribution_bounds(terms, limits)
    if not isinstance(chain, LimitGroups) or isinstance(chain.limit, ByUnit) or bounds.groups == 1:
        return chain, reasons
    cells = math.prod(len(domain.cells) for domain in terms.domains)
    each = ClampPerGroup(PerUnitGroup(terms), bounds.rows_per_group)
    return LimitGroups(each, ByDomain(cells)), bounds.reasons[1:]


def _groups(release: Release, listed: tuple[KeyDomain, ...]) -> tuple[KeyDomain, ...]:
    """The groups, `listed` by public facts."""
    if not release.keys:
        return ()
    (key,) = release.keys
    text = describe(key.expression)
    if not listed:
        raise Refused(
            f"the groups of an alert are listed, and {text} has no domain",
            at=key.at,
            hint=f"declare values or bounds of {text}, or write BY CASE, date_trunc or extract",
            note="alert",
        )
    count = math.prod(len(domain.cells) for domain in listed)
    if count > MAX_GROUPS:
        raise TooComplex(
            f"{text} has {count:,} values, and an alert has at most {MAX_GROUPS:,} groups",
            at=key.at,
            hint="write larger groups, such as BY date_trunc('month', day)",
            note="alert",
        )
    return listed
