"""Tables of a sidecar, as the neutral tree names them."""

from __future__ import annotations

from sqlglot import exp

from dpsql.engine.sidecar.contents import ROW_SCHEMA, SIDECAR


def stored_table(catalog: exp.Expr | None, space: exp.Expr | None, table: exp.Expr) -> str | None:
    """The name of the table whose rows are read from a sidecar; None for any other table.

    A server has no table of units, with their sums.
    """
    if catalog is None or space is None or (catalog.name, space.name) != (SIDECAR, ROW_SCHEMA):
        return None
    return table.name
