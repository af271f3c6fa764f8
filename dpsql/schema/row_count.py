"""Declared numbers of rows beside those that are there: the owner's commands ask.

A wrong one makes answers wrong, and costs no privacy: how many rows there are is no secret there.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from dpsql.engine.engine import Engine
from dpsql.schema.model import Schema


def count_rows(schema: Schema, engine: Engine) -> Mapping[str, int]:
    """How many rows each table has that declares a number of them."""
    return {
        name: number_of_rows(engine, name)
        for name, t in schema.tables.items()
        if t.rows is not None
    }


def number_of_rows(engine: Engine, table: str) -> int:
    """How many rows `table` has."""
    rows = exp.Table(this=exp.to_identifier(table, quoted=True))
    counted = exp.select(exp.Count(this=exp.Star())).from_(rows)
    return int(engine.execute(counted.sql("duckdb")).table.column(0)[0].as_py())
