"""One analyst's use of one dataset: the pipeline on one screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path

from dpsql.bind.statement import NO_PARAMETERS
from dpsql.bind.syntax.parameter import Parameters
from dpsql.bounding.settings import AS_DECLARED, Settings
from dpsql.errors import InterfaceError
from dpsql.ledger.caps import Balance
from dpsql.privacy.mechanisms.randomness import Randomness, SystemRandomness
from dpsql.schema.model import Schema
from dpsql.session.answer.answer import Answer
from dpsql.session.answer.answer_cache import AnswerCache
from dpsql.session.answer.answer_construction import build_answer
from dpsql.session.batch import Batch, check_batch, composed_loss, loss_one_by_one
from dpsql.session.budget_share import budget_fraction
from dpsql.session.compile.compile import Compiler
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.error_target import check_due, meets_max_cost
from dpsql.session.compile.loss_conversion import analyst_cap, parse_epsilon, query_loss
from dpsql.session.compile.plan_cache import PlanCache
from dpsql.session.dataset import load_dataset
from dpsql.session.explain.error_curve import Sweep, error_curve
from dpsql.session.explain.explain import explain
from dpsql.session.explain.report import PrivacyReport
from dpsql.session.ledger_access import recording_refusals
from dpsql.session.release_runner import ReleaseRunner
from dpsql.session.run.charge_and_run import (
    unique_releases,
)
from dpsql.session.run.execution import Execution, Progress
from dpsql.session.saved.create import SaveRequest, check_save_request, encode, metadata
from dpsql.session.saved.saved_releases import SavedReleaseFacts


class Session(ReleaseRunner):
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
        loaded = load_dataset(schema)
        super().__init__(
            loaded,
            analyst,
            SystemRandomness() if randomness is None else randomness,
            progress,
            Execution(loaded, progress) if execution is None else execution,
        )
        self.epsilon = self.schema.per_query.epsilon if epsilon is None else parse_epsilon(epsilon)
        query_loss(self.schema, self.epsilon)
        self.settings = AS_DECLARED
        self.whole = self._execution.whole
        self._plans = PlanCache()
        self._cache = AnswerCache()
        self._open = True

    def query(
        self,
        sql: str,
        epsilon: object = None,
        parameters: Parameters = NO_PARAMETERS,
        written: str = "",
    ) -> Answer:
        """Prove, charge, run and answer `sql`, noted as `written`; a refusal costs nothing."""
        with recording_refusals(self.schema, lambda: self._ledger, self.analyst, written or sql):
            return self._answer(written or sql, self.prepare(sql, epsilon, parameters))

    def batch(self, statements: Sequence[str], epsilon: object = None) -> Batch:
        """All of `statements`, composed and charged in one entry before any runs, or refused.

        Under approx only. Each is proved with `epsilon`; a failure burns the charge of all.
        """
        sql = ";\n".join(statements)
        with recording_refusals(self.schema, lambda: self._ledger, self.analyst, sql):
            check_batch(self.schema)
            prepared = [self.prepare(statement, epsilon) for statement in statements]
            composed = partial(composed_loss, self.schema)
            check_due(prepared, self._open_ledger(), self.schema, composed)
            parts = [self._split_due(one, {}) for one in prepared if one.releases]
            due, loss, receipt = unique_releases(part.due for part in parts), None, None
            if due:
                loss = composed_loss(self.schema, due)
                receipt = str(self._charge_and_run(sql, parts, loss).receipt.receipt_id)
            # All are stored by now.
            answers = tuple(self._answer("", one) for one in prepared)
            return Batch(answers, loss, loss_one_by_one(due) if due else None, receipt)

    def save(self, wanted: SaveRequest, sql: str, parameters: Parameters = NO_PARAMETERS) -> Answer:
        """Answer `sql`, at its price, and keep the finished answer under a name."""
        with recording_refusals(self.schema, lambda: self._ledger, self.analyst, wanted.statement):
            prepared = self.prepare(sql, None, parameters, wanted)
            check_save_request(wanted, prepared.statement, self.schema)
            names, mine = self._open_ledger().names, self.saved.name(wanted.name)
            names.check(mine, replace=wanted.replace)
            answer = self._answer(wanted.statement, prepared)
            about = metadata(wanted, answer, self.schema, self.version)
            keys = tuple(dict.fromkeys([*answer.keys, *self.saved.keys(prepared.saved_tables)]))
            names.keep(mine, about, encode(answer.table), keys, replace=wanted.replace)
            return answer

    def _answer(self, sql: str, prepared: CompiledStatement) -> Answer:
        if not prepared.releases:
            read = self.saved.rows(prepared.saved_tables, charge=True)
            table = self._execution.public(prepared, read)
            return build_answer(prepared, self.schema, table, None, {})
        if (again := self._cache.answer(prepared, self._view)) is not None:
            return again
        rolled = self._roll_ups(prepared)
        check_due([prepared], self._open_ledger(), self.schema, loss_one_by_one, rolled)
        part, paid = self._split_due(prepared, rolled), None
        released, stored = part.tables, part.stored
        if part.due:
            loss = loss_one_by_one(unique_releases([part.due]))
            drawn = self._charge_and_run(sql, [part], loss)
            self._sources.add(prepared, part.due)
            (released,), stored = drawn.tables, {**stored, **drawn.stored}
            paid = loss, drawn.receipt
        self._progress("finishing the answer")
        shown = prepared.consistency.without(rolled).tables(released)
        finished = self._execution.finish(prepared, shown)
        answer = build_answer(prepared, self.schema, finished, paid, rolled)
        if not rolled and not prepared.saved_tables:
            self._cache.add(prepared, answer, stored)
        return answer

    def prepare(
        self,
        sql: str,
        epsilon: object = None,
        parameters: Parameters = NO_PARAMETERS,
        wanted: SaveRequest | None = None,
        *,
        pays: bool = True,
    ) -> CompiledStatement:
        """All that is decided before the charge. `pays`: what is kept may be opened for it."""
        self._check_open()
        (asked, settings), edition = self._options(epsilon, wanted), self._data_version_key()
        pays = pays and meets_max_cost(settings, asked, self.schema)
        key = (sql, asked, tuple(sorted(parameters.items())), settings, edition)
        return self._plans.get(
            key,
            lambda: self._compiler(
                sql, parameters, edition, settings, pays=pays
            ).compile_for_target(asked),
        )

    def explain(
        self,
        sql: str,
        epsilon: object = None,
        parameters: Parameters = NO_PARAMETERS,
        wanted: SaveRequest | None = None,
    ) -> PrivacyReport:
        """EXPLAIN PRIVACY: the proof and the price of `sql`, free."""
        # No answer is looked up or stored, so the version of the data doesn't matter.
        self._check_open()
        asked, settings = self._options(epsilon, wanted)
        compiler = self._compiler(sql, parameters, "any", settings, pays=False)
        return explain(compiler.compile_for_target(asked), self.schema)

    def sweep(
        self, sql: str, epsilons: Sequence[Fraction], parameters: Parameters = NO_PARAMETERS
    ) -> Sweep:
        """How far noise moves the values of `sql` at each of `epsilons`, whatever is set; free."""
        self._check_open()
        compiler = self._compiler(sql, parameters, "any", self.settings, pays=False)
        return error_curve(compiler.compile, epsilons)

    def share(
        self, sql: str, parameters: Parameters = NO_PARAMETERS, wanted: SaveRequest | None = None
    ) -> Fraction:
        """What part of the budget that is left `sql` would take, from 0 to 1; free."""
        prepared = self.prepare(sql, None, parameters, wanted, pays=False)
        if prepared.loss is None:
            return Fraction(0)
        free, cap = self._roll_ups(prepared), analyst_cap(self.schema, self.analyst)
        return budget_fraction(prepared, self._open_ledger(), self.analyst, cap, free)

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
        cap = None if analyst is None else analyst_cap(self.schema, analyst)
        return self._open_ledger().balance(analyst, cap)

    def interrupt(self) -> None:
        """Stop what is running; its charge stands."""
        self._execution.interrupt()

    def close(self) -> None:
        """Let go of the source and the ledger."""
        self._open = False
        self._execution.close()
        if self._ledger is not None:
            self._ledger.close()

    def _options(self, epsilon: object, wanted: SaveRequest | None) -> tuple[Fraction, Settings]:
        if wanted is not None and wanted.epsilon is not None:
            return wanted.epsilon, replace(self.settings, rounds=wanted.rounds)
        return self.epsilon if epsilon is None else parse_epsilon(epsilon), self.settings

    def _compiler(
        self, sql: str, parameters: Parameters, version: str, settings: Settings, *, pays: bool
    ) -> Compiler:
        self._progress("proving what one unit can change")
        facts = SavedReleaseFacts(self._execution.facts(), self.saved, self._execution, pays=pays)
        read = self.whole.bound
        return Compiler(sql, self.schema, facts, version, parameters, settings, self.saved, read)

    def _data_version_key(self) -> str:
        """What stored answers have in common: the data, and who sees them."""
        version = self.version
        return version if self.schema.has_shared_store else f"{version}\0{self.analyst}"

    def _check_open(self) -> None:
        if not self._open:
            raise InterfaceError("the connection is closed", hint="connect again")
