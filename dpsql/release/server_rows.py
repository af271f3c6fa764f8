"""The exact results of a release as a server computes them of its own rows."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction

import pyarrow as pa

from dpsql.engine.engine import ServerRows, Snapshot
from dpsql.engine.sidecar.server import ServerSidecar
from dpsql.engine.supported import ServerParameter, ServerSelect
from dpsql.plan.bounded_release.engine_query import DomainTable
from dpsql.plan.bounded_release.server_query import (
    DomainColumn,
    DomainRows,
    Parameter,
    Salt,
    ServerQuery,
    ServerStatement,
)
from dpsql.plan.expression_text import describe_number
from dpsql.privacy.domain import Value
from dpsql.release.columns.group_keys import domain_table
from dpsql.schema.sql_type import Double, SqlType


def computing(query: ServerQuery | None, rows: Snapshot) -> tuple[ServerQuery, ServerRows] | None:
    """The snapshot `rows`, and what its server computes all statements of; None: it doesn't.

    Sums and counts of cells are of the same groups: each server has hashes of its own. `query` is
    computed over a sidecar only if each statement can read it now.
    """
    while query is not None and isinstance(rows, ServerRows):
        selects = [_select(statement, query.sidecar) for statement in query.statements]
        if rows.computes(selects):
            return query, rows
        query = query.without_sidecar
    return None


def computed_rows(query: ServerQuery, rows: ServerRows, salt: str, *, number: int) -> pa.Table:
    """The rows of the statement `number` of `query`, with the groups that `salt` chooses."""
    statement = query.statements[number]
    parameters = [_value(parameter, salt) for parameter in statement.parameters]
    return rows.compute(_select(statement, query.sidecar), parameters).table


def _select(statement: ServerStatement, sidecar: ServerSidecar | None) -> ServerSelect:
    return ServerSelect(
        statement.sql,
        statement.tables,
        statement.names,
        statement.columns,
        statement.prepared,
        sidecar if statement.prepared else None,
    )


def _value(parameter: Parameter, salt: str) -> ServerParameter:
    match parameter:
        case Salt():
            return salt
        case DomainColumn(domain=domain, key=key):
            if key is None:
                return tuple(map(str, range(len(domain.cells))))
            return _texts(domain, key)
        case DomainRows(domain=domain):
            return domain_table(domain)


def _texts(domain: DomainTable, key: int) -> tuple[str | None, ...]:
    """The values of a key, cell by cell, as texts that PostgreSQL's type reads exactly."""
    kind = domain.types[key]
    return tuple(_text(cell[key], kind) for cell in domain.cells)


def _text(value: Value | None, kind: SqlType) -> str | None:
    match value:
        case None | str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | Fraction() if isinstance(kind, Double):
            return repr(float(value))
        case Fraction():
            return describe_number(value)
        case dt.datetime():
            return value.isoformat(sep=" ")
        case _:
            return str(value)
