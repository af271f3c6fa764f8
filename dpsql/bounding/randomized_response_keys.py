"""GROUP BY randomised answers: each group stands for those who would truly give its answer.

Of n rows, c have the answer `tea`; the truth is told with probability p, each other answer with q.

count(*) of tea   →   (c - q·n) / (p - q)   with n = c + the released counts of all other answers

So each group's sum is (1 - q) / (p - q) of its own less q / (p - q) of those of the groups that
differ in the answer alone: the row of the inverse of the randomising matrix (Kairouz, Bonawitz &
Ramage 2016), applied to noisy sums. Only these sums are read, so that the estimate costs no further
loss; all groups have to be there, which is why their keys are listed and none is left out. Noise
has (1 - q)² + (k - 1)·q² of its variance, less than 1, over (p - q)²: with a separate noisy count
of all rows the variance would be larger.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import lcm

from msgspec import Struct

from dpsql.analysis.randomized_response import (
    NoisyNumber,
    Response,
    ResponseConditions,
    Responses,
    no_estimator_error,
    no_ratio_error,
)
from dpsql.bounding.linear_estimator import linear, row_count
from dpsql.bounding.local_noise import SUMS_OF_NUMBERS
from dpsql.bounding.options import ReleaseOptions
from dpsql.plan.aggregate import AggregateCall, AggregateFunction
from dpsql.plan.bounded_release.bounded_release import KeyDomain
from dpsql.plan.bounded_release.estimator import (
    CrossGroupSum,
    Estimator,
    LinearEstimator,
    RowVariance,
)
from dpsql.plan.expression import Column
from dpsql.plan.expression_text import describe
from dpsql.plan.operator import Output, Release
from dpsql.plan.traversal import columns, expressions
from dpsql.structs import replace

_EACH = "ask for count(*) FILTER (WHERE column = value) of each value"
_ONE = "ask of one column of answers at a time"


class AnswerKey(Struct, frozen=True):
    """The grouping key, at `index` among the keys, that is a column of randomised answers."""

    index: int
    column: Column
    response: Response


def answer_key(keys: tuple[Output, ...], responses: ResponseConditions) -> AnswerKey | None:
    """The one of `keys` that is a column of randomised answers; None if none of them reads any.

    Raises Refused for two such keys, for functions of one, and for conditions on answers besides.
    """
    answers = responses.responses.keys()
    read = [(index, key) for index, key in enumerate(keys) if columns(key.expression) & answers]
    if not read:
        return None
    (index, key), *more = read
    if more:
        raise no_estimator_error("GROUP BY two columns of randomised answers", more[0][1].at, _ONE)
    if not isinstance(key.expression, Column):
        raise no_estimator_error(
            "GROUP BY a function of randomised answers",
            key.at,
            "group by the column in a subquery, and the subquery's rows by the function",
        )
    if responses.conditions:
        raise no_estimator_error(
            "GROUP BY of rows by what was said",
            key.at,
            "write conditions on the column of GROUP BY in HAVING: it asks of estimates",
        )
    answer = responses.responses[key.expression]
    if isinstance(answer, NoisyNumber):
        raise no_estimator_error("GROUP BY numbers with local noise", key.at, SUMS_OF_NUMBERS)
    return AnswerKey(index, key.expression, answer)


def check_groups(
    key: AnswerKey,
    domains: tuple[KeyDomain, ...],
    release: Release,
    options: ReleaseOptions,
    table_kind: str | None,
) -> None:
    """Refuse groups of which some may be missing: an estimate needs all that differ in the answer.

    Of `drink` beside a `city` that isn't listed, noise decides which of (tea, Bonn), (coffee, Bonn)
    are there.
    """
    at = release.keys[key.index].at
    own = next((domain for domain in domains if key.index in domain.keys), None)
    answers = {(value.value,) for value in key.response.values}
    if own is None or len(own.keys) > 1 or set(own.cells) != answers:
        raise no_estimator_error("GROUP BY some of the randomised answers", at, _EACH)
    if sum(len(domain.keys) for domain in domains) < len(release.keys):
        raise no_estimator_error(
            "GROUP BY randomised answers beside keys without a domain", at, _EACH
        )
    if options.min_units is not None:
        raise no_estimator_error(
            "groups of randomised answers of which small ones are left out",
            at,
            "SET dpsql.min_units = DEFAULT",
        )
    if table_kind is not None:
        raise no_estimator_error(
            f"a {table_kind} by randomised answers", at, "write CREATE RELEASE instead"
        )


def group_estimator(
    call: AggregateCall,
    responses: Responses,
    key: AnswerKey,
    estimate: Callable[[AggregateCall], Estimator],
    largest: Callable[[AggregateCall], tuple[Fraction, int]],
) -> LinearEstimator:
    """The estimator of `call` over those who would truly answer as its group's key says.

    `estimate` and `largest` are as in `randomized_response.response_estimator`. Raises Refused for
    calls that no unbiased estimate is known of.
    """
    if call.function is AggregateFunction.COUNT and call.arguments == (key.column,):
        call = replace(call, arguments=())  # an answer is never missing
    if columns(*expressions(call)) & responses.keys():
        raise no_estimator_error(
            "randomised answers in groups by randomised answers", call.at, _ONE
        )
    if call.function is AggregateFunction.AVG:
        count = f"count({describe(call.arguments[0])})"
        raise no_ratio_error(call, "avg() by randomised answers", count)
    if call.distinct or call.function not in (AggregateFunction.COUNT, AggregateFunction.SUM):
        raise no_estimator_error(f"{call.function.value}() by randomised answers", call.at)
    noise = key.response.mechanism
    # Of n rows, r to an answer, there are n / r answers that add r times as much: r² · n / r.
    amount, together = largest(call)
    inside, outside = (noise.variance(truly, 1) * amount**2 * together for truly in (1, 0))
    if call.function is not AggregateFunction.COUNT:
        inside = outside = max(inside, outside)  # any row may be the largest
    rows = _in_statistics(estimate(row_count(call, call.filter)))
    everybody = _with_cross_group(rows, key, Fraction(1), Fraction(1))
    spread = noise.p - noise.q
    of_true = _with_cross_group(
        _in_statistics(estimate(call)), key, (1 - noise.q) / spread, -noise.q / spread
    )
    return replace(of_true, row_variance=RowVariance(inside, outside, everybody))


def _with_cross_group(
    formula: LinearEstimator, key: AnswerKey, own: Fraction, cross_group: Fraction
) -> LinearEstimator:
    """`own` times the group's sum plus `cross_group` times that of all other answers' groups."""
    below = lcm(own.denominator, cross_group.denominator)
    first, second = (int(factor * below) for factor in (own, cross_group))
    return replace(
        formula,
        summands=tuple((index, first * factor) for index, factor in formula.summands),
        step=formula.step / below,
        cross_group=CrossGroupSum(
            key.index,
            len(key.response.values) - 1,
            tuple((index, second * factor) for index, factor in formula.summands),
        ),
    )


def _in_statistics(estimator: Estimator) -> LinearEstimator:
    """A linear estimator of statistics alone: of a group's rows no number is public."""
    formula = linear(estimator)
    if formula.constant:
        raise TypeError("counts and sums of groups are of statistics alone")
    return formula
