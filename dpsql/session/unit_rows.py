"""Which rows have a privacy unit: a chain of references may end in NULL, or in no row at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa
from sqlglot import exp

from dpsql.emit.sql.identifier import column_ref, schema_name
from dpsql.engine.engine import Engine, ServerChecks
from dpsql.schema.model import EntityUnit, Schema, Table


def without_unit(
    schema: Schema, engine: Engine, rows: Mapping[str, int]
) -> Iterator[tuple[Table, int]]:
    """The tables that have rows without a unit, and how many of their `rows` these are."""
    for table in schema.tables.values():
        own = table.ownership
        # A table without rows has none to look for: of two thousand tables, many are empty.
        if isinstance(own, EntityUnit) and rows[table.name]:
            counted = checked_rows(engine, rows_with_unit(table, own))
            lacking = rows[table.name] - int(counted.column(0)[0].as_py())
            if lacking:
                yield table, lacking


def rows_with_unit(table: Table, own: EntityUnit) -> exp.Select:
    """How many rows of `table` have a unit: semi-joins alone, so that each is counted once."""
    children = (table.name, *(hop.table for hop in own.hops))
    last = len(own.hops)
    rows = exp.select(exp.Star()).from_(numbered_table(children[last], last))
    owner = column_ref(schema_name(own.column), table=f"h{last}")
    rows = rows.where(exp.Not(this=exp.Is(this=owner, expression=exp.null())))
    for index in reversed(range(last)):
        led = rows.subquery(f"h{index + 1}")
        rows = exp.select(exp.Column(this=exp.Star(), table=exp.to_identifier(f"h{index}")))
        rows = rows.from_(numbered_table(children[index], index))
        rows = rows.join(led, on=exp.and_(*hop_equalities(own, index)), join_type="semi")
    return exp.select(exp.Count(this=exp.Star())).from_(rows.subquery("h"))


def checked_rows(engine: Engine, tree: exp.Select) -> pa.Table:
    """The rows of an owner's check, computed where the private rows are."""
    if isinstance(engine, ServerChecks):
        return engine.check_rows(tree)
    return engine.execute(tree.sql("duckdb")).table


def joined_to_unit(table: Table, own: EntityUnit) -> tuple[exp.Select, exp.Column]:
    """A SELECT of no column yet from the rows of `table` that have a unit, and the unit.

    The rows are h0 in it. Keys that come twice would have rows come twice.
    """
    last = len(own.hops)
    owner = column_ref(schema_name(own.column), table=f"h{last}")
    rows = exp.Select().from_(numbered_table(table.name, 0))
    for index, hop in enumerate(own.hops):
        on = exp.and_(*hop_equalities(own, index))
        rows = rows.join(numbered_table(hop.table, index + 1), on=on)
    return rows.where(exp.Not(this=exp.Is(this=owner.copy(), expression=exp.null()))), owner


def hop_equalities(own: EntityUnit, index: int) -> list[exp.Expr]:
    """The conditions that a row of the table `index` leads to one of the next."""
    return [
        exp.EQ(
            this=column_ref(schema_name(name), table=f"h{index}"),
            expression=column_ref(schema_name(key), table=f"h{index + 1}"),
        )
        for name, key in own.hops[index].pairs
    ]


def numbered_table(table: str, index: int) -> exp.Table:
    """The table `index` of those that lead from a row to its unit."""
    alias = exp.TableAlias(this=exp.to_identifier(f"h{index}"))
    return exp.Table(this=schema_name(table), alias=alias)
