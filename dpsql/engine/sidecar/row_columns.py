"""The columns that a sidecar adds to each row: its unit, and counts of that unit's rows.

Each is a function of one unit's bag of rows and of a salt that is drawn for each file: other units'
rows change none of them. For a column c:

| column      | what it holds                                                             |
| ----------- | ------------------------------------------------------------------------- |
| rows with c | the unit's rows that have this row's value of c, NULL being one            |
| place of c  | the place of this value among the unit's, by a keyed hash of unit and value |
| values of c in the unit | how many values of c the unit has, NULL being one              |
| first of c  | TRUE in one of the unit's rows with this value; which one is nobody's promise |

One more is a function of the whole table. So it changes no result, but only which of two plans for
the same result the engine runs:

| column             | what it holds                                                      |
| ------------------ | ------------------------------------------------------------------ |
| beyond bounds of c | 1 in all rows if any row's c is NULL or beyond its bounds, else 0   |

Rows are in the order of their units: units within all declared limits first, and among these, ones
with few rows first. So units that may be over a limit are at the end, and reading only them skips
the rest. No statement depends on the order, and limits are enforced whatever it is. If a table is
too long to be sorted at once, each part of its units is in this order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct
from sqlglot import exp

from dpsql.engine.sidecar import unit_sums

UNIT_COLUMN: Final = "unit of the row"
"""The column that holds each row's unit."""

UNIT_ROW_COUNT: Final = "rows of the unit"
"""The column that holds how many rows a row's unit has in the table."""

COUNT_CAP: Final = 65_535
"""Counts are 16 bits wide: this count means so many or more."""

_BASE: Final = "rows with units"
_NUMBER: Final = "number of the row"
_OVER: Final = "over a limit"
_UNITS: Final = "units with rows"
OUT_OF_RANGE: Final = "what is beyond its bounds"
"""The temporary table of what `range_check` finds out, while a table is filled."""


def value_count_column(column: str) -> str:
    """The name of the column that counts the unit's rows with this row's value of `column`."""
    return f"rows with {column}"


def group_rank_column(column: str) -> str:
    """The name of the column with the rank of this row's value of `column` in its unit."""
    return f"place of {column}"


def distinct_count_column(column: str) -> str:
    """The name of the column that counts the unit's values of `column`."""
    return f"values of {column} in the unit"


def first_row_column(column: str) -> str:
    """The name of the column that is TRUE in one row for each of a unit's values of `column`."""
    return f"first of {column}"


def out_of_range_column(column: str) -> str:
    """The name of the column that is 0 if all values of `column` lie within its bounds, else 1."""
    return f"beyond bounds of {column}"


class SidecarTable(Struct, frozen=True):
    """A table to prepare: `rows` is the SELECT of its rows and their unit.

    `with_unit` is the SELECT that counts the rows that have a unit, each once. Each row gets its
    unit's number of rows, in all and with its value of each of `group_count_columns`. Units with
    more than `max_rows` rows, or more than `max_rows_per_value` of one value, are last in order.
    `range_checked_columns` are columns, each with the SQL condition that its value lies within its
    bounds; `unit_sum_columns` are summed for each unit, None if the sidecar has no rows of units.
    `unit_column` is the column that names the unit, in this table or in the one that its keys lead
    to; the rows get it, too, under the name `lent_unit_column`, unless that is None.
    Two rows are the same if the SQL expressions `compared` are.
    """

    name: str
    rows: str
    with_unit: str
    group_count_columns: tuple[str, ...]
    range_checked_columns: tuple[tuple[str, str], ...]
    unit_sum_columns: tuple[unit_sums.ColumnSum, ...] | None
    unit_column: str
    lent_unit_column: str | None
    max_rows: int
    max_rows_per_value: int
    compared: tuple[str, ...]

    @property
    def added(self) -> tuple[str, ...]:
        """The names of all columns that the sidecar adds, which the table must not have itself."""
        kinds = (value_count_column, group_rank_column, distinct_count_column, first_row_column)
        counts = (name(c) for c in self.group_count_columns for name in kinds)
        sums = unit_sums.names(self.unit_sum_columns or ())
        return (
            UNIT_COLUMN,
            UNIT_ROW_COUNT,
            _NUMBER,
            *counts,
            *(out_of_range_column(c) for c, _ in self.range_checked_columns),
            *sums,
        )


def statements(
    contents: SidecarTable,
    target: exp.Table,
    units: exp.Table,
    salt: str,
    chosen: str,
    *,
    adds: bool,
) -> Iterator[str]:
    """The statements that fill the tables `target`, of rows, and `units`, with units of a table.

    `chosen` is the SQL condition on rows that tells these units, all of whose rows it takes. The
    tables are created, unless rows are added. Afterwards, no temporary table of theirs is left.
    """
    # row_number() OVER () would have rows wait for one another, which takes twice the time.
    yield f"CREATE OR REPLACE TEMP SEQUENCE {_sql(_NUMBER)}"
    number = _call("nextval", exp.Literal.string(_sql(_NUMBER))).sql("duckdb")
    base = f"SELECT {number} AS {_sql(_NUMBER)}, * FROM ({contents.rows}) WHERE {chosen}"  # noqa: S608
    yield f"CREATE TEMP TABLE {_sql(_BASE)} AS {base}"
    for column_number, column in enumerate(contents.group_count_columns):
        counted = _counted(column, salt).sql("duckdb")
        yield f"CREATE TEMP TABLE {_sql(_counts(column_number))} AS {counted}"
    each = _units(contents).sql("duckdb")
    yield f"CREATE TEMP TABLE {_sql(_UNITS)} AS {each}"
    rows = _joined(contents).sql("duckdb")
    sums = [] if contents.unit_sum_columns is None else [(units, _of_units(contents).sql("duckdb"))]
    for table, select in [(target, rows), *sums]:
        name = table.sql("duckdb")
        yield f"INSERT INTO {name} {select}" if adds else f"CREATE TABLE {name} AS {select}"
    for name in (_BASE, _UNITS, *map(_counts, range(len(contents.group_count_columns)))):
        yield f"DROP TABLE {_sql(name)}"
    yield f"DROP SEQUENCE {_sql(_NUMBER)}"


def _counted(column: str, salt: str) -> exp.Select:
    """One row per unit and value: rows, the first row, the value's rank, how many values it has."""
    unit, value = _column(UNIT_COLUMN), _column(column)
    each = (
        exp.select(unit, value, _as(_call("count", exp.Star()), value_count_column(column)))
        .select(_as(_call("min", _column(_NUMBER)), first_row_column(column)))
        .from_(_table(_BASE))
        .group_by(unit, value)
    )
    hashed = _call("hash", unit, value, exp.Literal.string(salt))
    order = [hashed, value]
    return exp.select(
        exp.Star(),
        _as(_over(_call("row_number"), unit, order), group_rank_column(column)),
        _as(_over_all(_call("count", exp.Star()), unit, order), distinct_count_column(column)),
    ).from_(each.subquery("t"))


def _joined(contents: SidecarTable) -> exp.Select:
    unit = _column(UNIT_COLUMN, "t")
    without = exp.Star(except_=[exp.to_identifier(_NUMBER, quoted=True)])
    select = (
        exp.select(exp.Column(this=without, table=exp.to_identifier("t")))
        .select(_narrow(UNIT_ROW_COUNT, "u"))
        .from_(_table(_BASE, "t"))
        .join(_table(_UNITS, "u"), on=exp.EQ(this=unit, expression=_column(UNIT_COLUMN, "u")))
        .join(_table(OUT_OF_RANGE, "b"), join_type="CROSS")
        .select(
            *(
                _column(out_of_range_column(column), "b")
                for column, _ in contents.range_checked_columns
            )
        )
    )
    if contents.lent_unit_column is not None:
        select = select.select(_as(unit, contents.lent_unit_column))
    for number, column in enumerate(contents.group_count_columns):
        alias = f"c{number}"
        same = exp.and_(
            exp.EQ(this=unit.copy(), expression=_column(UNIT_COLUMN, alias)),
            # NULL is a value like others: its count is of the unit's rows with NULL.
            exp.NullSafeEQ(this=_column(column, "t"), expression=_column(column, alias)),
        )
        first = exp.EQ(
            this=_column(_NUMBER, "t"), expression=_column(first_row_column(column), alias)
        )
        kinds = (value_count_column, group_rank_column, distinct_count_column)
        names = [name(column) for name in kinds]
        select = select.join(_table(_counts(number), alias), on=same).select(
            *(_narrow(name, alias) for name in names),
            _as(exp.Paren(this=first), first_row_column(column)),
        )
    return select.order_by(_column(_OVER, "u"), _column(UNIT_ROW_COUNT, "u"), unit.copy())


def _units(contents: SidecarTable) -> exp.Select:
    """One row per unit: its number of rows, their sums, and whether it may be over a limit."""
    rows = _call("count", exp.Star())
    over: exp.Expr = exp.GT(this=rows.copy(), expression=exp.Literal.number(contents.max_rows))
    for number, column in enumerate(contents.group_count_columns):
        limit = exp.Literal.number(contents.max_rows_per_value)
        many = exp.select(_column(UNIT_COLUMN)).from_(_table(_counts(number)))
        many = many.where(exp.GT(this=_column(value_count_column(column)), expression=limit))
        over = exp.Or(
            this=over, expression=exp.In(this=_column(UNIT_COLUMN), query=many.subquery())
        )
    units = exp.select(
        _column(UNIT_COLUMN), _as(rows, UNIT_ROW_COUNT), _as(exp.Paren(this=over), _OVER)
    )
    units = units.select(*unit_sums.sums(contents.unit_sum_columns or ()), dialect="duckdb")
    return units.from_(_table(_BASE)).group_by(_column(UNIT_COLUMN))


def _of_units(contents: SidecarTable) -> exp.Select:
    named = _as(_column(UNIT_COLUMN), contents.unit_column)
    select = exp.select(named, _column(UNIT_COLUMN), _narrow(UNIT_ROW_COUNT, "u")).from_(
        _table(_UNITS, "u")
    )
    select = select.select(*unit_sums.narrowed(contents.unit_sum_columns or ()), dialect="duckdb")
    return select.order_by(_column(_OVER), _column(UNIT_ROW_COUNT, "u"), _column(UNIT_COLUMN))


def _narrow(name: str, of: str) -> exp.Expr:
    """The count `name` of the relation `of` in 16 bits, capped at COUNT_CAP."""
    capped = _call("least", _column(name, of), exp.Literal.number(COUNT_CAP))
    return _as(exp.Cast(this=capped, to=exp.DataType.build("USMALLINT", dialect="duckdb")), name)


def _counts(number: int) -> str:
    return f"rows by value {number}"


def _over_all(call: exp.Expr, by: exp.Expr, order: Sequence[exp.Expr]) -> exp.Expr:
    """`call` of all rows that agree on `by`; in an order that rows are sorted by anyway."""
    window = _over(call, by, order)
    ends = {"start": "UNBOUNDED", "start_side": "PRECEDING"}
    ends |= {"end": "UNBOUNDED", "end_side": "FOLLOWING"}
    window.set("spec", exp.WindowSpec(kind="ROWS", **ends))
    return window


def _over(call: exp.Expr, by: exp.Expr, order: Sequence[exp.Expr]) -> exp.Expr:
    ordered = [exp.Ordered(this=o.copy(), nulls_first=False) for o in order]
    return exp.Window(this=call, partition_by=[by.copy()], order=exp.Order(expressions=ordered))


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=[argument.copy() for argument in arguments])


def _as(item: exp.Expr, name: str) -> exp.Expr:
    return exp.Alias(this=item, alias=exp.to_identifier(name, quoted=True))


def _column(name: str, of: str | None = None) -> exp.Expr:
    return exp.column(exp.to_identifier(name, quoted=True), table=of)


def _table(name: str, alias: str | None = None) -> exp.Expr:
    return exp.to_table(_sql(name), dialect="duckdb", alias=alias)


def _sql(name: str) -> str:
    return exp.to_identifier(name, quoted=True).sql("duckdb")
