"""Sums of all rows of each unit, where they stand ready: what they may be is enforced.

| level  | one row per            | columns                                                  |
| ------ | ---------------------- | -------------------------------------------------------- |
| units  | unit within all limits | groups, its number of rows, and of values with their sum   |
| sums   | group                  | s0 … of rows, values or sums; m0 … of how many they are    |
| totals | group                  | s0 … of integers: each value less the centre, all together |

A row that says more than a unit of so many rows could is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from sqlglot import exp

from dpsql.emit.release.contribution import filtered, sum_of
from dpsql.emit.release.contributions import emit_contributions, grouped, grouped_names
from dpsql.emit.sql.function_call import cast
from dpsql.emit.sql.identifier import column_name, column_ref, reference, with_alias
from dpsql.emit.sql.literal import integer
from dpsql.emit.strategy.unlimited_sums import totals_of
from dpsql.plan.bounded_release.bounded_release import StoredSum, StoredUnitSums
from dpsql.plan.bounded_release.statistic import (
    Discretized,
    NonNullCount,
    RowCount,
    Statistic,
    Sum,
    UnitCount,
)
from dpsql.plan.expression import Column
from dpsql.plan.operator import Release
from dpsql.plan.traversal import columns


def stored_unit_sums(
    plan: StoredUnitSums, releases: Mapping[Release, str], late: frozenset[int]
) -> exp.Select:
    """Groups with their totals, in integers of steps."""
    terms = plan.contributions
    groups_only = replace(terms, statistics=(), cell_choices=())
    handed = tuple(map(column_name, _columns(plan)))
    units = emit_contributions(groups_only, releases, with_unit=False, late=late, extra=handed)
    units = units.where(*_possible_rows(plan), copy=False)
    sums: dict[str, exp.Expr] = {}
    totals: list[exp.Expr] = []
    for number, (statistic, stored) in enumerate(zip(terms.statistics, plan.sums, strict=True)):
        summed = _summed(statistic, stored, plan.rows)
        sums[f"s{number}"] = sum_of(filtered(summed, statistic))
        value, column = _value(statistic), column_ref(f"s{number}")
        if value is None or stored is None or not value.center:
            totals.append(column)
            continue
        sums[f"m{number}"] = sum_of(filtered(reference(stored.values), statistic))
        # Of 128 bits, as the sum of their number is.
        many = exp.Mul(this=column_ref(f"m{number}"), expression=integer(value.center))
        totals.append(exp.Sub(this=column, expression=many))
    by = [column_ref(name) for name in grouped_names(terms, late)]
    groups = grouped(units, by, [with_alias(item, name) for name, item in sums.items()])
    return totals_of(groups, terms, late, list(sums), totals)


def _columns(plan: StoredUnitSums) -> tuple[Column, ...]:
    stored = (c for each in plan.sums if each is not None for c in (each.values, each.total))
    asked = columns(*(statistic.filter for statistic in plan.contributions.statistics))
    return tuple(sorted({plan.rows, *stored, *asked}, key=lambda column: column.id))


def _possible_rows(plan: StoredUnitSums) -> Iterator[exp.Expr]:
    """A unit has no more values than rows, and their sum is one of so many values."""
    asked: set[StoredSum] = set()
    for statistic, stored in zip(plan.contributions.statistics, plan.sums, strict=True):
        if stored is None:
            continue
        values, value = reference(stored.values), _value(statistic)
        if stored not in asked:
            asked.add(stored)
            yield exp.LTE(this=values, expression=reference(plan.rows))
        if value is not None:
            # 16 bits times 46: literals of 32 bits would overflow.
            low, high = (
                exp.Mul(this=cast(values.copy(), "BIGINT"), expression=integer(end))
                for end in (value.low, value.high)
            )
            yield exp.Between(this=reference(stored.total), low=low, high=high)


def _summed(statistic: Statistic, stored: StoredSum | None, rows: Column) -> exp.Expr:
    match statistic.term, stored:
        case UnitCount(), None:
            return integer(1)
        case RowCount(), None:
            return reference(rows)
        case NonNullCount(), StoredSum(values=values):
            return reference(values)
        case Sum(), StoredSum(total=summed):
            return reference(summed)
        case _:
            raise ValueError("nothing stands ready for the statistic")


def _value(statistic: Statistic) -> Discretized | None:
    return statistic.term.value if isinstance(statistic.term, Sum) else None
