"""Statements over public tables that run as they are written, by the catalogue's workers.

Like a query of the catalogue, such a statement is an analyst's text over rows that are public, with
the same limits.
"""

from __future__ import annotations

import pyarrow as pa

from dpsql.engine.read_limit import ReadLimit
from dpsql.engine.sandbox.database import Contents, SandboxQuery
from dpsql.pgwire.workers.catalog_pool import CatalogQuestion, CatalogWorkers


class PublicStatements:
    """Runs the public statements of one analyst's connection, one at a time."""

    def __init__(self, workers: CatalogWorkers, analyst: str) -> None:
        self._workers = workers
        self._analyst = analyst
        self._question: CatalogQuestion | None = None
        self.has_lists = True
        self.limit = ReadLimit(workers.limits.catalog_rows, workers.limits.catalog_bytes)

    def ask(self, contents: Contents, query: SandboxQuery) -> pa.Table:
        """The rows of `query` over `contents`.

        Raises NoAnswer, TooLargeAnswer, Stopped, or ExecutionCancelled.
        """
        self._question = CatalogQuestion(self._analyst, contents, query)
        try:
            return self._workers.whole(self._question)
        finally:
            self._question = None

    def interrupt(self) -> None:
        """Stop the statement that runs, if one does; called from another thread."""
        question = self._question
        if question is not None:
            self._workers.cancel(question)

    def close(self) -> None:
        """Stop the statement that runs; the workers stay, since other connections share them."""
        self.interrupt()
