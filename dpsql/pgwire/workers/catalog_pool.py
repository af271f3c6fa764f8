"""Processes that answer questions of the catalogue, and open nothing else.

An analyst's question is any SQL that the list allows, and so can take any time and memory. It takes
them where no private row is and where nobody else's question runs; an analyst has one at a time,
so that whoever asks long ones leaves workers for others.
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
"""For a worker to start, and to load a catalogue."""

_MEBIBYTE: Final = 1024 * 1024


class CatalogQuestion:
    """One question of one analyst, which another thread can cancel."""

    def __init__(self, analyst: str, contents: Contents, query: str | SandboxQuery) -> None:
        self.analyst = analyst
        self.contents = contents
        self.query = query
        self.ticket = Ticket()
        self.cancelled = threading.Event()


class CatalogWorkers:
    """Workers of one server for all analysts' questions of the catalogue."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.pool = Pool(
            limits.catalog_workers, limits.catalog_worker_bytes, limits.catalog_seconds
        )
        self._line = AdmissionQueue(limits.catalog_workers)

    def ask(self, question: CatalogQuestion) -> pa.Table:
        """The rows of the answer, in DuckDB's types."""
        with self._line.acquire(question.ticket, frozenset({question.analyst})):
            reply = self._reply(question)
        if reply in {STOPPED, LACKED, TOO_LARGE, FAILED}:
            raise self._stopped(question, reply)
        if reply[:1] == UNANSWERED:
            raise _unanswered(reply[1:].decode())
        return tables_of(reply)["rows"]

    def whole(self, question: CatalogQuestion) -> pa.Table:
        """The rows of a statement over public tables, or their columns.

        Raises Unanswered, TooLargeAnswer, Stopped, or ExecutionCancelled.
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
        """Have `contents` in each worker, before anybody asks."""

        def load() -> None:
            # Who is asked first loads them otherwise.
            with suppress(Error):
                found = contents()
                for _ in self.pool.supervisors:  # each in its turn
                    with self.pool.worker(threading.Event()) as do:
                        _load(found, do)

        threading.Thread(target=load, name="dpsql catalogue", daemon=True).start()

    def cancel(self, question: CatalogQuestion) -> None:
        """Stop it where it is."""
        question.cancelled.set()
        self._line.cancel(question.ticket)

    @property
    def waiting(self) -> int:
        """How many questions wait for their turn."""
        return self._line.waiting

    def close(self) -> None:
        """End the workers."""
        self.pool.close()

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
