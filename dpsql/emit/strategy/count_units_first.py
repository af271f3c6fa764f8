"""Rows of units that no limit can bind, told from others by counting them.

| level   | one row per           | columns        |
| ------- | --------------------- | -------------- |
| counted | row of the source     | u, groups, r0 … |
| many    | unit of too many rows | mu             |
"""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from dpsql.emit.release.contribution import number_of_rows
from dpsql.emit.sql.identifier import column_ref, table, with_alias
from dpsql.emit.sql.literal import integer
from dpsql.plan.bounded_release.bounded_release import CountUnitsFirst

_UNIT_COUNTS: Final = "counted"
_OVER_LIMIT: Final = "many"


def with_unit_counts(select: exp.Select, rows: exp.Select, counted: CountUnitsFirst) -> exp.Select:
    """`select`, which reads what `rows_of_units` gives, after the tables that it is made of."""
    many = (
        exp.select(with_alias(column_ref("u"), "mu"), copy=False)
        .from_(table(_UNIT_COUNTS), copy=False)
        .group_by(column_ref("u"), copy=False)
        .having(exp.GT(this=number_of_rows(), expression=integer(counted.max_rows)), copy=False)
    )
    return select.with_(_UNIT_COUNTS, as_=rows, materialized=True, copy=False).with_(
        _OVER_LIMIT, as_=many, materialized=True, copy=False
    )


def rows_of_units(*, unlimited: bool) -> exp.Select:
    """The rows of units that have few, or of all others."""
    many = exp.select(column_ref("mu"), copy=False).from_(table(_OVER_LIMIT), copy=False)
    found = exp.In(this=column_ref("u"), query=exp.Subquery(this=many))
    rows = exp.select(exp.Star(), copy=False).from_(table(_UNIT_COUNTS), copy=False)
    return rows.where(exp.Not(this=found) if unlimited else found, copy=False)
