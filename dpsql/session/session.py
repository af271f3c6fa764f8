"""One analyst's use of one dataset: the pipeline on one screen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

from dpsql.bind.statement import NO_PARAMETERS
from dpsql.bind.statements.calibrate import LadderPart
from dpsql.bind.syntax.parameter import Parameters
from dpsql.ledger.caps import Balance
from dpsql.privacy.mechanisms.randomness import Randomness, SystemRandomness
from dpsql.schema.model import Schema
from dpsql.session.alerts.alerts import Alerts
from dpsql.session.analyst_ledger import AnalystLedger
from dpsql.session.answer.answer import Answer
from dpsql.session.answer.answer_construction import build_answer
from dpsql.session.answer.chart_reading import reading_notes
from dpsql.session.batch.batch import Batch, answer_batch
from dpsql.session.batch.batch_price import BatchPrice, explain_batch, price_batch
from dpsql.session.budget_share import budget_fraction, part_of_left
from dpsql.session.compile.compile import compile_for_look, compile_statement, looking_compiler
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.cost_cap import check_cost
from dpsql.session.compile.loss_conversion import parse_epsilon, query_loss
from dpsql.session.compile.request import ANSWER, AnswerRequest, LadderRequest, Request
from dpsql.session.context import SessionContext
from dpsql.session.dataset import load_dataset
from dpsql.session.explain.error_curve import Sweep, error_curve
from dpsql.session.explain.explain import explain
from dpsql.session.explain.report import PrivacyReport
from dpsql.session.ladders.draw_ladders import (
    LadderSpec,
    check_calibrator,
    draw_ladders,
    ladder_options,
    ladder_parts,
    ladder_source,
)
from dpsql.session.options import DEFAULT_OPTIONS, QueryOptions
from dpsql.session.run.charge_and_run import answered_before, charge_and_run, remember_releases
from dpsql.session.run.execution import Execution, Progress
from dpsql.session.run.pending_releases import look_up
from dpsql.session.run.stored_counts import compile_query
from dpsql.session.saved.create import SaveRequest, check_name, check_save_request, encode, metadata
from dpsql.session.saved.dashboard_law import dashboard_law
from dpsql.session.saved.saved_releases import SavedReleases
from dpsql.session.saved.synopsis_law import saved_rows, synopsis_law
from dpsql.structs import replace


class Session:
    """Answers one analyst's queries on one dataset, within its budget.

    Nothing private is opened before the first query runs; `explain` reads public tables at most.
    `default_epsilon` is what a query spends unless its options say otherwise. `inspect` is called
    with each statement that is to be answered, before its charge, and may refuse it.
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
        self.default_epsilon = (
            self.schema.per_query.epsilon if epsilon is None else parse_epsilon(epsilon)
        )
        query_loss(self.schema, self.default_epsilon)
        self.inspect: Callable[[CompiledStatement], None] = lambda _: None
        execution = Execution(self.schema, progress) if execution is None else execution
        ledger = AnalystLedger(self.schema, analyst, execution.ledger)
        self.saved = SavedReleases(self.schema, analyst, ledger.existing, lambda: ledger.cap)
        self.whole = execution.whole
        self._context = SessionContext(
            self.schema,
            analyst,
            self.default_epsilon,
            SystemRandomness() if randomness is None else randomness,
            progress,
            execution,
            ledger,
            self.saved,
        )
        self.alerts = Alerts(
            self._context,
            lambda compiled: self.inspect(compiled),  # noqa: PLW0108 - it may be set later
        )

    def query(
        self,
        sql: str,
        options: QueryOptions = DEFAULT_OPTIONS,
        parameters: Parameters = NO_PARAMETERS,
        written: str = "",
    ) -> Answer:
        """Prove, charge, run and answer `sql`, noted as `written`; a refusal costs nothing."""
        context, written = self._context, written or sql
        with context.ledger.recording_refusals(written):
            compiled = compile_query(context, sql, options, parameters)
            self.inspect(compiled)
            if (answered := answered_before(context, compiled)) is not None:
                return answered.answer
            with context.turn(compiled):
                released = charge_and_run(context, written, compiled)
                return build_answer(context, compiled, released)

    def remember(self, compiled: CompiledStatement) -> None:
        """Note that the answer of `compiled` was given in this session, too, as it was before."""
        remember_releases(self._context, compiled)

    def batch(self, statements: Sequence[str], options: QueryOptions = DEFAULT_OPTIONS) -> Batch:
        """All of `statements`, charged in one entry before any runs, or refused.

        Under approx they are composed; under zcdp and gdp, what counts and sums the same rows is
        planned as one. Each is proved with the ε of `options`; a failure burns the charge of all.
        """
        return answer_batch(self._context, statements, options)

    def explain_batch(
        self, statements: Sequence[str], options: QueryOptions = DEFAULT_OPTIONS
    ) -> tuple[PrivacyReport, ...]:
        """The proof and the price of a batch, free: of what is planned as one, and of the rest."""
        return explain_batch(self._context, statements, options)

    def price_batch(
        self, statements: Sequence[str], options: QueryOptions = DEFAULT_OPTIONS
    ) -> BatchPrice:
        """What a batch costs, as if none of it was answered before; free."""
        return price_batch(self._context, statements, options)

    def save(
        self,
        wanted: SaveRequest,
        sql: str,
        options: QueryOptions = DEFAULT_OPTIONS,
        parameters: Parameters = NO_PARAMETERS,
    ) -> Answer:
        """Answer `sql`, at its price, and keep the finished answer under a name."""
        context = self._context
        with context.ledger.recording_refusals(wanted.statement):
            context.check_open()
            compiled = compile_statement(context, sql, options, parameters, wanted.content)
            self.inspect(compiled)
            check_save_request(wanted, compiled.statement, self.schema, self.saved)
            names, name = context.ledger.open().names, self.saved.name(wanted.name)
            names.check(name, replace=wanted.replace)
            with context.turn(compiled):
                released = charge_and_run(context, wanted.statement, compiled)
                answer = build_answer(context, compiled, released)
            policy = self.schema.policy_hash
            law = dashboard_law(compiled, policy) or synopsis_law(compiled, context.ledger.read)
            # Neither the version before it was read nor that afterwards: data change meanwhile.
            version = context.version_of(compiled.version)
            about = metadata(wanted, answer, self.schema, version, law=law)
            keys = tuple(dict.fromkeys([*answer.keys, *self.saved.keys(compiled.saved_tables)]))
            rows = encode(saved_rows(compiled, answer.table, context.ledger.read))
            names.keep(name, about, rows, keys, replace=wanted.replace)
            return answer

    def calibrate(self, spec: LadderSpec, options: QueryOptions = DEFAULT_OPTIONS) -> Answer:
        """Draw the ladders that `spec` asks for, at its price, and keep them under a name."""
        context = self._context
        with context.ledger.recording_refusals(spec.statement):
            context.check_open()
            check_calibrator(self.schema, self.analyst)
            loss = query_loss(self.schema, spec.epsilon)
            source = ladder_source(context, spec.sql)
            wanted = SaveRequest(spec.name or source.name, spec.statement, replace=True)
            check_name(wanted, self.schema, self.saved)
            check_cost(loss, options.price, self.schema)
            names, name = context.ledger.open().names, self.saved.name(wanted.name)
            names.check(name, replace=True)
            version = self.version
            drawn = draw_ladders(context, spec, source, options)
            about = metadata(wanted, drawn.answer, self.schema, version, drawn.about)
            names.keep(name, about, encode(drawn.answer.table), drawn.answer.keys, replace=True)
            return drawn.answer

    def explain_ladders(
        self, spec: LadderSpec, options: QueryOptions = DEFAULT_OPTIONS
    ) -> PrivacyReport:
        """The proof and the price of ladders, free.

        What a unit has in each group is explained for one group of each: how many count, the ladder
        of groups will say.
        """
        context = self._context
        context.check_open()
        options, source = ladder_options(spec, options), ladder_source(context, spec.sql)
        parts = [*ladder_parts(source), LadderRequest(LadderPart.CONTRIBUTIONS, Fraction(1))]
        *reports, whole = (
            self.explain(spec.sql, options, request=AnswerRequest(part)) for part in parts
        )
        return replace(
            whole,
            operators=tuple(line for report in reports for line in report.operators),
            releases=tuple(
                replace(release, name=f"release_{number}")
                for number, report in enumerate(reports)
                for release in report.releases
            ),
            advice=(),
        )

    def share_of(self, cost: Fraction) -> Fraction:
        """What part of the budget that is left `cost` is, in the ledger's currency, from 0 to 1."""
        return part_of_left(cost, *self.balances())

    def compile(
        self,
        sql: str,
        options: QueryOptions = DEFAULT_OPTIONS,
        parameters: Parameters = NO_PARAMETERS,
        request: Request = ANSWER,
    ) -> CompiledStatement:
        """All that is decided before the charge; free, but for a first look at kept tables."""
        return compile_statement(self._context, sql, options, parameters, request)

    def explain(
        self,
        sql: str,
        options: QueryOptions = DEFAULT_OPTIONS,
        parameters: Parameters = NO_PARAMETERS,
        request: Request = ANSWER,
    ) -> PrivacyReport:
        """EXPLAIN PRIVACY: the proof and the price of `sql`, free."""
        context = self._context
        context.check_open()
        compiled = compile_for_look(context, sql, options, parameters, request)
        report = explain(compiled, self.schema)
        free = reading_notes(compiled, context.readable_dashboards())
        return replace(report, notes=(*free, *report.notes))

    def sweep(
        self,
        sql: str,
        epsilons: Sequence[Fraction],
        options: QueryOptions = DEFAULT_OPTIONS,
        parameters: Parameters = NO_PARAMETERS,
    ) -> Sweep:
        """How far noise moves the values of `sql` at each of `epsilons`, whatever is set; free."""
        context = self._context
        context.check_open()
        compiler = looking_compiler(context, sql, options, parameters, ANSWER)
        return error_curve(compiler.compile, epsilons)

    def share(
        self,
        sql: str,
        options: QueryOptions = DEFAULT_OPTIONS,
        parameters: Parameters = NO_PARAMETERS,
        request: Request = ANSWER,
    ) -> Fraction:
        """What part of the budget that is left `sql` would take, from 0 to 1; free."""
        context = self._context
        compiled = compile_statement(context, sql, options, parameters, request, pays=False)
        if compiled.loss is None:
            return Fraction(0)
        free, ledger = look_up(context, compiled).free, context.ledger
        return budget_fraction(compiled, ledger.open(), self.analyst, ledger.cap, free)

    @property
    def version(self) -> str:
        """Which version of the data there is: nobody's to see unless the schema states it."""
        return self._context.execution.version()

    @property
    def has_ledger(self) -> bool:
        """The ledger is open: a dataset that was never charged has none, and needs none yet."""
        return self._context.ledger.is_open

    def balance(self, analyst: str | None = None) -> Balance:
        """What the dataset, or one analyst under their own cap, has spent and has left."""
        self._context.check_open()
        return self._context.ledger.balance(analyst)

    def balances(self) -> tuple[Balance, Balance]:
        """What the dataset, and this session's analyst under their own cap, have, of one moment."""
        self._context.check_open()
        return self._context.ledger.balances()

    def interrupt(self) -> None:
        """Stop what is running; its charge stands."""
        self._context.execution.interrupt()

    def close(self) -> None:
        """Let go of the source and the ledger."""
        self._context.close()
