"""Can every row of every table be read: the owner's commands ask, before a charged query finds out.

A page of a file that doesn't read fails each statement that needs it, and a failure is charged.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from dpsql.engine.engine import Engine
from dpsql.errors import ExecutionCancelled, ExecutionFailed
from dpsql.schema.model import Schema

_ROW = "row that is read"


def unreadable(
    schema: Schema, engine: Engine, step: Callable[[str], None] = lambda _: None
) -> tuple[str, ...]:
    """Name the tables that have declared values which can't be read."""
    failed = []
    for name in schema.tables:
        step(f"reading {name}")
        try:
            engine.execute(_everything(name))
        except ExecutionCancelled:
            raise
        except ExecutionFailed:
            failed.append(name)
    return tuple(failed)


def _everything(table: str) -> str:
    """One number made of all values: nothing is left out, and nothing is shown."""
    row = exp.to_identifier(_ROW, quoted=True)
    rows = exp.Table(
        this=exp.to_identifier(table, quoted=True), alias=exp.TableAlias(this=row.copy())
    )
    value = exp.Anonymous(
        this="bit_xor", expressions=[exp.Anonymous(this="hash", expressions=[exp.column(row)])]
    )
    return exp.select(value).from_(rows).sql("duckdb")
