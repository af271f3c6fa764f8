"""Workers that answer queries of the catalogue, and open no data.

A query of the catalogue is any SQL that the allowlist has, and so can take any time and memory. It
takes them in a process that has no private row and runs no other query; each analyst has one query
at a time, so that an analyst with long queries leaves workers for others.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import pyarrow as pa

from dpsql.engine.sandbox.database import Contents, NoAnswer, SandboxQuery, Stopped, TooLargeAnswer
from dpsql.errors import (
    DataError,
    Error,
    ExecutionCancelled,
    ExecutionFailed,
    Refused,
    SyntaxFault,
    UnknownColumn,
    UnknownFunction,
    UnknownTable,
)
from dpsql.pgwire.error_response import Cancelled, TooLarge
from dpsql.pgwire.limits import Limits
from dpsql.pgwire.workers.admission_queue import AdmissionQueue, Ticket
from dpsql.pgwire.workers.pool import Pool
from dpsql.pgwire.workers.tasks import (
    FAILED,
    LACKED,
    NOT_LOADED,
    STOPPED,
    TOO_LARGE,
    UNANSWERED,
    AskCatalog,
    LoadCatalog,
    Task,
    tables_of,
)

_HINT: Final = "ask for fewer rows and columns, or join on keys"
_START_SECONDS: Final = 120
"""How long a worker may take to start, and to load a catalogue."""

_MEBIBYTE: Final = 1024 * 1024


class CatalogQuestion:
    """One analyst's query over `contents`, which another thread can cancel.

    It is a query of the catalogue if `query` is a text, else a statement over public tables.
    """

    def __init__(self, analyst: str, contents: Contents, query: str | SandboxQuery) -> None:
        self.analyst = analyst
        self.contents = contents
        self.query = query
        self.ticket = Ticket()
        self.cancelled = threading.Event()


class CatalogWorkers:
    """The workers of one server for all analysts' queries of the catalogue."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.pool = Pool(
            limits.catalog_workers, limits.catalog_worker_bytes, limits.catalog_seconds
        )
        self._line = AdmissionQueue(limits.catalog_workers)
        self._loading: list[threading.Thread] = []

    def ask(self, question: CatalogQuestion) -> pa.Table:
        """The rows of the answer, in DuckDB's types; raises an `Error` if there is no answer."""
        with self._line.acquire(question.ticket, frozenset({question.analyst})):
            reply = self._reply(question)
        if reply in {STOPPED, LACKED, TOO_LARGE, FAILED}:
            raise self._stopped(question, reply)
        if reply[:1] == UNANSWERED:
            raise _unanswered(reply[1:].decode())
        return tables_of(reply)["rows"]

    def whole(self, question: CatalogQuestion) -> pa.Table:
        """The rows of a statement over public tables, or their columns.

        Raises NoAnswer, TooLargeAnswer, Stopped, or ExecutionCancelled.
        """
        with self._line.acquire(question.ticket, frozenset({question.analyst})):
            reply = self._reply(question)
        if question.cancelled.is_set():
            raise ExecutionCancelled
        if reply == STOPPED:
            raise Stopped
        if reply in {LACKED, TOO_LARGE}:
            raise TooLargeAnswer
        if reply == FAILED:
            raise NoAnswer("")
        if reply[:1] == UNANSWERED:
            raise NoAnswer(reply[1:].decode(errors="replace"))
        return tables_of(reply)["rows"]

    def begin_to_load(self, contents: Callable[[], Contents]) -> None:
        """Load `contents` into each worker, in a thread, before any query comes."""

        def load() -> None:
            # If this fails, the first query loads them.
            with suppress(Error):
                catalogue = contents()
                for _ in self.pool.supervisors:  # each in its turn
                    with self.pool.worker(threading.Event()) as do:
                        _load(catalogue, do)

        thread = threading.Thread(target=load, name="dpsql catalogue", daemon=True)
        self._loading = [one for one in self._loading if one.is_alive()] + [thread]
        thread.start()

    def cancel(self, question: CatalogQuestion) -> None:
        """Stop `question`, whether it waits or runs."""
        question.cancelled.set()
        self._line.cancel(question.ticket)

    @property
    def waiting(self) -> int:
        """How many queries wait for their turn."""
        return self._line.waiting

    def close(self) -> None:
        """End the workers, and wait for what still makes a catalogue for them.

        It is a thread that calls Arrow: one that is in a library's code when Python ends aborts the
        process.
        """
        self.pool.close()
        for thread in self._loading:
            thread.join()

    def _reply(self, question: CatalogQuestion) -> bytes:
        name, limits = question.contents.name, self.limits
        task: Task
        if isinstance(question.query, str):
            rows, size = limits.catalog_rows, limits.catalog_bytes
            task = AskCatalog(name, question.query, rows, size)
        else:
            task = question.query
        with self.pool.worker(question.cancelled) as do:
            _load(question.contents, do)
            return do(task, limits.catalog_seconds)

    def _stopped(self, question: CatalogQuestion, reply: bytes) -> Error:
        if question.cancelled.is_set():
            return ExecutionFailed()
        limits = self.limits
        if reply == STOPPED:
            return Cancelled(
                "a question of the catalogue may take "
                f"{limits.catalog_seconds:g} seconds, and this one was stopped",
                hint=_HINT,
            )
        return TooLarge(
            "the answer, or what it is made of, is too large for a question of the catalogue",
            detail=f"{limits.catalog_rows:,} rows of {limits.catalog_bytes // _MEBIBYTE} MiB "
            f"are sent, and {limits.catalog_worker_bytes // _MEBIBYTE} MiB are worked in",
            hint=_HINT,
        )


def _load(contents: Contents, do: Callable[[Task, float], bytes]) -> None:
    if do(LoadCatalog(contents.name), _START_SECONDS) == NOT_LOADED:
        do(LoadCatalog(contents.name, contents), _START_SECONDS)


def _unanswered(sqlstate: str) -> Error:
    match sqlstate:
        case "42P01":
            return UnknownTable("the catalogue has no such relation")
        case "42703":
            return UnknownColumn("no relation of this question has such a column")
        case "42883":
            return UnknownFunction("the catalogue has no such function for these arguments")
        case "42601":
            return SyntaxFault("this question of the catalogue can't be read")
        case "22P02" | "22003":
            return DataError("a value of this question can't be converted to the type asked for")
        case _:
            return Refused("this question of the catalogue has no answer here")
