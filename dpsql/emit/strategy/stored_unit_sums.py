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

from dpsql.emit.release.contribution import filtered, total
from dpsql.emit.release.contributions import emit_terms, grouped, grouped_names
from dpsql.emit.sql.function_call import cast
from dpsql.emit.sql.identifier import aliased, column_name, field, reference
from dpsql.emit.sql.literal import integer
from dpsql.emit.strategy.unlimited_sums import totals_of
from dpsql.plan.bounded_release.bounded_release import StoredSum, UnitSums
from dpsql.plan.bounded_release.statistic import (
    Amount,
    Measured,
    Ones,
    Presence,
    Present,
    Statistic,
)
from dpsql.plan.expression import Column
from dpsql.plan.operator import Release
from dpsql.plan.traversal import columns


def unit_sums(found: UnitSums, releases: Mapping[Release, str], late: frozenset[int]) -> exp.Select:
    """Groups with their totals, in integers of steps."""
    terms = found.terms
    groups_only = replace(terms, statistics=(), selections=())
    handed = tuple(map(column_name, _columns(found)))
    units = emit_terms(groups_only, releases, with_unit=False, late=late, handed=handed)
    units = units.where(*_can_be(found), copy=False)
    sums: dict[str, exp.Expr] = {}
    totals: list[exp.Expr] = []
    for number, (statistic, stored) in enumerate(zip(terms.statistics, found.stands, strict=True)):
        summed = _summed(statistic, stored, found.rows)
        sums[f"s{number}"] = total(filtered(summed, statistic))
        value, column = _value(statistic), field(f"s{number}")
        if value is None or stored is None or not value.centre:
            totals.append(column)
            continue
        sums[f"m{number}"] = total(filtered(reference(stored.values), statistic))
        # Of 128 bits, as the sum of their number is.
        many = exp.Mul(this=field(f"m{number}"), expression=integer(value.centre))
        totals.append(exp.Sub(this=column, expression=many))
    by = [field(name) for name in grouped_names(terms, late)]
    groups = grouped(units, by, [aliased(item, name) for name, item in sums.items()])
    return totals_of(groups, terms, late, list(sums), totals)


def _columns(found: UnitSums) -> tuple[Column, ...]:
    stored = (c for each in found.stands if each is not None for c in (each.values, each.total))
    asked = columns(*(statistic.filter for statistic in found.terms.statistics))
    return tuple(sorted({found.rows, *stored, *asked}, key=lambda column: column.id))


def _can_be(found: UnitSums) -> Iterator[exp.Expr]:
    """A unit has no more values than rows, and their sum is one of so many values."""
    asked: set[StoredSum] = set()
    for statistic, stored in zip(found.terms.statistics, found.stands, strict=True):
        if stored is None:
            continue
        values, value = reference(stored.values), _value(statistic)
        if stored not in asked:
            asked.add(stored)
            yield exp.LTE(this=values, expression=reference(found.rows))
        if value is not None:
            # 16 bits times 46: literals of 32 bits would overflow.
            low, high = (
                exp.Mul(this=cast(values.copy(), "BIGINT"), expression=integer(end))
                for end in (value.low, value.high)
            )
            yield exp.Between(this=reference(stored.total), low=low, high=high)


def _summed(statistic: Statistic, stored: StoredSum | None, rows: Column) -> exp.Expr:
    match statistic.term, stored:
        case Presence(), None:
            return integer(1)
        case Ones(), None:
            return reference(rows)
        case Present(), StoredSum(values=values):
            return reference(values)
        case Amount(), StoredSum(total=summed):
            return reference(summed)
        case _:
            raise ValueError("nothing stands ready for the statistic")


def _value(statistic: Statistic) -> Measured | None:
    return statistic.term.value if isinstance(statistic.term, Amount) else None
