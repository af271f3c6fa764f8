"""What a connection asks of its dataset, without a socket between."""

from __future__ import annotations

from dpsql.pgwire.query_service import QueryService


def rows(asking: QueryService, sql: str) -> list[tuple[object, ...]]:
    """The rows that answer `sql`."""
    return [tuple(row) for row in asking.query(asking.translate(sql), {}).rows]
