"""Stored rows are counted before they meet others of their unit: a sum of counts is the count.

orders of each customer  customer LEFT JOIN orders ON c_custkey = o_custkey AND o_totalprice > 10
                         GROUP BY c_custkey, unit: count(o_orderkey)

orders                   WHERE o_totalprice > 10 GROUP BY o_custkey, unit: n = count(o_orderkey)
customer LEFT JOIN those ON c_custkey = o_custkey and the same unit
                         GROUP BY c_custkey, unit: the sum of n, 0 of none

Rows that are counted together agree on all that the join asks of them and of a row beside them, so
that each row there meets all of them or none. No key has to hold: a customer that is entered twice
meets its orders twice, and the sums are twice theirs.

Only integers and texts are told apart by GROUP BY whenever a condition may tell them apart: 0.0 and
-0.0 are one group, and print as two texts.

It takes longer where most rows meet none: then they would be put into groups for nothing. Stored
rows have their unit, so that where they meet all of the table that leads to it, by its key, or all
of one whose rows have the same unit, each meets a row.
"""

from __future__ import annotations

from typing import Final, Self

from msgspec import Struct
from sqlglot import exp

from dpsql.analysis.lineage.key_equality import hop_keys, key_equalities
from dpsql.analysis.lineage.lineage import unit
from dpsql.emit.dialect.nodes import exact_aggregate, integer, narrow, scalar, wide_sum
from dpsql.emit.sql.clauses import joined, select_of
from dpsql.emit.sql.identifier import as_column, reference, subquery
from dpsql.plan.aggregate import AggregateCall, AggregateFunction
from dpsql.plan.expression import Column, Expression
from dpsql.plan.operator import Aggregate, Filter, OuterJoin, OuterKind, Scan, SidecarAccess
from dpsql.plan.output_columns import output_columns
from dpsql.plan.traversal import columns
from dpsql.schema.model import EntityUnit
from dpsql.schema.sql_type import BIGINT, Integer, Varchar

_MAX_COUNT: Final = 2**63 - 1
"""No table has more rows, nor a join of two."""


class CountsBelowJoin(Struct, frozen=True):
    """The counts of `aggregate`, over `join`, of whose right rows `tests` are asked alone.

    All else that `join` asks of them is of their columns `met`.
    """

    aggregate: Aggregate
    join: OuterJoin
    met: tuple[Column, ...]
    tests: tuple[Expression, ...]

    @classmethod
    def of(cls, aggregate: Aggregate) -> Self | None:
        """The counts, where all that is counted is columns of stored rows, and they meet by key."""
        join = aggregate.source
        if not isinstance(join, OuterJoin) or join.kind is not OuterKind.LEFT:
            return None
        left, right = (frozenset(output_columns(side)) for side in (join.left, join.right))
        by_key = _by_owner(join)
        tests = tuple(each for each in join.on if each not in by_key)
        met = sorted(columns(*by_key) & right, key=lambda column: column.id)
        are_counts = all(_counts(each.call, right) for each in aggregate.aggregates)
        if (
            not by_key
            or not aggregate.aggregates
            or not are_counts
            or not columns(*(key.expression for key in aggregate.keys)) <= left
            or not all(columns(each) <= right for each in tests)
            or not all(isinstance(column.type, Integer | Varchar) for column in met)
        ):
            return None
        return cls(aggregate, join, tuple(met), tests)

    def select(self, left: exp.Select, right: exp.Select) -> exp.Select:
        """The groups and their counts, of the rows that both sides of the join have."""
        ours, theirs, own = unit(self.join.left), unit(self.join.right), unit(self.join)
        if ours is None or theirs is None or own is None:
            raise ValueError("rows of no unit are counted beside those of one")
        same = [*dict.fromkeys((*self.met, theirs))]
        calls = self.aggregate.aggregates
        counts = [  # which nothing overflows
            as_column(exact_aggregate(a.call, theirs, guarded=False), a.column) for a in calls
        ]
        counted = select_of([*map(reference, same), *counts], subquery(right, "t"))
        if self.tests:
            counted = counted.where(*map(scalar, self.tests), copy=False)
        counted = counted.group_by(*map(reference, same), copy=False)
        conditions = [scalar(each) for each in self.join.on if each not in self.tests]
        conditions.append(exp.EQ(this=reference(ours), expression=reference(theirs)))
        keys = self.aggregate.keys
        named = [as_column(scalar(key.expression), key.column) for key in keys]
        sums = [as_column(_sum_of(a.column), a.column) for a in calls]
        met = joined(
            select_of([*named, *sums, as_column(reference(ours), own)], subquery(left, "t0")),
            subquery(counted, "t1"),
            "LEFT",
            exp.and_(*conditions, copy=False),
        )
        by = [*(scalar(key.expression) for key in keys), reference(ours)]
        return met.group_by(*by, copy=False)


def _by_owner(join: OuterJoin) -> list[Expression]:
    """What equates stored rows with the row that leads to their unit, of a table that is all there.

    Nothing where the join doesn't: rows that meet no other would be counted for nothing.
    """
    rows = join.right.source if isinstance(join.right, Filter) else join.right
    if not isinstance(rows, Scan) or rows.sidecar is not SidecarAccess.ROWS:
        return []
    if not isinstance(join.left, Scan):
        return []
    match rows.table.ownership, join.left.table.ownership:
        case EntityUnit(hops=(hop, *_)), _:
            return hop_keys(join.on, rows, hop, join.left)
        case EntityUnit(hops=(), column=column), EntityUnit(hops=(), column=key):
            return key_equalities(join.on, rows, column, join.left, key)
        case _:
            return []


def _counts(call: AggregateCall, rows: frozenset[Column]) -> bool:
    """`call` counts a column of `rows`: NULLs, as beside a row without a partner, count for 0."""
    is_plain = not call.distinct and call.filter is None and call.type == BIGINT
    if call.function is not AggregateFunction.COUNT or not is_plain:
        return False
    return len(call.arguments) == 1 and call.arguments[0] in rows


def _sum_of(count: Column) -> exp.Expr:
    summed = exp.Coalesce(this=wide_sum(reference(count)), expressions=[integer(0)])
    return narrow(summed, 0, _MAX_COUNT)
