"""Rows that are each their unit's only one are summed as they are: terms are clamped, no more."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar, Self

from msgspec import Struct
from sqlglot import exp

from dpsql.bounding.public_facts import Facts
from dpsql.emit.release.bounded_mean import of_all_rows
from dpsql.emit.release.contribution import number_of, number_of_rows, sum_of, to_steps
from dpsql.emit.release.contributions import (
    emit_contributions,
    emit_term,
    group_names,
    grouped,
    grouped_names,
    totals_by_cell,
)
from dpsql.emit.release.distinct_count import of_distinct_values
from dpsql.emit.release.pairwise_deviations import of_pairs, scaled
from dpsql.emit.sql.identifier import column_ref, with_alias
from dpsql.physical.cost import cost_of_rows, has_few_groups
from dpsql.physical.emission import Emission
from dpsql.plan.bounded_release.bounded_release import Contributions, Limited, OneRowPerUnit
from dpsql.plan.bounded_release.column_names import ROW_COUNT, term_names, total_name
from dpsql.plan.bounded_release.statistic import (
    BoundedMean,
    CappedSum,
    DistinctSum,
    DistinctValues,
    NonNullCount,
    PairwiseDeviations,
    RowCount,
    Statistic,
)


class SumRows(Struct, frozen=True):
    """Sum all rows by group: each unit has one, so that there is nothing to limit."""

    rows: Contributions

    is_blocking: ClassVar = False

    @classmethod
    def applies(cls, limited: Limited, facts: Facts) -> Self | None:  # noqa: ARG003 - as all do
        """The plan, where a release has no limits; None elsewhere."""
        return cls(limited.source) if isinstance(limited, OneRowPerUnit) else None

    def estimate(self) -> Fraction:
        """In passes over the rows."""
        return cost_of_rows(self.rows)

    @property
    def note(self) -> str:
        """Nothing that needs to be told: the limits' own reason says it."""
        return ""

    def emit(self, emission: Emission) -> exp.Select:
        """The totals of groups."""
        rows = emit_contributions(self.rows, emission.releases, with_unit=False, late=emission.late)
        numbered = list(enumerate(self.rows.statistics))
        sums = [with_alias(_total(s, number), total_name(number)) for number, s in numbered]
        names = [total_name(number) for number, _ in numbered]
        if any(isinstance(s.term, PairwiseDeviations | BoundedMean) for _, s in numbered):
            sums.append(with_alias(number_of_rows(), ROW_COUNT))
            names.append(ROW_COUNT)
        groups = [column_ref(name) for name in grouped_names(self.rows, emission.late)]
        few = has_few_groups(self.rows)
        steps = [
            with_alias(_to_steps(s, column_ref(total_name(n)), has_few_rows=few), total_name(n))
            for n, s in numbered
        ]
        counts = (total_name(number) for number, s in numbered if s.is_row_count)
        return totals_by_cell(
            grouped(rows, groups, sums),
            self.rows,
            emission.late,
            names,
            [*map(column_ref, group_names(self.rows)), *steps],
            counted=next(counts, None),
        )


def _total(statistic: Statistic, number: int) -> exp.Expr:
    match statistic.term:
        case RowCount() if statistic.is_row_count:
            return number_of_rows()
        case RowCount() | NonNullCount():
            value, _ = term_names(number)
            return number_of(column_ref(value))
        case DistinctValues() | DistinctSum() as distinct:
            return of_distinct_values(distinct, number)
        case PairwiseDeviations():
            return of_pairs(emit_term(statistic, number))
        case CappedSum():
            raise ValueError("what caps one row's sum is its bounds")
        case _:
            return sum_of(emit_term(statistic, number))


def _to_steps(statistic: Statistic, column: exp.Expr, *, has_few_rows: bool) -> exp.Expr:
    match statistic.term:
        case RowCount() | NonNullCount():
            return column
        case PairwiseDeviations(rows=rows):
            return scaled(column, column_ref(ROW_COUNT), rows)
        case BoundedMean(rows=rows):
            return of_all_rows(column, column_ref(ROW_COUNT), rows)
        case _:
            return to_steps(statistic, column, has_few_rows=has_few_rows)
