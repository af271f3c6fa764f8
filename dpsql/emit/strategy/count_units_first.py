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
from dpsql.emit.sql.identifier import aliased, field, table
from dpsql.emit.sql.literal import integer
from dpsql.plan.bounded_release.bounded_release import CountFirst

_COUNTED: Final = "counted"
_MANY: Final = "many"


def with_counted(select: exp.Select, rows: exp.Select, counted: CountFirst) -> exp.Select:
    """`select`, which reads what `rows_of_units` gives, after the tables that it is made of."""
    many = (
        exp.select(aliased(field("u"), "mu"), copy=False)
        .from_(table(_COUNTED), copy=False)
        .group_by(field("u"), copy=False)
        .having(exp.GT(this=number_of_rows(), expression=integer(counted.rows)), copy=False)
    )
    return select.with_(_COUNTED, as_=rows, materialized=True, copy=False).with_(
        _MANY, as_=many, materialized=True, copy=False
    )


def rows_of_units(*, light: bool) -> exp.Select:
    """The rows of units that have few, or of all others."""
    many = exp.select(field("mu"), copy=False).from_(table(_MANY), copy=False)
    found = exp.In(this=field("u"), query=exp.Subquery(this=many))
    rows = exp.select(exp.Star(), copy=False).from_(table(_COUNTED), copy=False)
    return rows.where(exp.Not(this=found) if light else found, copy=False)
