"""Views of a table's drawn units alone: no statement reads another row, however it is planned.

    CREATE VIEW visits AS SELECT * FROM "all of visits" AS t WHERE drawn(t.patient_id)

A unit is drawn if the first 64 bits of SHA-256 of a secret key and of the unit are below a
threshold. To who doesn't know the key these are independent random bits for each unit, as far as
truncated SHA-256 is a pseudorandom function (Coron et al. 2005). DuckDB's own hash wouldn't do: a
second argument is combined by XOR, so that units whose hashes begin alike would be drawn together,
whatever the key is. No other choice uses this key: those of groups have a fresh one each.

| a row's unit                | it is drawn                                                      |
| --------------------------- | ---------------------------------------------------------------- |
| is a value of its own       | by that value: an integer, a UUID or a text, written as text     |
| is that of a row of another | if one of those rows is; a scan joins it with no others          |
| is itself                   | by its key, and by its number among rows of the same key         |

Two rows of one key are two units, and must not be drawn by the same bits; their order is that of
all their columns, so that each statement numbers them alike.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final, assert_never

from sqlglot import exp

from dpsql.engine.source import (
    DuckDBSource,
    RowByKey,
    SampledUnit,
    SourceSample,
    SourceTable,
    UnitColumn,
    UnitOfParent,
)
from dpsql.errors import InternalError

_DIGITS: Final = 16
"""Hexadecimal digits of the 64 bits that are compared."""

_NUMBER: Final = "number of a row"
_DRAWN: Final = "drawn rows"


def stored_name(table: str) -> str:
    """The name of all rows of `table`, which no schema can say: it has a space."""
    return f"all of {table}"


def sampled_tables(source: DuckDBSource) -> tuple[str, ...]:
    """The tables of which drawn units alone are seen, each after those whose rows tell its units.

    Raises InternalError without a key, and where such rows aren't sampled themselves.
    """
    sample = source.sample
    if sample is None:
        return ()
    if not sample.key:
        raise InternalError("the sample of the source has no key")
    units = dict(sample.tables)
    ordered: list[str] = []
    while waiting := [name for name in units if name not in ordered]:
        ready = [name for name in waiting if _parent(units[name]) in (None, *ordered)]
        if not ready:
            raise InternalError("rows whose units are told by rows of no sample")
        ordered += ready
    return tuple(ordered)


def sampled_view(table: SourceTable, sample: SourceSample) -> exp.Create:
    """The statement that creates a view of the rows of `table` whose unit is drawn."""
    rows = exp.Table(this=_name(stored_name(table.name)), alias=exp.TableAlias(this=_name("t")))
    columns = [_column(name) for name, _, _ in table.stored]
    unit = dict(sample.tables)[table.name]
    select = exp.select(*columns)
    match unit:
        case UnitColumn(kind=kind, column=column):
            select = select.from_(rows).where(_is_drawn(sample, kind, _text(_column(column))))
        case UnitOfParent(parent=parent, pairs=pairs):
            select = _materialized(select.from_(rows).where(_has_parent(parent, pairs)))
        case RowByKey(key=key):
            identity = _together([_column(name) for name in key])
            order = _together(columns)
            number = exp.Window(
                this=exp.Anonymous(this="row_number"),
                partition_by=[identity.copy()],
                order=exp.Order(expressions=[exp.Ordered(this=order, nulls_first=False)]),
            )
            numbered = exp.select(*columns, exp.alias_(number, _NUMBER, quoted=True)).from_(rows)
            counted = [identity, exp.Literal.string("#"), _text(_column(_NUMBER))]
            drawn = _is_drawn(sample, f"row of {table.name}", _joined(counted))
            select = select.from_(numbered.subquery(_name("t"), copy=False)).where(drawn)
            select = _materialized(select)
        case missing:
            assert_never(missing)
    return exp.Create(this=exp.Table(this=_name(table.name)), kind="VIEW", expression=select)


def _is_drawn(sample: SourceSample, kind: str, unit: exp.Expr) -> exp.Expr:
    """Whether `unit`, a text, is drawn; NULL if it is NULL, so that rows without a unit aren't."""
    key = hashlib.sha256(f"{sample.key} {kind}".encode()).hexdigest()
    hashed = exp.Anonymous(this="sha256", expressions=[_joined([exp.Literal.string(key), unit])])
    first = exp.Anonymous(
        this="substr",
        expressions=[hashed, exp.Literal.number(1), exp.Literal.number(_DIGITS)],
    )
    # Digits of equal number are in the order of the numbers that they write.
    return exp.LT(this=first, expression=exp.Literal.string(f"{sample.threshold:0{_DIGITS}x}"))


def _materialized(rows: exp.Select) -> exp.Select:
    """`rows` that were joined, as rows of a table: statements compute of them as of a table's.

    `emit.dialect.duckdb.attempt.column_copies` says what DuckDB loses of joined rows.
    """
    return exp.select("*").from_(_name(_DRAWN)).with_(_name(_DRAWN), rows, materialized=True)


def _has_parent(parent: str, pairs: tuple[tuple[str, str], ...]) -> exp.Expr:
    rows = exp.Table(this=_name(parent), alias=exp.TableAlias(this=_name("p")))
    equal = (
        exp.EQ(this=_column(own), expression=exp.column(_name(key), table=_name("p")))
        for own, key in pairs
    )
    return exp.Exists(
        this=exp.select(exp.Literal.number(1)).from_(rows).where(exp.and_(*equal, copy=False))
    )


def _parent(unit: SampledUnit) -> str | None:
    return unit.parent if isinstance(unit, UnitOfParent) else None


def _together(values: Sequence[exp.Expr]) -> exp.Expr:
    """Values as one text, no two lists of them alike: each with its length, NULL as a sign."""
    parts: list[exp.Expr] = []
    for value in values:
        text = _text(value)
        length = _text(exp.Anonymous(this="length", expressions=[text.copy()]))
        sized = _joined([length, exp.Literal.string(":"), text])
        parts.append(exp.Coalesce(this=sized, expressions=[exp.Literal.string("-")]))
    return _joined(parts)


def _joined(texts: list[exp.Expr]) -> exp.Expr:
    joined, *others = texts
    for text in others:
        joined = exp.DPipe(this=joined, expression=text, safe=True)
    return joined


def _text(value: exp.Expr) -> exp.Expr:
    return exp.Cast(this=value, to=exp.DataType.build("VARCHAR", dialect="duckdb"))


def _column(name: str) -> exp.Column:
    return exp.column(_name(name), table=_name("t"))


def _name(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=True)
