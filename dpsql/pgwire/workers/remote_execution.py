"""The engines of one session of the server: what it charges, a worker runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

import pyarrow as pa

from dpsql.engine.duckdb.postprocessing import postprocessing_engine
from dpsql.engine.engine import Engine
from dpsql.engine.source import Source
from dpsql.errors import SourceFault
from dpsql.ledger.storage.waiting import check_may_wait
from dpsql.pgwire.workers.admission_queue import AdmissionQueue, Ticket
from dpsql.pgwire.workers.remote_engine import RemoteEngine
from dpsql.pgwire.workers.supervisor import nothing
from dpsql.privacy.mechanisms.randomness import Randomness
from dpsql.release.job import Step
from dpsql.schema.model import Schema
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.compile.source_facts import SourceFacts
from dpsql.session.run.execution import Execution, Progress
from dpsql.session.run.public_statements import SandboxEngine as WholeEngine

_FINISHING_MEMORY: Final = "256MiB"


class RemoteExecution(Execution):
    """Runs jobs in workers, in the order of their `line`; what is above a release runs here.

    `meanwhile` is called while a worker runs a job.
    """

    def __init__(
        self,
        schema: Schema,
        engine: RemoteEngine,
        line: AdmissionQueue,
        facts: Callable[[], SourceFacts],
        progress: Progress,
        sandbox: WholeEngine,
    ) -> None:
        super().__init__(schema, progress)
        self._remote = engine
        self._line = line
        self._ticket = Ticket()
        self._shared_facts = facts
        self._aside = sandbox
        self.meanwhile: Callable[[], None] = nothing

    def source(self) -> Engine:
        """The engine whose queries workers run."""
        return self._remote

    def finisher(self) -> Engine:
        """The engine for operators above a release, which reads released tables alone."""
        if self._finisher is None:
            self._finisher = postprocessing_engine(threads=1, memory_limit=_FINISHING_MEMORY)
        return self._finisher

    def facts(self) -> SourceFacts:
        """Public facts about the data, which all sessions share."""
        return self._shared_facts()

    def _opened(self) -> Source:
        """What workers open."""
        return self._remote.opened

    def check_files(self, due: Sequence[CompiledRelease]) -> None:
        """Raise SourceFault if `due` was compiled for other files than there are.

        By keys that hold in those limits may have been left out of it. A worker looks again.
        """
        if not self._remote.has_files({release.step.files for release in due}):
            raise SourceFault(
                "the source has changed while the statement waited; nothing was charged",
                hint="ask again",
            )

    def expect(self, due: Sequence[CompiledRelease]) -> None:
        """Have a worker make ready for the first of `due` while it is charged.

        Where others wait for their turn, none has time to spare: one that was told is busy by then.
        """
        first = due[0].step
        may_start = not first.reads and not self._line.waiting
        self._remote.expect((first,) if may_start else ())

    @contextmanager
    def turn(self, due: Callable[[], frozenset[str]]) -> Iterator[None]:
        """Wait until a worker is free, and no other session runs a release whose key is `due`."""
        keys = due()
        if not keys:
            yield
            return
        check_may_wait()
        self._ticket = Ticket()
        with self._line.acquire(self._ticket, keys):
            yield

    def run(
        self, steps: tuple[Step, ...], randomness: Randomness, read: Mapping[str, pa.Table]
    ) -> dict[str, pa.Table]:
        """The released tables of `steps`.

        `randomness` is unused: a worker draws from its system's generator.
        """
        del randomness
        # A cancel that came while it was charged has found nothing to stop.
        self._progress("handing the statement to a worker")
        return self._remote.carry_out(steps, read, self.meanwhile)

    def interrupt(self) -> None:
        """Stop the statement that runs, whose charge stands, or one that waits, uncharged."""
        self._line.cancel(self._ticket)
        self._remote.interrupt()
        super().interrupt()
