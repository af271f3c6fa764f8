"""How the releases that a session owes are found stored, or charged and run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa

from dpsql.ledger.ledger import Ledger
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.privacy.mechanisms.randomness import Randomness
from dpsql.schema.model import Schema
from dpsql.session.answer.column_errors import below_max_error
from dpsql.session.answer.rollup import RollUp, RollUpSources
from dpsql.session.answer.stored_answer import charge_for, from_bytes
from dpsql.session.compile.compiled import CompiledRelease, CompiledStatement
from dpsql.session.compile.loss_conversion import analyst_cap
from dpsql.session.ledger_access import has_ledger, open_ledger
from dpsql.session.run.charge_and_run import (
    RUNNING,
    ChargedRun,
    PendingReleases,
    charge_and_run,
    unique_releases,
)
from dpsql.session.run.execution import Execution, Progress
from dpsql.session.saved.saved_releases import SavedReleases


class ReleaseRunner:
    """One analyst's ledger and engines: what is due of a statement, charged and run."""

    def __init__(
        self,
        schema: Schema,
        analyst: str,
        randomness: Randomness,
        progress: Progress,
        execution: Execution,
    ) -> None:
        self.schema = schema
        self.analyst = analyst
        self._randomness = randomness
        self._progress = progress
        self._execution = execution
        self._ledger: Ledger | None = None
        self._sources = RollUpSources()
        self.saved = SavedReleases(
            self.schema, analyst, self._existing_ledger, lambda: analyst_cap(self.schema, analyst)
        )

    def _roll_ups(self, prepared: CompiledStatement) -> dict[str, RollUp]:
        """What of `prepared` isn't stored, and may be summed from what this session was given."""
        found = self._sources.roll_ups(prepared, self._open_ledger())
        return below_max_error(found, prepared.settings.max_error)

    def _split_due(
        self, prepared: CompiledStatement, rolled: Mapping[str, RollUp]
    ) -> PendingReleases:
        """What is due of `prepared`, beside what was paid before, or never has to be."""
        asked = [r for r in prepared.releases if r.name not in rolled]
        kept = [r for r in asked if self._open_ledger().stored_answer(r.key) is not None]
        rest = [r for r in asked if r not in kept]
        due = [r for r in rest if r.step.measurement.loss.amount]
        if due:
            self._execution.check(prepared)
        read = [*kept, *(way.source for way in rolled.values())]
        answers = self._view([r.key for r in read])
        found = [from_bytes(a, r.columns) for r, a in zip(read, answers, strict=True)]
        tables = self.saved.rows(prepared.saved_tables, charge=True)
        tables |= {r.name: table for r, table in zip(kept, found, strict=False)}
        for way, table in zip(rolled.values(), found[len(kept) :], strict=True):
            tables[way.target.name] = way.table(table)
        tables |= self._execute((r for r in rest if r not in due), tables)
        self._sources.add(prepared, kept)
        return PendingReleases(due, tables, {r.key: a for r, a in zip(read, answers, strict=True)})

    def _view(self, keys: Sequence[str]) -> Sequence[bytes]:
        """The stored answers of these keys; a first look is charged to the reader's own cap."""
        if not keys:
            return ()
        cap = analyst_cap(self.schema, self.analyst)
        return self._open_ledger().read_answers(keys, self.analyst, cap, self.schema.policy_hash)

    def _charge_and_run(
        self, sql: str, parts: list[PendingReleases], loss: PrivacyLoss
    ) -> ChargedRun:
        """The tables of all `parts`, charged in one entry; a failure burns the charge."""
        cap = analyst_cap(self.schema, self.analyst)
        due = unique_releases(part.due for part in parts)
        charge = charge_for(
            self.schema, self.analyst, sql, due, self._execution.version(), loss, cap
        )
        self._progress(RUNNING)
        ledger = self._open_ledger()
        return charge_and_run(
            ledger, charge, parts, lambda one, read: self._execute([one], read)[one.name]
        )

    def _execute(
        self, releases: Iterable[CompiledRelease], read: Mapping[str, pa.Table]
    ) -> dict[str, pa.Table]:
        steps = tuple(release.step for release in releases)
        asked = {name: read[name] for step in steps for name in step.reads if name in read}
        return self._execution.run(steps, self._randomness, asked) if steps else {}

    def _existing_ledger(self) -> Ledger | None:
        """The ledger, opened if there is one: a question doesn't make one."""
        there = self._ledger is not None or has_ledger(self.schema)
        return self._open_ledger() if there else None

    def _open_ledger(self) -> Ledger:
        if self._ledger is None or self._ledger.lost:
            self._ledger = open_ledger(self.schema)
        return self._ledger
