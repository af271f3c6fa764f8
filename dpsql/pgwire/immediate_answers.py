"""The answers of one client's queries that are there at once, since they were given before.

A thread has to be woken, and takes the interpreter from the threads that prove and charge new
queries, only to hand out what is there already. So the event loop looks first. Where it would have
to wait, for a proof, a charge, a worker, a disk or a lock, a thread begins anew: by then, nothing
was charged or changed.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence
from typing import Final

from dpsql.ledger.storage.waiting import without_waiting
from dpsql.pgwire.answering.repeated_answers import SentAnswer
from dpsql.pgwire.answering.result_messages import described
from dpsql.pgwire.executor import Executor
from dpsql.pgwire.limits import Limits
from dpsql.pgwire.portal import Answer, Portal, Statement
from dpsql.pgwire.protocol import backend_messages as b
from dpsql.pgwire.protocol import frontend_messages as f
from dpsql.pgwire.query_service import QueryService
from dpsql.pgwire.sql.commands import Query
from dpsql.sqltext.split import split

BEHIND: Final = {f.Parse: 4, f.Bind: 3}
"""Messages that belong to a query behind its first: Bind, Describe, Execute, Sync."""

_SLOW_SECONDS: Final = 0.005
"""Of the processor: other processes and threads take turns with a look, which isn't its fault."""

_WAITED_SECONDS: Final = 0.1
_SLOW_LOOKS: Final = 2
_RESTS: Final = 100
"""Where looks in succession took so long, as of very many files, threads answer the next ones.

On a busy machine, one that has to wait for a processor does now and then.
"""

_UNNAMED: Final = f.Describe("P", "")
_ALL: Final = f.Execute("", 0)

_MAX_VALUES: Final = 10_000
"""Bytes of parameters: to read long arrays and numbers takes others' time."""


class ImmediateAnswers:
    """What the event loop answers one client by itself."""

    def __init__(self, running: Executor, service: QueryService, limits: Limits) -> None:
        self._running = running
        self._service = service
        self._limits = limits
        self._slow_looks = 0
        self._rests = 0

    def answer(self, messages: Sequence[f.Message]) -> list[bytes] | None:
        """What answers `messages`, one query answered before; None for all else.

        A query that was read before is prepared at once, too.
        """
        if self._rests:
            self._rests -= 1
            return None
        began, used = time.perf_counter(), time.thread_time()
        try:
            with without_waiting():
                return self._answered(messages)
        except Exception:  # noqa: BLE001 - the thread that begins anew tells, whatever it is
            return None
        finally:
            # A thread's own time takes a tenth of what a look does.
            took = time.perf_counter() - began
            is_slow = took > _SLOW_SECONDS and (
                took > _WAITED_SECONDS or time.thread_time() - used > _SLOW_SECONDS
            )
            self._slow_looks = self._slow_looks + 1 if is_slow else 0
            if self._slow_looks == _SLOW_LOOKS:
                self._slow_looks, self._rests = 0, _RESTS

    def _answered(self, messages: Sequence[f.Message]) -> list[bytes] | None:
        match messages:
            case [f.Query(sql=sql)]:
                return self._simple(sql)
            case [f.Bind(portal="") as bind, *descriptions, last, f.Sync()] if last == _ALL:
                # A client that prepares once may send no text again for months.
                self._running.renew()
                statement = self._running.statement(bind.statement)
                return self._run(bind, statement, descriptions)
            case [
                f.Parse(name="") as parse,
                f.Bind(portal="", statement="") as bind,
                *descriptions,
                last,
                f.Sync(),
            ] if last == _ALL:
                if (read := self._read(parse)) is None:
                    return None
                if (parts := self._run(bind, read, descriptions)) is None:
                    return None
                self._running.statements[""] = read
                return [b.PARSED, *parts]
            case [f.Parse(name=name) as parse, *descriptions, f.Sync() | f.Flush()]:
                return self._prepared(parse, descriptions, f.Describe("S", name))
            case _:
                return None

    def _simple(self, text: str) -> list[bytes] | None:
        read = self._read(f.Parse("", text, ()))
        if read is None or read.types:
            return None
        sent = self._sent(Portal(read), (), with_columns=True)
        self._running.forget_unnamed()
        return [sent.messages]

    def _prepared(
        self, parse: f.Parse, descriptions: Sequence[f.Message], question: f.Describe
    ) -> list[bytes] | None:
        if descriptions not in ([], [question]) or (read := self._read(parse)) is None:
            return None
        parts = [b.PARSED]
        if descriptions:
            parts += [b.parameters(read.types), described(self._running.describe(read), None)]
        self._running.statements[parse.name] = read
        return parts

    def _read(self, parse: f.Parse) -> Statement | None:
        """The statement that `parse` prepares, if it is one query that was read before."""
        running, pieces = self._running, split(parse.sql)
        if len(pieces) != 1 or (parse.name and parse.name in running.statements):
            return None
        if len(running.statements) >= self._limits.statements:
            return None
        running.renew()
        piece = pieces[0]
        known = running.known(piece.sql, parse.types)
        if known is None:
            return None
        return Statement(Query(piece.sql), known.query, known.types, piece.start)

    def _run(
        self, bind: f.Bind, statement: Statement, descriptions: Sequence[f.Message]
    ) -> list[bytes] | None:
        """The messages of `statement` with the parameters of `bind`, described if that is asked."""
        size = sum(len(value or b"") for value in bind.values)
        if descriptions not in ([], [_UNNAMED]) or size > _MAX_VALUES or not statement.is_query:
            return None
        portal = self._running.bound(bind, statement, self._limits.portals)
        manner = bind.formats, bind.values, bind.results, statement.types, statement.columns
        sent = self._sent(portal, manner, is_described=bool(descriptions))
        self._running.portals[""] = portal
        return [b.BOUND, sent.messages]

    def _sent(
        self,
        portal: Portal,
        manner: Hashable,
        *,
        is_described: bool = False,
        with_columns: bool = False,
    ) -> SentAnswer:
        """What is sent of `portal`, which has its answer afterwards."""
        query = portal.statement.query
        assert query is not None

        def answered() -> SentAnswer:
            parts = []
            if is_described:
                parts.append(described(self._running.describe_portal(portal), portal))
            parts += self._running.run(portal, None, with_columns=with_columns)
            assert portal.answer is not None
            return SentAnswer(b"".join(parts), portal.answer.columns, portal.read)

        manner = manner, is_described, with_columns
        sent = self._service.repeated(query, manner, answered)
        if portal.answer is None:  # its rows were sent as they were before
            portal.answer, portal.read = Answer(sent.columns, ()), sent.rows
        return sent
