"""The exact results of a release as a server computes them of its own rows."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction

import pyarrow as pa

from dpsql.engine.engine import ServerRows, Snapshot
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


def computing(query: ServerQuery | None, rows: Snapshot) -> ServerRows | None:
    """The snapshot `rows` if its server computes all statements of `query`; None: none of them.

    Sums and counts of cells are of the same groups: each server has hashes of its own.
    """
    if query is None or not isinstance(rows, ServerRows):
        return None
    return rows if rows.computes(list(map(_select, query.statements))) else None


def computed_rows(statement: ServerStatement, rows: ServerRows, salt: str) -> pa.Table:
    """The rows of one of the statements, with the groups that `salt` chooses."""
    parameters = [_value(parameter, salt) for parameter in statement.parameters]
    return rows.compute(_select(statement), parameters).table


def _select(statement: ServerStatement) -> ServerSelect:
    return ServerSelect(statement.sql, statement.tables, statement.names, statement.columns)


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
