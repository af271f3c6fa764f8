"""Statements that run as they are written, over the public rows that a connection shows."""

from __future__ import annotations

import atexit
from functools import cache

import duckdb

from dpsql.engine.raw import Raw
from dpsql.engine.read_limit import ReadLimit
from dpsql.engine.sandbox.process import SandboxProcess
from dpsql.schema.model import Schema
from dpsql.session.compile.source_facts import MAX_ROWS
from dpsql.session.run.public_statements import SECONDS, WholeStatements
from dpsql.session.run.public_table_copies import Copies


def whole_over(schema: Schema, connection: duckdb.DuckDBPyConnection) -> WholeStatements:
    """As a session has them; all share a process."""
    copies = Copies(schema, lambda: _Rows(connection))  # type: ignore[arg-type,return-value]
    return WholeStatements(schema, lambda: copies, _aside)


@cache
def _aside() -> SandboxProcess:
    found = SandboxProcess(SECONDS, MAX_ROWS)
    atexit.register(found.close)
    return found


class _Rows:
    """What of an engine copies need."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def execute(self, sql: str, *, limit: ReadLimit) -> Raw:
        del limit
        return Raw(self._connection.sql(sql).to_arrow_table())
