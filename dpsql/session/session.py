"""One analyst's use of one dataset: the pipeline on one screen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pyarrow as pa

from dpsql.bind.statement import NO_PARAMETERS
from dpsql.bind.syntax.parameter import Parameters
from dpsql.bounding.settings import AS_DECLARED, Settings
from dpsql.errors import InterfaceError
from dpsql.ledger.caps import Balance
from dpsql.ledger.ledger import Ledger
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.privacy.mechanisms.randomness import Randomness, SystemRandomness
from dpsql.schema.model import Schema
from dpsql.session.answer.answer import Answer
from dpsql.session.answer.answer_cache import Recall
from dpsql.session.answer.answer_construction import answered
from dpsql.session.answer.column_errors import within_error
from dpsql.session.answer.rollup import Memory, RollUp
from dpsql.session.answer.stored_answer import charge_for, from_bytes
from dpsql.session.batch import Batch, apart, check_batch, together
from dpsql.session.budget_share import share
from dpsql.session.compile.compile import Proving
from dpsql.session.compile.compiled import Prepared, PreparedRelease
from dpsql.session.compile.error_target import check_due, costs_at_most
from dpsql.session.compile.loss_conversion import as_epsilon, cap_of, grant
from dpsql.session.compile.plan_cache import Plans
from dpsql.session.dataset import load_dataset
from dpsql.session.explain.error_curve import Sweep, swept
from dpsql.session.explain.explain import explain
from dpsql.session.explain.report import Proof
from dpsql.session.ledger_access import has_ledger, noting_refusals, open_ledger
from dpsql.session.run.charge_and_run import RUNNING, Drawn, Part, distinct, draw
from dpsql.session.run.execution import Execution, Progress
from dpsql.session.saved.create import Wanted, about_answer, check_wanted, kept_bytes
from dpsql.session.saved.saved_releases import Kept, KeptFacts


class Session:
    """Answers one analyst's queries on one dataset, within its budget.

    Nothing private is opened before the first query runs; `explain` reads public tables at most.
    """

    def __init__(
        self,
        schema: Path | Schema,
        *,
        analyst: str = "analyst",
        epsilon: object = None,
        randomness: Randomness | None = None,
        progress: Progress = lambda _: None,
        execution: Execution | None = None,
    ) -> None:
        self.schema = load_dataset(schema)
        self.analyst = analyst
        self.epsilon = self.schema.per_query.epsilon if epsilon is None else as_epsilon(epsilon)
        grant(self.schema, self.epsilon)
        self.settings = AS_DECLARED
        self._randomness = SystemRandomness() if randomness is None else randomness
        self._progress = progress
        self._execution = Execution(self.schema, progress) if execution is None else execution
        self.whole = self._execution.whole
        self._ledger: Ledger | None = None
        self._plans = Plans()
        self._given = Memory()
        self._recall = Recall()
        self.kept = Kept(
            self.schema, analyst, self._existing_ledger, lambda: cap_of(self.schema, analyst)
        )
        self._open = True

    def query(
        self,
        sql: str,
        epsilon: object = None,
        parameters: Parameters = NO_PARAMETERS,
        written: str = "",
    ) -> Answer:
        """Prove, charge, run and answer `sql`, noted as `written`; a refusal costs nothing."""
        with noting_refusals(self.schema, lambda: self._ledger, self.analyst, written or sql):
            return self._answered(written or sql, self.prepare(sql, epsilon, parameters))

    def batch(self, statements: Sequence[str], epsilon: object = None) -> Batch:
        """All of `statements`, composed and charged in one entry before any runs, or refused.

        Under approx only. Each is proved with `epsilon`; a failure burns the charge of all.
        """
        sql = ";\n".join(statements)
        with noting_refusals(self.schema, lambda: self._ledger, self.analyst, sql):
            check_batch(self.schema)
            prepared = [self.prepare(statement, epsilon) for statement in statements]
            check_due(prepared, self._budget(), self.schema, lambda due: together(self.schema, due))
            parts = [self._found(one, {}) for one in prepared if one.releases]
            due, loss, receipt = distinct(part.due for part in parts), None, None
            if due:
                loss = together(self.schema, due)
                receipt = str(self._draw(sql, parts, loss).receipt.proof)
            # All are stored by now.
            answers = tuple(self._answered("", one) for one in prepared)
            return Batch(answers, loss, apart(due) if due else None, receipt)

    def keep(self, wanted: Wanted, sql: str, parameters: Parameters = NO_PARAMETERS) -> Answer:
        """Answer `sql`, at its price, and keep the finished answer under a name."""
        with noting_refusals(self.schema, lambda: self._ledger, self.analyst, wanted.statement):
            prepared = self.prepare(sql, None, parameters, wanted)
            check_wanted(wanted, prepared.statement, self.schema)
            names, mine = self._budget().names, self.kept.name(wanted.name)
            names.check(mine, replace=wanted.replace)
            answer = self._answered(wanted.statement, prepared)
            about = about_answer(wanted, answer, self.schema, self.version)
            keys = tuple(dict.fromkeys([*answer.keys, *self.kept.keys(prepared.kept)]))
            names.keep(mine, about, kept_bytes(answer.table), keys, replace=wanted.replace)
            return answer

    def _answered(self, sql: str, prepared: Prepared) -> Answer:
        if not prepared.releases:
            read = self.kept.rows(prepared.kept, pays=True)
            return answered(prepared, self.schema, self._execution.public(prepared, read), None, {})
        if (again := self._recall.answer(prepared, self._view)) is not None:
            return again
        rolled = self._roll_ups(prepared)
        check_due([prepared], self._budget(), self.schema, apart, rolled)
        part, paid = self._found(prepared, rolled), None
        released, stored = part.tables, part.stored
        if part.due:
            loss = apart(distinct([part.due]))
            drawn = self._draw(sql, [part], loss)
            self._given.add(prepared, part.due)
            (released,), stored = drawn.tables, {**stored, **drawn.stored}
            paid = loss, drawn.receipt
        self._progress("finishing the answer")
        shown = prepared.totals.without(rolled).tables(released)
        finished = self._execution.finish(prepared, shown)
        answer = answered(prepared, self.schema, finished, paid, rolled)
        if not rolled and not prepared.kept:
            self._recall.add(prepared, answer, stored)
        return answer

    def prepare(
        self,
        sql: str,
        epsilon: object = None,
        parameters: Parameters = NO_PARAMETERS,
        wanted: Wanted | None = None,
        *,
        pays: bool = True,
    ) -> Prepared:
        """All that is decided before the charge. `pays`: what is kept may be opened for it."""
        self._check_open()
        (asked, settings), edition = self._asked(epsilon, wanted), self._edition()
        pays = pays and costs_at_most(settings, asked, self.schema)
        key = (sql, asked, tuple(sorted(parameters.items())), settings, edition)
        return self._plans.prepared(
            key,
            lambda: self._proving(sql, parameters, edition, settings, pays=pays).prepared(asked),
        )

    def explain(
        self,
        sql: str,
        epsilon: object = None,
        parameters: Parameters = NO_PARAMETERS,
        wanted: Wanted | None = None,
    ) -> Proof:
        """EXPLAIN PRIVACY: the proof and the price of `sql`, free."""
        # No answer is looked up or stored, so the version of the data doesn't matter.
        self._check_open()
        asked, settings = self._asked(epsilon, wanted)
        found = self._proving(sql, parameters, "any", settings, pays=False)
        return explain(found.prepared(asked), self.schema)

    def sweep(
        self, sql: str, epsilons: Sequence[Fraction], parameters: Parameters = NO_PARAMETERS
    ) -> Sweep:
        """How far noise moves the values of `sql` at each of `epsilons`, whatever is set; free."""
        self._check_open()
        return swept(self._proving(sql, parameters, "any", self.settings, pays=False).at, epsilons)

    def share(
        self, sql: str, parameters: Parameters = NO_PARAMETERS, wanted: Wanted | None = None
    ) -> Fraction:
        """What part of the budget that is left `sql` would take, from 0 to 1; free."""
        prepared = self.prepare(sql, None, parameters, wanted, pays=False)
        if prepared.loss is None:
            return Fraction(0)
        free, cap = self._roll_ups(prepared), cap_of(self.schema, self.analyst)
        return share(prepared, self._budget(), self.analyst, cap, free)

    @property
    def version(self) -> str:
        """Which version of the data there is: nobody's to see unless the schema states it."""
        return self._execution.version()

    @property
    def has_ledger(self) -> bool:
        """The ledger is open: a dataset that was never charged has none, and needs none yet."""
        return self._ledger is not None

    def balance(self, analyst: str | None = None) -> Balance:
        """What the dataset, or one analyst under their own cap, has spent and has left."""
        self._check_open()
        cap = None if analyst is None else cap_of(self.schema, analyst)
        return self._budget().balance(analyst, cap)

    def interrupt(self) -> None:
        """Stop what is running; its charge stands."""
        self._execution.interrupt()

    def close(self) -> None:
        """Let go of the source and the ledger."""
        self._open = False
        self._execution.close()
        if self._ledger is not None:
            self._ledger.close()

    def _asked(self, epsilon: object, wanted: Wanted | None) -> tuple[Fraction, Settings]:
        if wanted is not None and wanted.epsilon is not None:
            return wanted.epsilon, replace(self.settings, rounds=wanted.rounds)
        return self.epsilon if epsilon is None else as_epsilon(epsilon), self.settings

    def _proving(
        self, sql: str, parameters: Parameters, version: str, settings: Settings, *, pays: bool
    ) -> Proving:
        self._progress("proving what one unit can change")
        facts = KeptFacts(self._execution.facts(), self.kept, self._execution, pays=pays)
        read = self.whole.bound
        return Proving(sql, self.schema, facts, version, parameters, settings, self.kept, read)

    def _roll_ups(self, prepared: Prepared) -> dict[str, RollUp]:
        """What of `prepared` isn't stored, and may be summed from what this session was given."""
        found = self._given.roll_ups(prepared, self._budget())
        return within_error(found, prepared.settings.max_error)

    def _found(self, prepared: Prepared, rolled: Mapping[str, RollUp]) -> Part:
        """What is due of `prepared`, beside what was paid before, or never has to be."""
        asked = [r for r in prepared.releases if r.name not in rolled]
        kept = [r for r in asked if self._budget().stored(r.key) is not None]
        rest = [r for r in asked if r not in kept]
        due = [r for r in rest if r.step.measurement.loss.amount]
        if due:
            self._execution.check(prepared)
        read = [*kept, *(way.fine for way in rolled.values())]
        answers = self._view([r.key for r in read])
        found = [from_bytes(a, r.columns) for r, a in zip(read, answers, strict=True)]
        tables = self.kept.rows(prepared.kept, pays=True)
        tables |= {r.name: table for r, table in zip(kept, found, strict=False)}
        for way, table in zip(rolled.values(), found[len(kept) :], strict=True):
            tables[way.asked.name] = way.table(table)
        tables |= self._run((r for r in rest if r not in due), tables)
        self._given.add(prepared, kept)
        return Part(due, tables, {r.key: a for r, a in zip(read, answers, strict=True)})

    def _view(self, keys: Sequence[str]) -> Sequence[bytes]:
        """The stored answers of these keys; a first look is charged to the reader's own cap."""
        if not keys:
            return ()
        cap = cap_of(self.schema, self.analyst)
        return self._budget().view(keys, self.analyst, cap, self.schema.policy_hash)

    def _draw(self, sql: str, parts: list[Part], loss: PrivacyLoss) -> Drawn:
        """The tables of all `parts`, charged in one entry; a failure burns the charge."""
        cap, due = cap_of(self.schema, self.analyst), distinct(part.due for part in parts)
        charge = charge_for(self.schema, self.analyst, sql, due, self.version, loss, cap)
        self._progress(RUNNING)
        return draw(
            self._budget(), charge, parts, lambda one, read: self._run([one], read)[one.name]
        )

    def _run(
        self, releases: Iterable[PreparedRelease], read: Mapping[str, pa.Table]
    ) -> dict[str, pa.Table]:
        steps = tuple(release.step for release in releases)
        asked = {name: read[name] for step in steps for name in step.reads if name in read}
        return self._execution.run(steps, self._randomness, asked) if steps else {}

    def _edition(self) -> str:
        """What stored answers have in common: the data, and who sees them."""
        version = self.version
        return version if self.schema.shares_answers else f"{version}\0{self.analyst}"

    def _existing_ledger(self) -> Ledger | None:
        """The ledger, opened if there is one: a question doesn't make one."""
        there = self._ledger is not None or has_ledger(self.schema)
        return self._budget() if there else None

    def _budget(self) -> Ledger:
        if self._ledger is None or self._ledger.lost:
            self._ledger = open_ledger(self.schema)
        return self._ledger

    def _check_open(self) -> None:
        if not self._open:
            raise InterfaceError("the connection is closed", hint="connect again")
