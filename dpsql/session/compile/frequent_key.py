"""The most frequent of listed keys: chosen without its count, where that has much less error.

SELECT ward FROM visits GROUP BY ward ORDER BY count(*) DESC LIMIT 1

To release the counts and to sort them is a release of as many numbers as a unit has groups. Where
none of them is shown, a choice among the groups has the noise of one of them: a unit that comes or
goes moves all counts one way. Counts that another part of the statement reads are released anyway.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction

from dpsql.analysis.local_privacy import local_only
from dpsql.analysis.sensitivity import sensitivity
from dpsql.analysis.unit_contribution import rows_per_group
from dpsql.bounding.bound_release import bound_release
from dpsql.bounding.public_facts import Facts
from dpsql.errors import Error
from dpsql.plan.aggregate import AggregateCall, AggregateFunction, FrequentKey, OutputKind
from dpsql.plan.bounded_release.bounded_release import BoundedRelease
from dpsql.plan.bounded_release.cell_selection import MAX_LISTED
from dpsql.plan.expression import Column
from dpsql.plan.operator import Limit, Output, Plan, Project, Release, Sort
from dpsql.plan.output_columns import output_columns
from dpsql.plan.sort_key import SortKey
from dpsql.plan.traversal import bottom_up, columns, operators, rewrite_top_down
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.privacy.distance import NeighborDistance
from dpsql.release.calibration import calibrate
from dpsql.release.columns.confidence_interval import CONFIDENCE
from dpsql.release.selection_mechanism import ModeMechanism
from dpsql.session.options import QueryOptions


@dataclass(frozen=True, slots=True)
class FrequentKeys:
    """Finds the releases of a statement that only say which of listed keys is most frequent.

    `loss` is what the statement may cost.
    """

    facts: Facts
    options: QueryOptions
    distance: NeighborDistance
    loss: PrivacyLoss

    def chosen(self, plan: Plan) -> Plan:
        """Project(key, Limit(1, Sort(count DESC, Release(key, count)))) becomes Release(key)."""
        if self.options.answer.reuse or self.options.price.max_error is not None:
            return plan  # of counts that were paid for, or whose error is set
        mentioned = Counter(part for part in operators(plan) if isinstance(part, Release))

        def rewritten(part: Plan) -> Plan:
            counted = _sorted_counts(part)
            if counted is None or mentioned[counted] != 1:
                return part
            release = self._release(counted, max(_ids(plan)) + 1)
            return part if release is None else _over(part, counted, release)

        return bottom_up(rewritten, plan)

    def _release(self, counted: Release, number: int) -> Release | None:
        """The release of the key of `counted` alone; None where that has no less error, or no rule.

        Whoever bounds `counted` again says what is wrong with it.
        """
        try:
            bounded = self._bounded(counted)
            if not _lists_all(bounded) or local_only(bounded, self.distance) is not None:
                return None
            (key,), (domain,) = counted.keys, bounded.contributions.domains
            values = tuple(value for (value,) in domain.cells)
            column = Column(number, key.column.name, key.column.type)
            frequent = FrequentKey(column, key.expression, values, rows_per_group(bounded.limited))
            release = replace(counted, keys=(), aggregates=(), frequent=frequent)
            return release if self._is_better(bounded, release, len(values)) else None
        except Error:
            return None

    def _bounded(self, release: Release) -> BoundedRelease:
        return bound_release(release, self.facts, self.options.limits, self.options.release)

    def _is_better(self, counted: BoundedRelease, release: Release, cells: int) -> bool:
        """Whether the chosen key is off the most frequent one by half of what sorting is, or less.

        Sorted, it may be off by the error of two counts, the largest of so many.
        """
        noisy = calibrate(counted, sensitivity(counted, self.distance), self.loss)
        bounded = self._bounded(release)
        best = calibrate(bounded, sensitivity(bounded, self.distance), self.loss)
        (chooser,) = best.choosers
        if not isinstance(chooser, ModeMechanism) or not noisy.noise:
            return False
        share = 1 - (1 - CONFIDENCE) / cells
        sorted_error = 2 * noisy.noise[0].half_width(share)
        return 2 * chooser.rank_error(cells, CONFIDENCE) <= Fraction(sorted_error)


def _sorted_counts(part: Plan) -> Release | None:
    """The release of one key's counts of which `part` shows the first key alone; else None."""
    match part:
        case Project(
            source=Limit(
                source=Sort(
                    source=Release(
                        keys=(key,),
                        aggregates=(counted,),
                        key_source=None,
                        hides_empty_groups=False,
                    ) as release,
                    by=(SortKey(expression=Column() as order, descending=True),),
                ),
                count=1,
                offset=0,
            ),
            outputs=outputs,
        ):
            read = columns(*(output.expression for output in outputs))
            is_count = order == counted.column and _counts_rows(counted.call)
            return release if is_count and read <= {key.column} else None
        case _:
            return None


def _counts_rows(call: AggregateCall) -> bool:
    return (
        call.function is AggregateFunction.COUNT
        and not call.arguments
        and call.filter is None
        and call.output_kind is OutputKind.VALUE
    )


def _lists_all(bounded: BoundedRelease) -> bool:
    """Whether all groups are shown, of one key with few enough values."""
    domains = bounded.contributions.domains
    return (
        bounded.shows_all_cells
        and len(domains) == 1
        and 1 < len(domains[0].cells) <= MAX_LISTED
        and len(bounded.contributions.statistics) == 1
    )


def _over(part: Plan, counted: Release, release: Release) -> Plan:
    """The outputs of `part`, a projection, over the chosen key."""
    assert isinstance(part, Project)
    (key,), (chosen,) = counted.keys, release.chosen
    outputs = tuple(
        Output(
            output.column,
            rewrite_top_down({key.column: chosen.column}.get, output.expression),  # type: ignore[arg-type]
            output.at,
            output.declared,
        )
        for output in part.outputs
    )
    return replace(part, source=release, outputs=outputs)


def _ids(plan: Plan) -> list[int]:
    return [column.id for part in operators(plan) for column in output_columns(part)]
