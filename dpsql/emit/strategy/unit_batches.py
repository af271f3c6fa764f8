"""Units in several parts, one after the other: each part's tables in memory are so much smaller.

Which part a unit is in depends on a hash of it and of the salt, so that all of its rows are in one.
A bounded release is a sum over units of integers that each of them has by itself: what is found of
the parts adds up to what is found at once, however many there are.

That isn't so of distinct values, of which several units may have the same. Nor are units that are
rows told apart by anything but numbers, which no engine promises to give again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, assert_never

from sqlglot import exp

from dpsql.analysis.lineage.lineage import has_row_units
from dpsql.emit.release.contribution import sum_of
from dpsql.emit.release.contributions import select_from
from dpsql.emit.sql.function_call import cast
from dpsql.emit.sql.identifier import column_ref, table, with_alias
from dpsql.plan.bounded_release.bounded_release import (
    AggregateBelowJoin,
    BoundedRelease,
    ChooseGroupsFirst,
    CountUnitsFirst,
    LimitGroups,
    OneRowPerUnit,
    PerUnit,
    PhysicalPlan,
    SplitByContribution,
)
from dpsql.plan.bounded_release.engine_query import BATCH_TABLE
from dpsql.plan.bounded_release.statistic import (
    DistinctSum,
    DistinctValues,
    NonNullCount,
    PairwiseDeviations,
    Product,
    RowCount,
    Square,
    Statistic,
    Sum,
    UnitCount,
    UnitsOverLimit,
)
from dpsql.plan.operator import Release
from dpsql.plan.traversal import operators

_SALT: Final = 1
_FIRST: Final = 2
_LAST: Final = 3
"""The places of parameters."""


def can_be_batched(bounded: BoundedRelease) -> bool:
    """Whether it can be found part by part, and takes memory that this would save."""
    match bounded.limited:
        case OneRowPerUnit():
            return False
        case LimitGroups(contributions=terms):
            # If nothing but listed keys is asked for, no private row is read.
            return (
                bool(terms.statistics or terms.cell_choices)
                and _is_blocking(bounded.physical_plan)
                and all(map(_is_additive, terms.statistics))
                and not has_row_units(terms.source)
                # Released tables are small, and the statement that names them is emitted already.
                and not any(isinstance(each, Release) for each in operators(terms.source))
            )
        case missing:
            assert_never(missing)


def one_batch(rows: exp.Select) -> exp.Select:
    """Those of `rows` whose unit is in the part that the parameters name."""
    hashed = exp.Anonymous(this="hash", expressions=[column_ref("u"), _parameter(_SALT)])
    # Compared as it is: of a remainder, the engine would expect hardly any rows to have it.
    low, high = (cast(_parameter(place), "UBIGINT") for place in (_FIRST, _LAST))
    return select_from(rows, [exp.Star()]).where(
        exp.Between(this=hashed, low=low, high=high), copy=False
    )


def sum_of_batches(by: Sequence[str], sums: Sequence[str]) -> exp.Select:
    """The `sums` of what was FOUND of the parts."""
    items = [*map(column_ref, by), *(with_alias(sum_of(column_ref(name)), name) for name in sums)]
    select = exp.select(*items, copy=False).from_(table(BATCH_TABLE), copy=False)
    return select.group_by(*map(column_ref, by), copy=False) if by else select


def _is_additive(statistic: Statistic) -> bool:
    """It is a sum over units, of what each of them has by itself."""
    match statistic.term:
        case (
            RowCount()
            | NonNullCount()
            | Sum()
            | Square()
            | Product()
            | UnitCount()
            | UnitsOverLimit()
        ):
            return True
        case DistinctValues() | DistinctSum() | PairwiseDeviations():
            return False
        case missing:
            assert_never(missing)


def _is_blocking(plan: PhysicalPlan) -> bool:
    """Most rows, or sums of them, wait in memory for others of their unit."""
    match plan:
        case PerUnit() | ChooseGroupsFirst():
            return True
        case SplitByContribution() | AggregateBelowJoin() | CountUnitsFirst():
            return False
        case missing:
            assert_never(missing)


def _parameter(index: int) -> exp.Parameter:
    return exp.Parameter(this=exp.Literal.number(index))
