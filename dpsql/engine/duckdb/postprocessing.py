"""The engine without a source, for what is computed from released tables."""

from __future__ import annotations

from dpsql.engine.duckdb.engine import DuckDBEngine
from dpsql.engine.source import DuckDBSource


def postprocessing_engine(
    *, threads: int | None = None, memory_limit: str | None = None
) -> DuckDBEngine:
    """Open a locked engine in which only the tables registered with a statement exist.

    No private row can reach it, so computing with released tables costs no privacy.
    """
    return DuckDBEngine(DuckDBSource(), threads=threads, memory_limit=memory_limit)
