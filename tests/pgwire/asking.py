"""What a connection asks of its dataset, without a socket between."""

from __future__ import annotations

from dpsql.pgwire.query_service import Asking


def rows(asking: Asking, sql: str) -> list[tuple[object, ...]]:
    """The rows that answer `sql`."""
    return [tuple(row) for row in asking.answer(asking.read(sql), {}).rows]
