"""Alerts whose counts are released and compared, where that has less error.

ALERT WHEN count(*) > 500 FROM visits BY ward

To name what is above a threshold by the sparse vector technique costs the same in however many
groups a unit is, and to release the counts costs as much as it is in groups: in one or two of them,
or of a single comparison, noisy counts are nearer. What they are compared with then is
postprocessing of an ordinary release, which a query of the same counts shares.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from dpsql.analysis.sensitivity import sensitivity
from dpsql.bind.aggregate.result_type import result_type
from dpsql.bounding.alert_conditions import is_alert
from dpsql.bounding.bound_release import bound_release
from dpsql.bounding.public_facts import Facts
from dpsql.errors import Error, InternalError
from dpsql.plan.aggregate import AggregateCall, AggregateFunction, AggregateOutput
from dpsql.plan.bounded_release.bounded_release import BoundedRelease
from dpsql.plan.bounded_release.estimator import LinearEstimator
from dpsql.plan.expression import Case, Cast, Column, Compare, Expression, Literal, When
from dpsql.plan.expression_text import describe
from dpsql.plan.operator import Filter, Limit, Output, Plan, Project, Release, Sort, Union
from dpsql.plan.output_columns import output_columns
from dpsql.plan.sort_key import SortKey
from dpsql.plan.traversal import bottom_up, operators
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.privacy.distance import NeighborDistance
from dpsql.privacy.mechanisms.selection.above_threshold import AboveThreshold
from dpsql.release.alert import calibrate_alert, comparisons, threshold_errors
from dpsql.release.calibration import calibrate
from dpsql.release.columns.confidence_interval import CONFIDENCE
from dpsql.schema.sql_type import BIGINT, Double
from dpsql.session.options import QueryOptions
from dpsql.structs import replace

MAX_ARMS: Final = 20
"""The largest number of conditions whose counts are compared; each has an arm in the plan."""


def has_alert(plan: Plan) -> bool:
    """Whether some release of `plan` names the conditions that hold."""
    return any(isinstance(part, Release) and is_alert(part) for part in operators(plan))


class AlertCounts(Struct, frozen=True):
    """Finds the alerts of a statement whose counts are better released.

    `loss` is what the statement may cost.
    """

    facts: Facts
    options: QueryOptions
    distance: NeighborDistance
    loss: PrivacyLoss

    def chosen(self, plan: Plan) -> Plan:
        """Release(conditions) becomes Limit(Sort(Filter(conditions, Release(counts))))."""
        if self.options.release.min_units is not None:
            return plan  # groups of few units would be left out of what is compared

        def rewritten(part: Plan) -> Plan:
            if not isinstance(part, Release) or not is_alert(part):
                return part
            counted = _counted(part, max(c.id for p in operators(plan) for c in output_columns(p)))
            return _compared(part, counted) if self._is_better(part, counted) else part

        return bottom_up(rewritten, plan)

    def _is_better(self, alert: Release, counted: Release) -> bool:
        """Whether counts are off by less, where both have a rule."""
        try:
            named, sums = self._bounded(alert), self._bounded(counted)
            if len(counted.aggregates) > MAX_ARMS or not sums.shows_all_cells:
                return False
            if self.options.price.max_error is not None:
                return True  # of counts, whose error is set
            measured, _ = calibrate_alert(named, sensitivity(named, self.distance), self.loss)
            mechanism = measured.table_mechanism
            noise = calibrate(sums, sensitivity(sums, self.distance), self.loss).noise
        except Error:
            return False
        if not isinstance(mechanism, AboveThreshold):
            return False
        # An error of one side of each comparison names it wrongly, or passes it over.
        share = 1 - 2 * (1 - CONFIDENCE) / comparisons(named)
        errors = threshold_errors(named, mechanism)
        for error, output in zip(errors, sums.outputs, strict=True):
            formula = output.estimator
            if not isinstance(formula, LinearEstimator):
                return False
            off = sum(
                abs(factor) * noise[index].half_width(share) for index, factor in formula.summands
            )
            if off * formula.step > error:
                return False
        return True

    def _bounded(self, release: Release) -> BoundedRelease:
        return bound_release(release, self.facts, self.options.limits, self.options.release)


def _arguments(alert: Release) -> tuple[Expression, ...]:
    return alert.aggregates[0].call.arguments[:-1]


def _counted(alert: Release, last: int) -> Release:
    """The release of what the conditions of `alert` compare; column ids up to `last` are taken."""
    (output,) = alert.aggregates
    keys = tuple(
        replace(key, column=replace(key.column, id=last + 1 + index))
        for index, key in enumerate(alert.keys)
    )
    sums = tuple(
        AggregateOutput(
            Column(last + 1 + len(keys) + index, _name(call), call.type),
            replace(call, at=output.call.at),
        )
        for index, call in enumerate(
            _call(condition.left)
            for condition in _arguments(alert)
            if isinstance(condition, Compare)
        )
    )
    return replace(alert, keys=keys, aggregates=sums)


def _call(value: Expression) -> AggregateCall:
    """The count or the sum that adds up `value` of each row: of ones and zeros it is a count."""
    one, nothing = 1, 0
    match value:
        case Literal(value=1):
            return _count(None)
        case Case(
            branches=(When(condition=only, result=Literal(value=yes)),),
            otherwise=Literal(value=no),
        ) if (yes, no) == (one, nothing):
            return _count(only)
        case _:
            kind = result_type(AggregateFunction.SUM, (value.type,))
            if kind is None:
                raise InternalError("an alert compares what can't be summed")
            call = AggregateFunction.SUM, (value,)
            return AggregateCall(*call, distinct=False, filter=None, type=kind)


def _name(call: AggregateCall) -> str:
    """What reports call what is compared."""
    only = "" if call.filter is None else f" FILTER (WHERE {describe(call.filter)})"
    return f"{call.function.value}({', '.join(map(describe, call.arguments)) or '*'}){only}"


def _count(only: Expression | None) -> AggregateCall:
    call = AggregateFunction.COUNT, ()
    return AggregateCall(*call, distinct=False, filter=only, type=BIGINT)


def _compared(alert: Release, counted: Release) -> Plan:
    """The rows of `alert`, by what is released of `counted`."""
    (named,), count = alert.aggregates, len(counted.aggregates)
    own = [key.column for key in alert.keys]
    last = max(column.id for column in output_columns(counted))
    arms: list[Plan] = []
    for index, (condition, summed) in enumerate(
        zip(_arguments(alert), counted.aggregates, strict=True)
    ):
        assert isinstance(condition, Compare)
        holds = Compare(condition.op, Cast(summed.column, Double()), condition.right)
        values: list[Expression] = [
            *(key.column for key in counted.keys),
            Literal(index, named.column.type),
        ]
        columns = [*own, named.column]
        if count > 1:
            columns = [
                replace(column, id=last + 1 + index * len(columns) + number)
                for number, column in enumerate(columns)
            ]
        shown = tuple(Output(c, value) for c, value in zip(columns, values, strict=True))
        arms.append(Project(Filter(counted, holds), shown))
    rows = arms[0] if count == 1 else Union(tuple(arms), (*own, named.column), unit=None)
    firings = named.call.arguments[-1]
    assert isinstance(firings, Literal)
    assert isinstance(firings.value, int)
    order = (SortKey(c, descending=False, nulls_first=False) for c in (*own, named.column))
    return Limit(Sort(rows, tuple(order)), firings.value, 0)
