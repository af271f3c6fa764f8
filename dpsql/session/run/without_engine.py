"""Answers whose rows are released ones as they are: picked, put in order and cut without an engine.

Or with arithmetic of them, of a few rows. An engine takes milliseconds to be told of a small table
and to give it back. What isn't here, say HAVING, is its work; where both can do it they agree, but
for the order of rows that tie, which nobody promises. Released rows come sorted by their keys, so
that order shows nothing.
"""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import isnan
from typing import Any, Final, TypeAlias

import pyarrow as pa
from msgspec import Struct

from dpsql.plan.expression import Column, Expression
from dpsql.plan.operator import Limit, Plan, Project, Release, Sort
from dpsql.plan.output_columns import output_columns
from dpsql.plan.sort_key import SortKey
from dpsql.release.columns.arrow import arrow_type
from dpsql.release.columns.group_keys import take
from dpsql.schema.sql_type import (
    Boolean,
    Date,
    Decimal,
    Double,
    Integer,
    SqlType,
    Timestamp,
    Varchar,
)
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.run.exact_arithmetic import exact_arithmetic, is_exact

_PLAIN: Final = (Boolean, Integer, Decimal, Double, Varchar, Date, Timestamp)
"""What the engine gives back as it was given."""

_Test: TypeAlias = Callable[[Expression], bool]
"""Whether values of an expression are computed here, unless one of them is left to an engine."""

MAX_SORTED = 1_000
"""Rows that are sorted here; more are sorted sooner by the engine."""


def is_projected(compiled: CompiledStatement) -> bool:
    """Whether the rows of `compiled` are those of a release, put in order, cut, and picked from.

    Then there is nothing to try of what stands above the release: it computes no value.
    """
    return _projected(compiled, _is_column) is not None


def project_without_engine(
    compiled: CompiledStatement, released: Mapping[str, pa.Table]
) -> pa.Table | None:
    """The rows of `compiled`, of the tables of its releases; None if an engine has to make them."""
    release, plan = _projected(compiled, _is_computable), _plan(compiled)
    if release is None:
        return None
    rows = _rows(plan, released[release.name])
    if rows is None:
        return None
    names = [f"c{column.id}" for column in output_columns(plan)]
    return pa.table([rows.columns[name] for name in names], names=names)


def _projected(compiled: CompiledStatement, computes: _Test) -> CompiledRelease | None:
    """The release whose rows those of `compiled` are, which may be computed on others; or None.

    `computes` says which values of its projections aren't left to an engine.
    """
    plan, numbered = _plan(compiled), compiled.numbered
    if compiled.tagged_union is not None or not output_columns(plan):
        return None
    own = _projected_release(plan, computes)
    if numbered is not None and own is not None:
        own = next(old for new, old in numbered.releases.items() if new == own)
    return next((release for release in compiled.releases if release.release == own), None)


def _plan(compiled: CompiledStatement) -> Plan:
    return compiled.plan if compiled.numbered is None else compiled.numbered.plan


class _Rows(Struct, frozen=True):
    """Columns by their names, all of `count` values."""

    columns: Mapping[str, pa.Array]
    count: int


def _is_column(expression: Expression) -> bool:
    return isinstance(expression, Column)


def _is_computable(expression: Expression) -> bool:
    return isinstance(expression, Column) or is_exact(expression)


def _projected_release(plan: Plan, computes: _Test) -> Release | None:
    """The release whose rows `plan` puts in order, cuts, and picks from; None if it does more."""
    match plan:
        case Release():
            return plan if all(_is_plain(c.type) for c in output_columns(plan)) else None
        case Project(source=source, outputs=outputs):
            picks = all(computes(output.expression) for output in outputs)
            return _projected_release(source, computes) if picks else None
        case Sort(source=source, by=by):
            picks = all(computes(key.expression) for key in by)
            return _projected_release(source, computes) if picks else None
        case Limit(source=source):
            return _projected_release(source, computes)
        case _:
            return None


def _rows(plan: Plan, table: pa.Table) -> _Rows | None:
    """The rows of a projection of `table`; None if they are many, or left to an engine."""
    match plan:
        case Release():
            return _released(plan, table)
        case Project(source=source, outputs=outputs):
            below = _rows(source, table)
            if below is None:
                return None
            columns: dict[str, pa.Array] = {}
            for output in outputs:
                values = _values(output.expression, below)
                if values is None:
                    return None
                columns[f"c{output.column.id}"] = values
            return _Rows(columns, below.count)
        case Sort(source=source, by=by):
            below = _rows(source, table)
            return None if below is None else _sorted(below, by)
        case Limit(source=source, count=count, offset=offset):
            below = _rows(source, table)
            if below is None:
                return None
            first = min(offset, below.count)
            length = below.count - first if count is None else min(count, below.count - first)
            return _Rows({n: c.slice(first, length) for n, c in below.columns.items()}, length)
        case _:
            return None


def _values(expression: Expression, rows: _Rows) -> pa.Array | None:
    if isinstance(expression, Column):
        return rows.columns[f"c{expression.id}"]
    return exact_arithmetic(expression, rows.columns, rows.count)


def _released(plan: Release, table: pa.Table) -> _Rows | None:
    columns = output_columns(plan)
    arrays = {f"c{c.id}": _whole(table.column(f"c{c.id}")) for c in columns}
    if any(arrays[f"c{c.id}"].type != arrow_type(c.type) for c in columns):
        return None
    return _Rows(arrays, table.num_rows)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _is_plain(kind: SqlType) -> bool:
    """Whether a column of `kind` needn't be an engine's."""
    return isinstance(kind, _PLAIN)


def _sorted(rows: _Rows, by: Sequence[SortKey]) -> _Rows | None:
    if rows.count > MAX_SORTED:
        return None
    order = list(range(rows.count))
    # The last term first: Python's sort keeps the order of what ties.
    for key in reversed(by):
        column = _values(key.expression, rows)
        if column is None:
            return None
        values = column.to_pylist()
        if pa.types.is_floating(column.type) and any(map(isnan, filter(None, values))):
            return None  # Python can't sort NaN
        if None not in values:
            order.sort(key=values.__getitem__, reverse=key.descending)
            continue
        order.sort(key=partial(_sort_value, values), reverse=key.descending)
        order.sort(key=partial(_is_last, values, nulls_first=key.nulls_first))
    if order == list(range(rows.count)):
        return rows
    indices = pa.array(order, pa.int64()).to_numpy()
    return _Rows({name: take(column, indices) for name, column in rows.columns.items()}, rows.count)


_Comparable = bool | int | float | str | decimal.Decimal | dt.date


def _sort_value(values: list[_Comparable | None], row: int) -> tuple[bool, Any]:
    value = values[row]
    return (value is None, 0 if value is None else value)


def _is_last(values: list[_Comparable | None], row: int, *, nulls_first: bool) -> bool:
    return (values[row] is None) != nulls_first
