"""The most frequent of listed keys: chosen without their counts, where that has much less error.

SELECT ward FROM visits GROUP BY ward ORDER BY count(*) DESC LIMIT 1

To release the counts and to sort them is a release of as many numbers as a unit has groups. Where
none of them is shown, a choice among the groups has the noise of one of them: a unit that comes or
goes moves all counts one way. Of LIMIT 2 the second is chosen among those that the first choice
left. Where counts are shown, those of the chosen keys are measured after the choice: the noise is
that of so many groups, however many a unit is in. Counts that another part of the statement reads
are released anyway.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from msgspec import Struct

from dpsql.analysis.local_privacy import local_only
from dpsql.analysis.sensitivity import sensitivity
from dpsql.analysis.unit_contribution import rows_per_group
from dpsql.bounding.bound_release import bound_release
from dpsql.bounding.public_facts import Facts
from dpsql.errors import Error
from dpsql.plan.aggregate import (
    AggregateCall,
    AggregateFunction,
    CountedKeys,
    FrequentKey,
    OutputKind,
)
from dpsql.plan.bounded_release.bounded_release import BoundedRelease
from dpsql.plan.bounded_release.cell_selection import MAX_LISTED
from dpsql.plan.expression import Column, Expression, Literal
from dpsql.plan.operator import Limit, Output, Plan, Project, Release, Sort, Union
from dpsql.plan.output_columns import output_columns
from dpsql.plan.sort_key import SortKey
from dpsql.plan.traversal import bottom_up, columns, operators, rewrite_top_down
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.privacy.distance import NeighborDistance
from dpsql.release.calibration import Measurement, calibrate
from dpsql.release.columns.confidence_interval import CONFIDENCE
from dpsql.release.selection_mechanism import ModeMechanism, TopMechanism
from dpsql.release.top_keys.choice_share import best_share, sorted_error_squared
from dpsql.release.top_keys.top_counts import calibrate_top_counts
from dpsql.schema.sql_type import BIGINT
from dpsql.session.compile.release_compiler import is_shown_by_row
from dpsql.session.options import QueryOptions
from dpsql.structs import replace

MAX_CHOSEN: Final = 20
"""The largest number of keys that are chosen one by one; each has its own arm in the plan."""


def sorts_counts(plan: Plan) -> bool:
    """Whether `plan` shows the most frequent keys of a release alone, so that they may be chosen.

    This is all of `FrequentKeys` that asks for no loss.
    """
    return any(_sorted_counts(part) is not None for part in operators(plan))


class FrequentKeys(Struct, frozen=True):
    """Finds the releases of a statement that only say which of listed keys are most frequent.

    `loss` is what the statement may cost. `is_of_sample`: what is counted is of some units alone.
    """

    facts: Facts
    options: QueryOptions
    distance: NeighborDistance
    loss: PrivacyLoss
    is_of_sample: bool

    def chosen(self, plan: Plan) -> Plan:
        """Project(key, Limit(k, Sort(count DESC, Release(key, count)))) becomes Release(k keys)."""
        answer = self.options.answer
        if answer.counts_all_keys or answer.reuse or self.options.price.max_error is not None:
            return plan  # of counts that were paid for, or whose error is set
        mentioned = Counter(part for part in operators(plan) if isinstance(part, Release))

        def rewritten(part: Plan) -> Plan:
            top = _sorted_counts(part)
            if top is None or mentioned[top.counted] != 1:
                return part
            release = self._release(top, plan)
            return part if release is None else _over(part, top.counted, release)

        return bottom_up(rewritten, plan)

    def _release(self, top: _TopKeys, plan: Plan) -> Release | None:
        """The release of the keys `top` of `plan`; None where that has no less error, or no rule.

        Whoever bounds the counts again says what is wrong with them.
        """
        counted, by_row = top.counted, is_shown_by_row(plan)
        if top.shows_counts and (self.is_of_sample or not by_row):
            return None  # counts are scaled, or their noise may be added up
        try:
            bounded = self._bounded(counted)
            if not _lists_all(bounded) or local_only(bounded, self.distance) is not None:
                return None
            (key,), (domain,) = counted.keys, bounded.contributions.domains
            values = tuple(value for (value,) in domain.cells)
            if top.limit >= len(values):
                return None  # all of them are shown, in an order that all counts have a part in
            of_key = Column(max(_ids(plan)) + 1, key.column.name, key.column.type)
            chosen = tuple(replace(of_key, id=of_key.id + index) for index in range(top.limit))
            frequent = FrequentKey(chosen, key.expression, values, rows_per_group(bounded.limited))
            changes = sensitivity(bounded, self.distance)
            noisy = calibrate(bounded, changes, self.loss, is_shown_by_row=by_row)
            if not noisy.noise:
                return None
            release = replace(counted, keys=(), aggregates=(), frequent=frequent)
            if top.shows_counts:
                return self._with_counts(counted, release, noisy)
            return release if self._is_better(noisy, release) else None
        except Error:
            return None

    def _bounded(self, release: Release) -> BoundedRelease:
        return bound_release(release, self.facts, self.options.limits, self.options.release)

    def _is_better(self, noisy: Measurement, release: Release) -> bool:
        """Whether the chosen keys are off the most frequent by half of what sorting is, or less."""
        bounded = self._bounded(release)
        best = calibrate(bounded, sensitivity(bounded, self.distance), self.loss)
        (chooser,), frequent = best.choosers, release.frequent
        if not isinstance(chooser, ModeMechanism | TopMechanism) or frequent is None:
            return False
        cells = len(frequent.values)
        squared = 4 * chooser.rank_error(cells, CONFIDENCE) ** 2
        return squared <= sorted_error_squared(noisy, cells)

    def _with_counts(
        self, counted: Release, release: Release, noisy: Measurement
    ) -> Release | None:
        """`release` with the counts of its keys, if that has less error than `noisy` ones of all.

        `counted` is the release of all counts.
        """
        (count,), frequent = counted.aggregates, release.frequent
        assert frequent is not None
        first = frequent.columns[-1].id + 1
        shown = tuple(
            replace(count.column, id=first + index) for index in range(len(frequent.columns))
        )

        def at(share: Fraction) -> Release:
            return replace(release, frequent=replace(frequent, counted=CountedKeys(shown, share)))

        def measured(share: Fraction) -> Measurement:
            bounded = self._bounded(at(share))
            changes = sensitivity(bounded, self.distance)
            measurement, _ = calibrate_top_counts(bounded, changes, self.distance, self.loss)
            return measurement

        share = best_share(noisy, len(frequent.values), measured)
        return None if share is None else at(share)


class _TopKeys(Struct, frozen=True):
    """The first `limit` keys of `counted`, by its counts, which are shown beside them or not."""

    counted: Release
    limit: int
    shows_counts: bool


def _sorted_counts(part: Plan) -> _TopKeys | None:
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
            if not is_count or not read <= {key.column, counted.column}:
                return None
            return _TopKeys(release, limit, counted.column in read)
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
    """The outputs of `part`, a projection, over the chosen keys, a row for each.

    Rows are in the order of the choice, or of the counts that are shown, equal ones in the former.
    """
    assert isinstance(part, Project)
    assert release.frequent is not None
    frequent = release.frequent
    shown = [counted.keys[0].column]
    chosen = [frequent.columns]
    if frequent.counted is not None:
        shown.append(counted.aggregates[0].column)
        chosen.append(frequent.counted.columns)
    rows = [*zip(*chosen, strict=True)]
    if len(rows) == 1:
        return replace(part, source=release, outputs=_renamed(part.outputs, shown, rows[0]))
    first = max(column.id for column in rows[-1]) + 1
    rank = Column(first, "rank", BIGINT)
    top = [replace(column, id=first + 1 + index) for index, column in enumerate(shown)]
    outputs = (*top, rank)
    arms = tuple(
        Project(
            release,
            tuple(
                Output(replace(column, id=column.id + (index + 1) * len(outputs)), value)
                for column, value in zip(outputs, (*row, Literal(index + 1, BIGINT)), strict=True)
            ),
        )
        for index, row in enumerate(rows)
    )
    by = [SortKey(column, descending=True, nulls_first=False) for column in top[1:]]
    by.append(SortKey(rank, descending=False, nulls_first=False))
    source = Sort(Union(arms, outputs, unit=None), tuple(by))
    return replace(part, source=source, outputs=_renamed(part.outputs, shown, top))


def _renamed(
    outputs: tuple[Output, ...], shown: Sequence[Column], chosen: Sequence[Column]
) -> tuple[Output, ...]:
    """`outputs` with `chosen` columns wherever they read those that were `shown`."""
    new: dict[Expression, Expression] = dict(zip(shown, chosen, strict=True))
    return tuple(replace(o, expression=rewrite_top_down(new.get, o.expression)) for o in outputs)


def _ids(plan: Plan) -> list[int]:
    return [column.id for part in operators(plan) for column in output_columns(part)]
