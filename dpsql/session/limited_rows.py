"""Which part of a table's rows its limits leave out: for the owner alone, who chooses the limits.

Limits cut a unit's rows per answer, by the keys that it groups by. So each table is counted as an
answer without groups has it, and as one by each of its columns of listed values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp

from dpsql.emit.sql.identifier import column_ref, schema_name
from dpsql.engine.engine import Engine
from dpsql.schema.model import EntityUnit, Schema, Table

_ROWS = "n"
_UNIT = "unit"
_KEY = "key"


@dataclass(frozen=True, slots=True)
class LimitedRows:
    """The part of `table`'s rows that one limit leaves out of answers by `key`, "" of no key."""

    table: Table
    limit: str
    value: int
    key: str
    part: float


def limited_rows(schema: Schema, engine: Engine, rows: Mapping[str, int]) -> Iterator[LimitedRows]:
    """The limits that leave rows out, in the tables that have `rows`."""
    for table in schema.tables.values():
        own = table.ownership
        if isinstance(own, EntityUnit) and rows[table.name] and not _has_one_row(table, own):
            yield from _without_key(table, own, engine)
            for column in table.columns.values():
                if column.values is not None:
                    yield from _by_key(table, own, column.name, engine)


def _has_one_row(table: Table, own: EntityUnit) -> bool:
    return not own.hops and table.key == (own.column,)


def _without_key(table: Table, own: EntityUnit, engine: Engine) -> Iterator[LimitedRows]:
    limit = table.limits.rows
    totals = exp.select(_sum(_rows()), _sum(_limited(limit))).from_(_counts(table, own, None))
    every, counted = _numbers(engine, totals)
    if counted < every:
        yield LimitedRows(table, "rows", limit, "", 1 - counted / every)


def _by_key(table: Table, own: EntityUnit, key: str, engine: Engine) -> Iterator[LimitedRows]:
    """What either limit leaves out alone; groups are chosen without regard to their rows."""
    limits = table.limits
    several = exp.Count(this=exp.Star())
    part = exp.Div(
        this=exp.Literal.number(limits.groups),
        expression=exp.Anonymous(
            this="greatest", expressions=[several, exp.Literal.number(limits.groups)]
        ),
    )
    by_unit = (
        exp.select(
            exp.alias_(_sum(_rows()), "every"),
            exp.alias_(_sum(_limited(limits.rows_per_group)), "few"),
            exp.alias_(exp.Mul(this=_sum(_rows()), expression=part), "chosen"),
        )
        .from_(_counts(table, own, key))
        .group_by(exp.column(_UNIT))
    )
    names = ("every", "few", "chosen")
    totals = exp.select(*(_sum(exp.column(name)) for name in names)).from_(by_unit.subquery("u"))
    every, few, chosen = _numbers(engine, totals)
    if few < every:
        yield LimitedRows(table, "rows_per_group", limits.rows_per_group, key, 1 - few / every)
    # A quotient of doubles: less than a millionth is none.
    if chosen < every * (1 - 1e-6):
        yield LimitedRows(table, "groups", limits.groups, key, 1 - chosen / every)


def _counts(table: Table, own: EntityUnit, key: str | None) -> exp.Subquery:
    """How many rows of `table` each unit has, or has with each value of `key`."""
    owner = column_ref(schema_name(own.column), table=f"h{len(own.hops)}")
    grouped: list[exp.Expr] = [exp.alias_(owner, _UNIT)]
    if key is not None:
        grouped.append(exp.alias_(column_ref(schema_name(key), table="h0"), _KEY))
    rows = exp.select(*grouped, exp.alias_(exp.Count(this=exp.Star()), _ROWS))
    rows = rows.from_(_named(table.name, 0))
    for index, hop in enumerate(own.hops):
        equal = (
            exp.EQ(
                this=column_ref(schema_name(name), table=f"h{index}"),
                expression=column_ref(schema_name(referenced), table=f"h{index + 1}"),
            )
            for name, referenced in hop.pairs
        )
        rows = rows.join(_named(hop.table, index + 1), on=exp.and_(*equal))
    rows = rows.where(exp.Not(this=exp.Is(this=owner.copy(), expression=exp.null())))
    return rows.group_by(*(exp.Literal.number(n + 1) for n in range(len(grouped)))).subquery("c")


def _numbers(engine: Engine, totals: exp.Select) -> tuple[float, ...]:
    counted = engine.execute(totals.sql("duckdb")).table
    return tuple(float(column[0].as_py() or 0) for column in counted.columns)


def _rows() -> exp.Column:
    return exp.column(_ROWS)


def _limited(limit: int) -> exp.Expr:
    return exp.Anonymous(this="least", expressions=[_rows(), exp.Literal.number(limit)])


def _sum(of: exp.Expr) -> exp.Expr:
    return exp.Sum(this=of)


def _named(table: str, index: int) -> exp.Table:
    alias = exp.TableAlias(this=exp.to_identifier(f"h{index}"))
    return exp.Table(this=schema_name(table), alias=alias)
