"""`Connection`: one analyst's use of one dataset (PEP 249)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from fractions import Fraction
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self, assert_never

from dpsql import errors
from dpsql.bind.statement import NO_PARAMETERS
from dpsql.bind.syntax.parameter import Parameters as Literals
from dpsql.bind.syntax.parameter import literals
from dpsql.dbapi.cursor import Cursor, Parameters
from dpsql.dbapi.statements.alert import CheckAlert, CreateAlert
from dpsql.dbapi.statements.assignment import Assignment
from dpsql.dbapi.statements.batch import check_queries
from dpsql.dbapi.statements.calibrate import Calibrate
from dpsql.dbapi.statements.create_release import CreateRelease
from dpsql.dbapi.statements.describe import Describe, described
from dpsql.dbapi.statements.options import statement_options
from dpsql.dbapi.statements.parse import (
    DropRelease,
    ExplainPrivacy,
    Priced,
    Query,
    Show,
    explained,
    read_statement,
)
from dpsql.dbapi.statements.settings import updated
from dpsql.dbapi.statements.show_setting import show_setting
from dpsql.errors import BadParameter, InterfaceError, UnknownRelease
from dpsql.ledger.caps import Balance
from dpsql.report.budget import Budget, budget_of, read_budget
from dpsql.report.explanation.explanation import Explanation, OutputFormat
from dpsql.report.result.result import Result, from_answer, text_result
from dpsql.schema.model import Schema
from dpsql.session.batch.batch import Batch
from dpsql.session.explain.error_curve import epsilon_grid
from dpsql.session.interruptible import Result as Outcome
from dpsql.session.interruptible import interruptible
from dpsql.session.options import DEFAULT_OPTIONS, QueryOptions
from dpsql.session.saved.saved_releases import NotPaid
from dpsql.session.session import Session
from dpsql.structs import replace

if TYPE_CHECKING:
    from dpsql.report.error_curve import ErrorCurve

_PARAMETRISED: Final = Query | CreateRelease | ExplainPrivacy | DropRelease

EXPLAINED: Final = "explain_privacy"
"""The one column of EXPLAIN PRIVACY's answer."""


class Connection:
    """One analyst's use of one dataset, and what they SET for their statements to come.

    Threads may share a connection, not a cursor: statements run one after another. In-process
    Python is no wall: whoever runs it can read the source itself.
    """

    Warning: Final = errors.Warning
    Error: Final = errors.Error
    InterfaceError: Final = errors.InterfaceError
    DatabaseError: Final = errors.DatabaseError
    DataError: Final = errors.DataError
    OperationalError: Final = errors.OperationalError
    IntegrityError: Final = errors.IntegrityError
    InternalError: Final = errors.InternalError
    ProgrammingError: Final = errors.ProgrammingError
    NotSupportedError: Final = errors.NotSupportedError

    def __init__(self, session: Session, options: QueryOptions = DEFAULT_OPTIONS) -> None:
        self._session = session
        self._options = options
        self._one_statement = threading.RLock()
        self._last_budget: tuple[tuple[Balance, Balance, Fraction], Budget] | None = None
        self._open = True

    def cursor(self) -> Cursor:
        """A new cursor."""
        self._check_open()
        return Cursor(self)

    def execute(self, sql: str, parameters: Parameters | None = None) -> Cursor:
        """Run `sql` on a new cursor and return it."""
        return self.cursor().execute(sql, parameters)

    def run(self, sql: str, parameters: Literals = NO_PARAMETERS) -> Result | None:
        """What `sql` answers, None for a statement without an answer; cursors call this."""
        with self._one_statement:
            self._check_open()
            return self._outcome(partial(self._do, sql, parameters))

    def batch(self, statements: Sequence[str]) -> tuple[list[Cursor], Batch]:
        """Answer all of `statements`, or none: a cursor for each, and what they cost together.

        Declared together, under approx they are composed and cost less; under zcdp and gdp what
        counts and sums the same rows is planned as one, and is less noisy.
        """
        with self._one_statement:
            self._check_open()
            check_queries(statements)
            batch = self._outcome(partial(self._session.batch, statements, self._options))
            return [Cursor(self, from_answer(answer)) for answer in batch.answers], batch

    def explain_batch(self, statements: Sequence[str]) -> list[Explanation]:
        """The proof and the price of a batch: of what is planned as one, then of the rest; free."""
        with self._one_statement:
            self._check_open()
            check_queries(statements)
            work = partial(self._session.explain_batch, statements, self._options)
            return [Explanation(one) for one in self._outcome(work)]

    def explain(self, sql: str, parameters: Parameters | None = None) -> Explanation:
        """The proof and the price of a query: free, and without touching private rows.

        `print` shows it as text, a notebook as a page; it has json() and html(), too.
        """
        with self._one_statement:
            self._check_open()
            statement = read_statement(sql)
            if isinstance(statement, ExplainPrivacy):
                statement = explained(statement)
            if isinstance(statement, Priced):
                inputs = literals(() if parameters is None else parameters)
                return self._outcome(partial(self._explain, statement, inputs))
            raise BadParameter("only queries have a price", hint="write SELECT …")

    def sweep(
        self, sql: str, epsilons: str | None = None, parameters: Parameters | None = None
    ) -> ErrorCurve:
        """How far noise moves the values of a query at each ε from `epsilons`, "0.01..1", on.

        Free, and without touching private rows. `print` shows a table and a picture, a notebook a
        page; it has json() and svg(), too.
        """
        from dpsql.report.error_curve import ErrorCurve  # noqa: PLC0415 - few need it

        with self._one_statement:
            self._check_open()
            statement, session = read_statement(sql), self._session
            if not isinstance(statement, Query):
                raise BadParameter("only queries have errors", hint="write SELECT …")
            points = epsilon_grid(session.schema, epsilons)
            inputs = literals(() if parameters is None else parameters)
            with self._options_of(statement) as options:
                work = partial(session.sweep, statement.sql, points, options, inputs)
                return ErrorCurve(self._outcome(work))

    def share(self, sql: str) -> Fraction:
        """What part of the budget that is left `sql` would take, from 0 to 1; finding out is free.

        Statements that aren't queries take nothing, nor does what was from_answer before. So where
        analysts share answers, the part of a query that you haven't asked tells if another has:
        what they asked is no secret of the data's, but of theirs. `store: private` keeps it.
        """
        with self._one_statement:
            self._check_open()
            statement = read_statement(sql)
            if isinstance(statement, Calibrate | CreateAlert):
                return self._outcome(partial(statement.share, self._session))
            if isinstance(statement, Query | CreateRelease):
                share, request = partial(self._session.share, statement.sql), statement.content
                with self._options_of(statement) as options, suppress(NotPaid):
                    # NotPaid: the reader's own cap would pay for a first look.
                    return self._outcome(partial(share, options, request=request))
            return Fraction(0)

    @property
    def budget(self) -> Budget:
        """What was spent and what is left, of the dataset's budget and of the analyst's own cap."""
        with self._one_statement:
            self._check_open()
            return self._outcome(self._budget)

    @property
    def schema(self) -> Schema:
        """The schema file as it was read: tables, columns, units and limits."""
        return self._session.schema

    @property
    def catalog(self) -> Schema:
        """The schema with what else can be named now: tables that are kept and may be read."""
        with self._one_statement:
            self._check_open()
            return self._outcome(self._session.saved.catalog)

    @property
    def analyst(self) -> str:
        """On whose account queries are charged."""
        return self._session.analyst

    @property
    def epsilon(self) -> Fraction:
        """What a query spends; SET dpsql.epsilon changes it."""
        epsilon = self._options.epsilon
        return self._session.default_epsilon if epsilon is None else epsilon

    def interrupt(self) -> None:
        """Stop the statement that another thread runs on this connection; its charge stands."""
        self._session.interrupt()

    def commit(self) -> None:
        """Nothing: answers change no data, and a charge is final as soon as it is made."""
        self._check_open()

    def rollback(self) -> None:
        """Nothing: what was charged for an answer stays charged, since the answer was seen."""
        self._check_open()

    def close(self) -> None:
        """Let go of source and ledger; cursors of this connection run nothing afterwards.

        Closing twice is an error, as the compliance tests of PEP 249 want it; leaving a `with`
        block closes only what is open.
        """
        self._check_open()
        self._open = False
        with self._one_statement:
            self._outcome(self._session.close)

    def __enter__(self) -> Self:
        self._check_open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._open:
            self.close()

    def _do(self, written: str, parameters: Literals) -> Result | None:
        statement, session = read_statement(written), self._session
        if parameters and not isinstance(statement, _PARAMETRISED):
            raise BadParameter("only queries take parameters", hint="write the values out")
        match statement:
            case Query(sql=sql):
                with self._options_of(statement) as options:
                    return from_answer(session.query(sql, options, parameters, written))
            case ExplainPrivacy(form=form, with_sql=with_sql):
                text = self._explain(explained(statement), parameters).written(form, sql=with_sql)
                lines = text.split("\n") if form is OutputFormat.TEXT else [text]
                return text_result([EXPLAINED], ([line] for line in lines))
            case CreateRelease(request=wanted, sql=sql):
                with self._options_of(statement) as options:
                    return from_answer(session.save(wanted, sql, options, parameters))
            case Calibrate() | CreateAlert() | CheckAlert():
                return from_answer(statement.answer(session, self._options))
            case DropRelease(kind=kind, name=name, if_exists=if_exists):
                with suppress(*[UnknownRelease] * if_exists):
                    session.saved.drop(name, kind)
                return None
            case Describe():
                return described(statement, session.saved.catalog())
            case Show(setting=setting):
                options = replace(self._options, epsilon=self.epsilon)
                return show_setting(setting, session, options, self._budget)
            case Assignment():
                self._options = updated(self._options, statement, session.schema)
                return None
            case missing:
                assert_never(missing)

    def _explain(self, statement: Priced, parameters: Literals) -> Explanation:
        session = self._session
        if isinstance(statement, Calibrate | CreateAlert):
            return Explanation(statement.report(session, self._options))
        request = statement.content
        with self._options_of(statement) as options:
            return Explanation(session.explain(statement.sql, options, parameters, request))

    def _budget(self) -> Budget:
        session = self._session
        schema, analyst, epsilon = session.schema, session.analyst, self.epsilon
        if not session.has_ledger:
            return read_budget(schema, analyst, epsilon)
        known = *session.balances(), epsilon
        if self._last_budget is None or self._last_budget[0] != known:
            self._last_budget = known, budget_of(schema, analyst, epsilon, *known[:2])
        return self._last_budget[1]

    def _outcome(self, work: Callable[[], Outcome]) -> Outcome:
        """What `work` returns or raises; Ctrl-C amid a use of the ledger would leave it locked."""
        return interruptible(work, self._session.interrupt)

    def _options_of(self, statement: Query | CreateRelease) -> AbstractContextManager[QueryOptions]:
        return statement_options(self._options, statement.options, self._session.schema)

    def _check_open(self) -> None:
        if not self._open:
            raise InterfaceError("the connection is closed", hint="connect again")
