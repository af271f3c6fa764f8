"""Runs what was compiled: jobs on the source, and what stands above them on released tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

import pyarrow as pa

from dpsql.analysis.lineage.lineage import Visibility, visibility
from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.emit.relation.relation import emit_plan
from dpsql.engine.duckdb.postprocessing import postprocessing_engine
from dpsql.engine.engine import Engine
from dpsql.engine.fingerprint import identity
from dpsql.engine.raw import Raw
from dpsql.engine.read_limit import AnswerLimit, ReadLimit
from dpsql.engine.source import Source
from dpsql.errors import ExecutionCancelled, ExecutionFailed, ExecutionStopped
from dpsql.ledger.caps import Balances
from dpsql.plan.operator import Plan, PublicStatement
from dpsql.privacy.mechanisms.randomness import Randomness
from dpsql.release.job import Job, Step, run
from dpsql.release.open_public import open_rows
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.schema.model import Schema
from dpsql.session.answer.answer_cache import AnswerCache
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.compile.plan_cache import PlanCache
from dpsql.session.compile.source_facts import MAX_ROWS, SourceFacts
from dpsql.session.ledger_access import with_sample_key
from dpsql.session.run.dry_run import no_rows
from dpsql.session.run.finishing.finishing_copies import FinishingCopies
from dpsql.session.run.finishing.finishing_text import FinishingText, FinishingTexts, total_sql
from dpsql.session.run.finishing.public_tables import CopiedPart, copied_plan
from dpsql.session.run.known_size import is_few
from dpsql.session.run.public_statements import SECONDS, WholeStatements
from dpsql.session.run.public_statements import SandboxEngine as WholeEngine
from dpsql.session.run.uncharged_failure import telling_no_charge
from dpsql.session.run.without_engine import is_projected, project_without_engine
from dpsql.session.shared_ledger import SharedLedger
from dpsql.session.sidecar import open_source, sidecar_path, sidecar_seen

Progress = Callable[[str], None]

_MAX_TRIED = 256
"""Texts that are remembered: a page of charts asks the same again with other data."""


class Execution:
    """The engines of one session, each opened when it is first needed.

    `plans` and `answers` remember statements and their answers, of all sessions that share them,
    and `copies` public rows; `ledger` is an opening that these share, if they do. `charged` is told
    what each charge has left, before anything of it runs.
    """

    def __init__(self, schema: Schema, progress: Progress) -> None:
        self.plans = PlanCache()
        self.answers = AnswerCache()
        self.copies = FinishingCopies()
        self.ledger: SharedLedger | None = None
        self.charged: Callable[[Callable[[], Balances]], None] = lambda _: None
        self._schema = schema
        self._progress = progress
        self._source: Engine | None = None
        self._job_source: Source | None = None
        self._finisher: Engine | None = None
        self._finishing = FinishingTexts()
        self._tried: set[tuple[str, tuple[pa.DataType, ...]]] = set()
        self._facts: SourceFacts | None = None
        self._sidecar = sidecar_path(schema)
        self._sidecar_seen: tuple[int, int] | None = None
        self._aside: WholeEngine | None = None
        self._cache_salt: str | None = None
        self.whole = WholeStatements(schema, lambda: self.facts().copies, self.sandbox)

    def source(self) -> Engine:
        """The engine over the source."""
        if self._source is None:
            self._progress("opening the source")
            self._schema = with_sample_key(self._schema)
            self._sidecar_seen = sidecar_seen(self._sidecar)
            self._source = open_source(self._schema)
        return self._source

    def finisher(self) -> Engine:
        """The engine that knows nothing but released tables."""
        if self._finisher is None:
            self._finisher = postprocessing_engine()
        return self._finisher

    def sandbox(self) -> WholeEngine:
        """Where statements run as they are written, over public tables alone."""
        if self._aside is None:
            from dpsql.engine.sandbox.process import SandboxProcess  # noqa: PLC0415 - few need it

            self._aside = SandboxProcess(SECONDS, MAX_ROWS)
        return self._aside

    def facts(self) -> SourceFacts:
        """Public facts about the source.

        They are asked for when a statement begins. If a sidecar has been made since the source was
        opened without one, it is opened anew: nothing was planned to read an older sidecar.
        """
        if self._source is not None and self._has_new_sidecar():
            self._open_anew(self._source)
        if self._facts is None:
            self._facts = SourceFacts(self._schema, self.source, self._sidecar_tables)
        return self._facts

    def version(self) -> str:
        """Which version of the data there is: as the schema states it, or as its files say."""
        stated = self._schema.version
        return self.source().fingerprint() if stated is None else stated

    def check_files(self, due: Sequence[CompiledRelease]) -> None:
        """Raise SourceFault if `due` was compiled for other files: here the engine refuses them."""

    def expect(self, due: Sequence[CompiledRelease]) -> None:
        """`due`, which isn't empty, is about to be charged: here nothing has to be made ready."""

    def turn(self, due: Callable[[], frozenset[str]]) -> AbstractContextManager[None]:
        """Wait until releases may run whose keys are `due`: nothing else runs on these engines."""
        del due
        return nullcontext()

    def run(
        self, steps: tuple[Step, ...], randomness: Randomness, read: Mapping[str, pa.Table]
    ) -> dict[str, pa.Table]:
        """The released tables of `steps` by name; `read` are those that they may read."""
        source = self.source()
        if self._cache_salt is None and any(step.cached_sums is not None for step in steps):
            self._cache_salt = randomness.bytes(16).hex()
        job = Job(self._opened(), steps, self._largest, self._cache_salt)
        return run(job, source, randomness, read)

    def finish(self, compiled: CompiledStatement, released: Mapping[str, pa.Table]) -> pa.Table:
        """Everything above the releases, in an engine that knows nothing else, if it takes one."""
        answer, largest = project_without_engine(compiled, released), self._largest
        if answer is None:
            text = self._finishing.of(compiled)
            tables = self._with_copies(text.copies, released)
            limit = None if is_few(compiled, text, tables) else largest
            answer = open_rows(compiled.plan, self._finished(compiled, text, tables, limit))
        largest.check(answer)
        return answer

    def _finished(
        self,
        compiled: CompiledStatement,
        text: FinishingText,
        tables: Mapping[str, pa.Table],
        limit: ReadLimit | None,
    ) -> Raw:
        engine = self.finisher()
        try:
            return engine.execute(text.sql, (), tables, limit=limit)
        except (ExecutionCancelled, ExecutionStopped):
            raise
        except ExecutionFailed:
            # Released numbers are as large as noise makes them: a sum of them may have overflowed.
            return engine.execute(total_sql(text, compiled), (), tables, limit=limit)

    def check(self, compiled: CompiledStatement) -> None:
        """Fail now, if the source is gone, or what stands above can't be computed of any rows."""
        self.source().ping()
        if is_projected(compiled):
            return
        text, columns = self._finishing.of(compiled), tuple(r.columns for r in compiled.releases)
        if not text.was_tried(columns):
            self._try(text.sql, no_rows(compiled, text))
            text.note_tried(columns)

    def _try(self, sql: str, tables: Mapping[str, pa.Table]) -> None:
        kinds = tuple(kind for table in tables.values() for kind in table.schema.types)
        if (sql, kinds) in self._tried:
            return
        try:
            self.finisher().execute(sql, (), tables)
        except ExecutionFailed:
            raise ExecutionFailed(
                "the engine can't compute what stands above the releases; nothing was charged",
                hint="write it more simply, and report it",
            ) from None
        if len(self._tried) == _MAX_TRIED:
            self._tried.clear()
        self._tried.add((sql, kinds))

    def rows(self, plan: Plan, saved: Mapping[str, pa.Table]) -> pa.Table:
        """The rows of a public plan that reads `saved` tables beside the source's."""
        copied = copied_plan(plan)
        sql, tables = rendered(emit_plan(copied.plan, {})), self._with_copies(copied.copies, saved)
        return open_rows(plan, self.finisher().execute(sql, (), tables, limit=MAX_ROWS))

    def public(self, compiled: CompiledStatement, saved: Mapping[str, pa.Table]) -> pa.Table:
        """The answer of a query over public tables only, some of them `saved`: exact and free."""
        if visibility(compiled.plan) is not Visibility.PUBLIC:
            raise ExecutionFailed
        if isinstance(compiled.plan, PublicStatement):
            whole = self.whole.rows(compiled.plan)
            self._largest.check(whole)
            return open_rows(compiled.plan, Raw(whole))
        with telling_no_charge():
            if saved:
                text = self._finishing.of(compiled)
                tables = self._with_copies(text.copies, saved)
                raw = self._finished(compiled, text, tables, MAX_ROWS)
            else:
                raw = self.source().execute(compiled.postprocessing_sql, limit=MAX_ROWS)
        answer = open_rows(compiled.plan, raw)
        self._largest.check(answer)
        return answer

    def interrupt(self) -> None:
        """Stop what is running."""
        for engine in (self._source, self._finisher, self._aside):
            if engine is not None:
                engine.interrupt()

    def close(self) -> None:
        """Let go of the source."""
        for engine in (self._source, self._finisher, self._aside):
            if engine is not None:
                engine.close()

    @property
    def _largest(self) -> AnswerLimit:
        return self._schema.per_query.largest

    def _with_copies(
        self, copies: Sequence[CopiedPart], released: Mapping[str, pa.Table]
    ) -> dict[str, pa.Table]:
        """The `released` tables, and `copies` of public rows."""
        return {**released, **{one.name: self._copy(one) for one in copies}}

    def _copy(self, copy: CopiedPart) -> pa.Table:
        """Public rows, for joins with released tables."""

        def read() -> pa.Table:
            return open_rows(copy.rows, self.source().execute(copy.sql))

        return self.copies.rows(copy.sql, lambda: identity(self._opened()), read)

    def _opened(self) -> Source:
        """What the source's engine has opened."""
        self.source()
        if self._job_source is None:
            # Once: of many tables it takes long. The schema is the opened source's by now.
            self._job_source = engine_source(self._schema)
        return self._job_source

    def _open_anew(self, before: Engine) -> None:
        """Open the version of the data that `before` reads; SourceFault if there is another now.

        Statements of a batch may have been compiled by keys that hold in that version alone, and
        answers be due under its name.
        """
        self._sidecar_seen = sidecar_seen(self._sidecar)
        opened = open_source(self._schema)
        try:
            # Afterwards: of files that have changed by then it may be `opened` that reads them.
            before.ping()
        except BaseException:
            opened.close()
            raise
        before.close()
        self._source, self._facts = opened, None

    def _has_new_sidecar(self) -> bool:
        seen = sidecar_seen(self._sidecar)
        if self._source is None or seen in {None, self._sidecar_seen}:
            return False
        return not self._source.supports and not self._source.sidecar_tables

    def _sidecar_tables(self) -> frozenset[str]:
        """A source without a sidecar is not opened to find that out."""
        return self.source().sidecar_tables if self._sidecar.exists() else frozenset()
