"""What stands beside each row of a sidecar: how many rows its unit has, in all and of its values.

Each is a function of one unit's bag of rows and of a salt that is drawn for each file: whoever else
is in the table changes none of it. Of a column c:

| column      | what it holds                                                             |
| ----------- | ------------------------------------------------------------------------- |
| rows with c | the unit's rows that have this row's value of c, NULL being one            |
| place of c  | the place of this value among the unit's, by a keyed hash of unit and value |
| first of c  | TRUE in one of the unit's rows with this value; which one is nobody's promise |

One more is a function of the whole table, and so it decides no number, but only which of two ways
the engine takes to the same one:

| column             | what it holds                                                      |
| ------------------ | ------------------------------------------------------------------ |
| beyond bounds of c | 1 in all rows if any row's c is NULL or beyond its bounds, else 0   |

Rows stand in the order of their units: those within all declared limits first, and of these those
of few rows. Who may be over a limit thus stands at the end, and reading them alone skips the rest;
no statement sees an order, and limits are enforced whatever it is. Of a table that is too long to
be sorted at once, that holds of each part of its units.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from dpsql.engine.sidecar import unit_sums

UNIT: Final = "unit of the row"
"""The column that holds each row's unit."""

ROWS: Final = "rows of the unit"
"""The column that holds how many rows a row's unit has in the table."""

MOST: Final = 65_535
"""Numbers are 16 bits wide: this one means so many or more."""

_BASE: Final = "rows with units"
_NUMBER: Final = "number of the row"
_OVER: Final = "over a limit"
_UNITS: Final = "units with rows"
_BEYOND: Final = "what is beyond its bounds"


def rows_with(column: str) -> str:
    """The name of the number of a unit's rows with a value of `column`."""
    return f"rows with {column}"


def place_of(column: str) -> str:
    """The name of the place of a value of `column` among its unit's."""
    return f"place of {column}"


def first_of(column: str) -> str:
    """The name of the mark of one row for each of a unit's values of `column`."""
    return f"first of {column}"


def beyond_of(column: str) -> str:
    """The name of the number that is 0 where all values of `column` lie within its bounds."""
    return f"beyond bounds of {column}"


@dataclass(frozen=True, slots=True)
class Contents:
    """A table to prepare: `rows` is the SELECT of its rows and their unit.

    `with_unit` is one of how many rows of the table have a unit, each counted once. Beside each
    stands how many its unit has, in all, and of its value of each of `counted`. Units with more
    than `most` rows, or more than `most_per_value` of one value, stand last. `bounded` are columns,
    each with the condition that its value lies within its bounds; `summed` are those whose sums are
    kept for each unit, None if none has a row of its own. `own` is the column that names the unit,
    in this table or in the one that leads to it; under the name `lent`, if there is one, it stands
    beside the rows, too.
    """

    name: str
    rows: str
    with_unit: str
    counted: tuple[str, ...]
    bounded: tuple[tuple[str, str], ...]
    summed: tuple[unit_sums.ColumnSum, ...] | None
    own: str
    lent: str | None
    most: int
    most_per_value: int

    @property
    def added(self) -> tuple[str, ...]:
        """The columns that no table may have of its own."""
        kinds = (rows_with, place_of, first_of)
        beside = (name(c) for c in self.counted for name in kinds)
        sums = unit_sums.names(self.summed or ())
        return (UNIT, ROWS, _NUMBER, *beside, *(beyond_of(c) for c, _ in self.bounded), *sums)


def statements(
    contents: Contents, made: exp.Table, units: exp.Table, salt: str, part: int, parts: int
) -> Iterator[str]:
    """What adds one part of the units to the table `made` of rows, and to that of `units`.

    After the last part, nothing else is left behind.
    """
    if part == 0:
        # Of the whole table: a number that isn't the same in all parts would decide nothing.
        yield f"CREATE TEMP TABLE {_sql(_BEYOND)} AS {_beyond(contents)}"
    own = f"hash({_sql(UNIT)}) % {parts} = {part}"
    rows = f"SELECT row_number() OVER () AS {_sql(_NUMBER)}, * FROM ({contents.rows}) WHERE {own}"  # noqa: S608
    yield f"CREATE TEMP TABLE {_sql(_BASE)} AS {rows}"
    for place, column in enumerate(contents.counted):
        counted = _counted(column, salt).sql("duckdb")
        yield f"CREATE TEMP TABLE {_sql(_counts(place))} AS {counted}"
    each = _units(contents).sql("duckdb")
    yield f"CREATE TEMP TABLE {_sql(_UNITS)} AS {each}"
    rows = _joined(contents).sql("duckdb")
    sums = [] if contents.summed is None else [(units, _of_units(contents).sql("duckdb"))]
    for table, select in [(made, rows), *sums]:
        name = table.sql("duckdb")
        yield f"INSERT INTO {name} {select}" if part else f"CREATE TABLE {name} AS {select}"
    for name in (_BASE, _UNITS, *map(_counts, range(len(contents.counted)))):
        yield f"DROP TABLE {_sql(name)}"
    if part == parts - 1:
        yield f"DROP TABLE {_sql(_BEYOND)}"


def _beyond(contents: Contents) -> str:
    """One row: of each bounded column, whether any row is beyond; 0 where there are no rows."""
    found = [
        f"CAST(coalesce(max(CASE WHEN {within} THEN 0 ELSE 1 END), 0) AS UTINYINT)"
        f" AS {_sql(beyond_of(column))}"
        for column, within in contents.bounded
    ]
    # Without an aggregate there would be one row for each row of the table, and each row of the
    # sidecar would stand beside all of them: of 50 rows, 2,500 would be made.
    found.append(f"count(*) AS {_sql(ROWS)}")
    return f"SELECT {', '.join(found)} FROM ({contents.rows})"  # noqa: S608


def _counted(column: str, salt: str) -> exp.Select:
    """One row per unit and value: its rows, the first of them, its place among the values."""
    unit, value = _column(UNIT), _column(column)
    each = (
        exp.select(unit, value, _as(_call("count", exp.Star()), rows_with(column)))
        .select(_as(_call("min", _column(_NUMBER)), first_of(column)))
        .from_(_table(_BASE))
        .group_by(unit, value)
    )
    hashed = _call("hash", unit, value, exp.Literal.string(salt))
    return exp.select(
        exp.Star(),
        _as(_over(_call("row_number"), unit, [hashed, value]), place_of(column)),
    ).from_(each.subquery("t"))


def _joined(contents: Contents) -> exp.Select:
    unit = _column(UNIT, "t")
    without = exp.Star(except_=[exp.to_identifier(_NUMBER, quoted=True)])
    select = (
        exp.select(exp.Column(this=without, table=exp.to_identifier("t")))
        .select(_narrow(ROWS, "u"))
        .from_(_table(_BASE, "t"))
        .join(_table(_UNITS, "u"), on=exp.EQ(this=unit, expression=_column(UNIT, "u")))
        .join(_table(_BEYOND, "b"), join_type="CROSS")
        .select(*(_column(beyond_of(column), "b") for column, _ in contents.bounded))
    )
    if contents.lent is not None:
        select = select.select(_as(unit, contents.lent))
    for number, column in enumerate(contents.counted):
        beside = f"c{number}"
        same = exp.and_(
            exp.EQ(this=unit.copy(), expression=_column(UNIT, beside)),
            # A row without a value has the rows of its unit that are without one, too.
            exp.NullSafeEQ(this=_column(column, "t"), expression=_column(column, beside)),
        )
        first = exp.EQ(this=_column(_NUMBER, "t"), expression=_column(first_of(column), beside))
        names = (rows_with(column), place_of(column))
        select = select.join(_table(_counts(number), beside), on=same).select(
            *(_narrow(name, beside) for name in names),
            _as(exp.Paren(this=first), first_of(column)),
        )
    return select.order_by(_column(_OVER, "u"), _column(ROWS, "u"), unit.copy())


def _units(contents: Contents) -> exp.Select:
    """One row per unit: its rows, their sums, and whether any limit may be passed."""
    rows = _call("count", exp.Star())
    over: exp.Expr = exp.GT(this=rows.copy(), expression=exp.Literal.number(contents.most))
    for place, column in enumerate(contents.counted):
        most = exp.Literal.number(contents.most_per_value)
        many = exp.select(_column(UNIT)).from_(_table(_counts(place)))
        many = many.where(exp.GT(this=_column(rows_with(column)), expression=most))
        over = exp.Or(this=over, expression=exp.In(this=_column(UNIT), query=many.subquery()))
    units = exp.select(_column(UNIT), _as(rows, ROWS), _as(exp.Paren(this=over), _OVER))
    units = units.select(*unit_sums.sums(contents.summed or ()), dialect="duckdb")
    return units.from_(_table(_BASE)).group_by(_column(UNIT))


def _of_units(contents: Contents) -> exp.Select:
    named = _as(_column(UNIT), contents.own)
    select = exp.select(named, _column(UNIT), _narrow(ROWS, "u")).from_(_table(_UNITS, "u"))
    select = select.select(*unit_sums.narrowed(contents.summed or ()), dialect="duckdb")
    return select.order_by(_column(_OVER), _column(ROWS, "u"), _column(UNIT))


def _narrow(name: str, of: str) -> exp.Expr:
    least = _call("least", _column(name, of), exp.Literal.number(MOST))
    return _as(exp.Cast(this=least, to=exp.DataType.build("USMALLINT", dialect="duckdb")), name)


def _counts(place: int) -> str:
    return f"rows by value {place}"


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
