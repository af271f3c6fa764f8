"""The most frequent of listed keys: chosen without their counts, where that has much less error.

SELECT ward FROM visits GROUP BY ward ORDER BY count(*) DESC LIMIT 1

To release the counts and to sort them is a release of as many numbers as a unit has groups. Where
none of them is shown, a choice among the groups has the noise of one of them: a unit that comes or
goes moves all counts one way. Of LIMIT 2 the second is chosen among those that the first choice
left. Counts that another part of the statement reads are released anyway.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Final

from msgspec import Struct

from dpsql.analysis.local_privacy import local_only
from dpsql.analysis.sensitivity import sensitivity
from dpsql.analysis.unit_contribution import rows_per_group
from dpsql.bounding.bound_release import bound_release
from dpsql.bounding.public_facts import Facts
from dpsql.errors import Error
from dpsql.plan.aggregate import AggregateCall, AggregateFunction, FrequentKey, OutputKind
from dpsql.plan.bounded_release.bounded_release import BoundedRelease
from dpsql.plan.bounded_release.cell_selection import MAX_LISTED
from dpsql.plan.expression import Column, Expression, Literal
from dpsql.plan.operator import Limit, Output, Plan, Project, Release, Sort, Union
from dpsql.plan.output_columns import output_columns
from dpsql.plan.sort_key import SortKey
from dpsql.plan.traversal import bottom_up, columns, operators, rewrite_top_down
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.privacy.distance import NeighborDistance
from dpsql.privacy.mechanisms.noise.correlated import CorrelatedNoise
from dpsql.release.calibration import calibrate
from dpsql.release.columns.confidence_interval import CONFIDENCE
from dpsql.release.selection_mechanism import ModeMechanism, TopMechanism
from dpsql.schema.sql_type import BIGINT
from dpsql.session.compile.release_compiler import is_shown_by_row
from dpsql.session.options import QueryOptions
from dpsql.structs import replace

MAX_CHOSEN: Final = 20
"""The largest number of keys that are chosen one by one; each has its own arm in the plan."""


class FrequentKeys(Struct, frozen=True):
    """Finds the releases of a statement that only say which of listed keys are most frequent.

    `loss` is what the statement may cost.
    """

    facts: Facts
    options: QueryOptions
    distance: NeighborDistance
    loss: PrivacyLoss

    def chosen(self, plan: Plan) -> Plan:
        """Project(key, Limit(k, Sort(count DESC, Release(key, count)))) becomes Release(k keys)."""
        if self.options.answer.reuse or self.options.price.max_error is not None:
            return plan  # of counts that were paid for, or whose error is set
        mentioned = Counter(part for part in operators(plan) if isinstance(part, Release))

        def rewritten(part: Plan) -> Plan:
            keys = _sorted_counts(part)
            if keys is None or mentioned[keys[0]] != 1:
                return part
            counted, limit = keys
            release = self._release(counted, limit, plan)
            return part if release is None else _over(part, counted, release)

        return bottom_up(rewritten, plan)

    def _release(self, counted: Release, limit: int, plan: Plan) -> Release | None:
        """The release of `limit` keys of `counted`, one of `plan`, or None.

        It is None where that has no less error, or no rule.

        Whoever bounds `counted` again says what is wrong with it.
        """
        try:
            bounded = self._bounded(counted)
            if not _lists_all(bounded) or local_only(bounded, self.distance) is not None:
                return None
            (key,), (domain,) = counted.keys, bounded.contributions.domains
            values = tuple(value for (value,) in domain.cells)
            if limit >= len(values):
                return None  # all of them are shown, in an order that all counts have a part in
            of_key = Column(max(_ids(plan)) + 1, key.column.name, key.column.type)
            chosen = tuple(replace(of_key, id=of_key.id + index) for index in range(limit))
            frequent = FrequentKey(chosen, key.expression, values, rows_per_group(bounded.limited))
            release = replace(counted, keys=(), aggregates=(), frequent=frequent)
            by_row = is_shown_by_row(plan)
            return release if self._is_better(bounded, release, is_shown_by_row=by_row) else None
        except Error:
            return None

    def _bounded(self, release: Release) -> BoundedRelease:
        return bound_release(release, self.facts, self.options.limits, self.options.release)

    def _is_better(
        self, counted: BoundedRelease, release: Release, *, is_shown_by_row: bool
    ) -> bool:
        """Whether the chosen keys are off the most frequent by half of what sorting is, or less.

        Sorted, one may be off by the error of two counts, the largest of so many. What their noise
        has in common moves no count past another.
        """
        changes = sensitivity(counted, self.distance)
        noisy = calibrate(counted, changes, self.loss, is_shown_by_row=is_shown_by_row)
        bounded = self._bounded(release)
        best = calibrate(bounded, sensitivity(bounded, self.distance), self.loss)
        (chooser,) = best.choosers
        if not isinstance(chooser, ModeMechanism | TopMechanism) or not noisy.noise:
            return False
        (domain,) = counted.contributions.domains
        cells = len(domain.cells)
        noise = noisy.noise[0]
        shared = noise.shared_part if isinstance(noise, CorrelatedNoise) else Fraction(0)
        sorted_error = 2 * noise.half_width(1 - (1 - CONFIDENCE) / cells)
        # Squares are compared, since a part of the variance isn't one of the width.
        squared = 4 * chooser.rank_error(cells, CONFIDENCE) ** 2
        return squared <= (1 - shared) * Fraction(sorted_error) ** 2


def _sorted_counts(part: Plan) -> tuple[Release, int] | None:
    """The release of one key's counts of which `part` shows the first keys alone, and how many.

    None where it isn't so, or where the keys are too many to be chosen one by one.
    """
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
                count=int(limit),
                offset=0,
            ),
            outputs=outputs,
        ) if 1 <= limit <= MAX_CHOSEN:
            read = columns(*(output.expression for output in outputs))
            is_count = order == counted.column and _counts_rows(counted.call)
            return (release, limit) if is_count and read <= {key.column} else None
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
    """The outputs of `part`, a projection, over the chosen keys, a row for each."""
    assert isinstance(part, Project)
    (key,), first = counted.keys, release.chosen[0].column
    if len(release.chosen) == 1:
        return replace(part, source=release, outputs=_renamed(part.outputs, key.column, first))
    top = Column(first.id + len(release.chosen), first.name, first.type)
    rank = Column(top.id + 1, "rank", BIGINT)
    arms = tuple(
        Project(
            release,
            (
                Output(Column(rank.id + 1 + 2 * index, top.name, top.type), chosen.column),
                Output(
                    Column(rank.id + 2 + 2 * index, rank.name, rank.type),
                    Literal(index + 1, rank.type),
                ),
            ),
        )
        for index, chosen in enumerate(release.chosen)
    )
    rows = Sort(
        Union(arms, (top, rank), unit=None), (SortKey(rank, descending=False, nulls_first=False),)
    )
    return replace(part, source=rows, outputs=_renamed(part.outputs, key.column, top))


def _renamed(outputs: tuple[Output, ...], key: Column, chosen: Column) -> tuple[Output, ...]:
    """`outputs` with `chosen` wherever they read `key`."""

    def read(expression: Expression) -> Expression | None:
        return chosen if expression == key else None

    return tuple(replace(o, expression=rewrite_top_down(read, o.expression)) for o in outputs)


def _ids(plan: Plan) -> list[int]:
    return [column.id for part in operators(plan) for column in output_columns(part)]
