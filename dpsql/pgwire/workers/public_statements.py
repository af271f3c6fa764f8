"""Statements over public tables that run as they are written, by the catalogue's workers.

Both are an analyst's text over what is nobody's secret, and take of these workers what they may.
"""

from __future__ import annotations

import pyarrow as pa

from dpsql.engine.read_limit import ReadLimit
from dpsql.engine.sandbox.database import Contents, SandboxQuery
from dpsql.pgwire.workers.catalog_pool import CatalogQuestion, CatalogWorkers


class PublicStatements:
    """Those of one analyst's connection."""

    def __init__(self, workers: CatalogWorkers, analyst: str) -> None:
        self._workers = workers
        self._analyst = analyst
        self._question: CatalogQuestion | None = None
        self.has_lists = True
        self.limit = ReadLimit(workers.limits.catalog_rows, workers.limits.catalog_bytes)

    def ask(self, contents: Contents, query: SandboxQuery) -> pa.Table:
        """The rows of `query` over `contents`.

        Raises Unanswered, TooLargeAnswer, Stopped, or ExecutionCancelled.
        """
        self._question = CatalogQuestion(self._analyst, contents, query)
        try:
            return self._workers.whole(self._question)
        finally:
            self._question = None

    def interrupt(self) -> None:
        """Stop what runs."""
        question = self._question
        if question is not None:
            self._workers.cancel(question)

    def close(self) -> None:
        """Stop what runs; the workers are others', too."""
        self.interrupt()
