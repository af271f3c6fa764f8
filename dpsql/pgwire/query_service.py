"""A statement's columns for free, its rows for its price."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Final

import pyarrow as pa

from dpsql.bind.statement import Statement
from dpsql.dbapi.connection import Connection
from dpsql.dbapi.statements.alert import CheckAlert, CreateAlert
from dpsql.dbapi.statements.assignment import READ_ONLY, Setting
from dpsql.dbapi.statements.calibrate import Calibrate
from dpsql.dbapi.statements.create_release import CreateRelease
from dpsql.dbapi.statements.describe import Describe
from dpsql.dbapi.statements.parse import ExplainPrivacy, Query, Show, read_statement
from dpsql.errors import (
    BadParameter,
    DataError,
    Error,
    Refused,
    WouldShowIndividuals,
)
from dpsql.ledger.storage.waiting import check_may_wait
from dpsql.pgwire.answering.charged_budget import ChargedBudget
from dpsql.pgwire.answering.repeated_answers import RepeatedAnswer, SentAnswer
from dpsql.pgwire.answering.running_statement import RunningStatement
from dpsql.pgwire.codec.oid import TEXT, Column, column
from dpsql.pgwire.codec.parameter import TEXTS, Bound, Listed, examples
from dpsql.pgwire.error_response import CANCELLED, notice
from dpsql.pgwire.monitoring.error_log import note
from dpsql.pgwire.portal import Answer, Rows
from dpsql.pgwire.shared_dataset import Dataset, SchemaSnapshot
from dpsql.pgwire.sql.metadata_probe import asks_for_columns, columns_alone, counted_instead
from dpsql.pgwire.sql.query_reader import QueryReader
from dpsql.pgwire.sql.semantics.array_operators import spread
from dpsql.pgwire.sql.translate import Translated, computes
from dpsql.pgwire.sql.types.output_types import declared
from dpsql.pgwire.statement_errors.postgresql_error import postgresql_error
from dpsql.plan.expression import Literal
from dpsql.report.cost_notice import cost
from dpsql.report.result.python_value import python_rows
from dpsql.report.result.result import Result
from dpsql.schema.model import Schema
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.deep_recursion import with_deep_stack
from dpsql.session.compile.request import ANSWER, Request, binder_of
from dpsql.structs import replace

Parameters = Mapping[str, Literal]
ParameterValues = Mapping[str, Bound]


class QueryService:
    """One analyst's queries: of the catalogue for free, of the data through a session."""

    def __init__(self, dataset: Dataset, analyst: str, process: int = 1) -> None:
        self._dataset = dataset
        self.analyst = analyst
        self.held = dataset.held
        self._process = process
        self._running = RunningStatement(lambda error: note(error, analyst))
        self._computes = False
        self._compiled: CompiledStatement | None = None
        self._use(dataset.snapshot())

    @property
    def schema(self) -> Schema:
        """The schema that statements are bound to now, saved releases included."""
        return self._session.saved.catalog()

    def reload(self) -> None:
        """Use the schema as its file is now, in a new session if the file has changed."""
        edition = self._dataset.snapshot()
        if edition is not self._edition:
            check_may_wait()
            own = dict(self._options)
            self._session.close()
            self._use(edition)
            self.apply(own)

    def _use(self, edition: SchemaSnapshot) -> None:
        self._edition = edition
        self._charged_budget = ChargedBudget(edition.schema, self.analyst)
        self._session = edition.session(self.analyst, self._running.progress, self._charged_budget)
        self._session.inspect = self._check_answer
        self._connection = Connection(self._session)
        self._options: frozenset[tuple[str, str]] = frozenset()  # what was SET on it
        self._catalogue = edition.catalog.reader(self.analyst, self._process)
        saved, reads = self._session.saved, self._catalogue.reads_catalog
        turn = edition.interpreter.turn
        self.reader = QueryReader(edition.schema, edition.translations, saved, reads, turn)

    def translate(self, written: str) -> Translated:
        """A statement in both dialects."""
        return self.reader.read(written).query

    def execute(self, sql: str) -> None:
        """Run a statement of dpsql's own that has no rows."""
        with self._running.telling_charges():
            self._connection.run(sql)

    def columns(
        self, query: Translated, types: Sequence[int], inputs: ParameterValues | None = None
    ) -> tuple[Column, ...]:
        """The columns of the answer, from the statement alone: nothing is run or charged.

        If `inputs` is None, parameters get example values of their `types`, which are OIDs.
        """
        if inputs is not None:
            return self._columns(query, inputs)
        constants = {number: use.example for number, use in query.uses.items()}
        for text in TEXTS:
            with suppress(DataError):
                return self._columns(query, examples(types, text) | constants)
        return self._columns(query, examples(types, TEXTS[0]) | constants)

    def _columns(self, query: Translated, inputs: ParameterValues) -> tuple[Column, ...]:
        query, values = self._spread(query, inputs)
        with self._with_positions(query):
            if query.parsed is None:
                query.check()
            match read_statement(query.sql):
                case Query(sql=sql):
                    query = replace(query, sql=sql)
                case ExplainPrivacy():
                    return (Column("explain_privacy", TEXT),)
                case Calibrate() | CreateAlert() | CheckAlert() as own:
                    return tuple(map(column, *own.columns(self._session)))
                case Describe() | Show():
                    return self._described(self._connection.run(query.sql) or _NOTHING, query)
                case CreateRelease(sql=sql, request=wanted):
                    return self._bound(replace(query, sql=sql), values, wanted.content)
                case _:
                    pass
            if self._reads_catalog(query):
                return self._catalogue.columns(query, values)
            query.check()
            return self._bound(query, values)

    def query(self, query: Translated, bound: ParameterValues) -> Answer:
        """The rows, which are charged; a statement answered before gets the same rows for free."""
        query, inputs = self._spread(query, bound)
        with self._with_positions(query), self._running.telling_charges():
            if self._reads_catalog(query):
                check_may_wait()
                return self._catalogue.answer(query, inputs, self.schema)
            query.check()
            try:
                traits = query.traits
                self._computes = computes(query.query_tree) if traits is None else traits.computes
                self._charged_budget.begin(self._connection.epsilon)
                result = self._connection.run(query.sql, inputs)
            except (WouldShowIndividuals, Refused) as refusal:
                if not asks_for_columns(query.tree):
                    raise counted_instead(refusal, query.tree) from None
                return Answer(self.columns(query, (), inputs), (), (_NO_ROWS,))
        assert result is not None
        notices = []
        if result.cost is not None and result.cost.is_noisy:
            budget = self._charged_budget.budget() or self._connection.budget
            notices.append(notice(cost(result.cost, budget)))
            notices += map(notice, result.cost.notes)
        rows = python_rows(result.table, result.types)
        return Answer(self._described(result, query), rows, tuple(notices), result.table.nbytes)

    def repeated(
        self, query: Translated, manner: Hashable, make: Callable[[], SentAnswer]
    ) -> SentAnswer:
        """What `make` makes of `query`, again as it was sent in this `manner` if nothing changed.

        `manner` is all that decides the bytes beside the query, the analyst and their options.
        """
        edition = self._edition
        state = edition.state()
        key = (self.analyst, self._options, id(query), manner)
        known = edition.repeated.get(key, state)
        if known is not None:
            self._session.remember(known.statement)
            return known.sent
        self._compiled = None
        sent = make()
        if state is not None and self._compiled is not None:
            edition.repeated.add(key, RepeatedAnswer(state, sent, self._compiled, query))
        return sent

    def _spread(self, query: Translated, inputs: ParameterValues) -> tuple[Translated, Parameters]:
        """`query` with each array's items as parameters; the catalogue takes arrays as texts.

        Of parameters that have to be constants, `query` is the statement that has them.
        """
        if query.uses:
            query, inputs = self.reader.with_constants(query, inputs)
        if not any(isinstance(value, Listed) for value in inputs.values()):
            return query, {n: v for n, v in inputs.items() if isinstance(v, Literal)}
        asks = query.parsed is not None and not self._reads_catalog(query)
        sql, values = with_deep_stack(lambda: spread(query.sql, inputs, is_query=asks))
        return (query if sql == query.sql else replace(query, sql=sql)), values

    def _reads_catalog(self, query: Translated) -> bool:
        if query.traits is not None:
            return query.traits.reads_catalog
        return self._catalogue.reads_catalog(query.tree)

    def shown(self, setting: str) -> tuple[tuple[Column, ...], Rows]:
        """Columns and rows of SHOW for a dpsql.* setting."""
        shown = self._connection.run(f"SHOW {setting}")
        assert shown is not None
        return tuple(map(column, shown.names, shown.types)), python_rows(shown.table, shown.types)

    def set(self, name: str, value: str | None) -> None:
        """Change a dpsql.* setting, None for its default."""
        if value is not None and not re.fullmatch(r"[\w.+-]{1,30}", value):
            raise BadParameter(f"{name} can't be that", hint="SET dpsql.epsilon = 0.1")
        self._connection.run(f"SET {name} = {'DEFAULT' if value is None else value}")
        others = {(own, known) for own, known in self._options if own != name}
        self._options = frozenset(others if value is None else {*others, (name, value)})

    def apply(self, own: Mapping[str, str]) -> None:
        """Set the dpsql.* settings in `own`, and all others to their defaults."""
        for setting in Setting:
            name = f"dpsql.{setting.value}"
            if setting not in READ_ONLY:
                self.set(name, own.get(name))

    def cancel(self, why: str = CANCELLED) -> None:
        """Stop the statement that runs, whose error says `why`. Called from another thread."""
        self._running.stop(why)
        self._catalogue.interrupt()
        self._session.interrupt()

    def close(self) -> None:
        """Close the session, and with it the ledger."""
        self._session.close()

    def _bound(
        self, query: Translated, values: Parameters, request: Request = ANSWER
    ) -> tuple[Column, ...]:
        try:
            statement = self._statement(query.sql, values, request)
            self._check_digits(statement)
            kinds = tuple(c.type for c in statement.columns)
            outputs = Result(statement.names, kinds, _NOTHING.table)
        except (WouldShowIndividuals, Refused) as refusal:
            if not asks_for_columns(query.tree):
                raise counted_instead(refusal, query.tree) from None
            schema, saved = self._session.schema, self._session.saved
            names, kinds = with_deep_stack(lambda: columns_alone(query.sql, schema, values, saved))
            outputs = Result(names, kinds, _NOTHING.table)
        return self._described(outputs, query)

    def _statement(self, sql: str, values: Parameters, request: Request) -> Statement:
        session = self._session
        known = session.whole.statements.get(sql, values) if request == ANSWER else None
        if known is None and request == ANSWER:
            check_may_wait()
            # Of a known shape: made here, since to wake a thread takes as long.
            known = session.whole.known(sql, session.schema, values)
        if known is not None:
            return known
        bind = binder_of(request, session.whole.bound)
        return with_deep_stack(lambda: bind(sql, session.schema, values, session.saved))

    def _check_answer(self, compiled: CompiledStatement) -> None:
        """Raise, before anything is charged, where PostgreSQL's answer may have more digits."""
        self._compiled = compiled
        if self._computes:
            self._check_digits(compiled.statement)

    def _check_digits(self, statement: Statement) -> None:
        generic = self._session.whole.shapes.generic(statement)
        self._edition.digits.check(statement, generic)

    @contextmanager
    def _with_positions(self, query: Translated) -> Iterator[None]:
        """Change positions of errors to the client's text, and errors to PostgreSQL's own."""
        try:
            yield
        except Error as error:
            theirs = postgresql_error(error, query, self.schema)
            if theirs is not None and not self._reads_catalog(query):
                raise theirs from None
            error.at = query.position(error.at)
            raise

    @staticmethod
    def _described(result: Result, query: Translated) -> tuple[Column, ...]:
        names = query.names or ()
        names = names if len(names) == len(result.names) else result.names
        return declared(tuple(map(column, names, result.types)), query.kinds)


_NOTHING: Final = Result((), (), pa.table({}))
_NO_ROWS: Final = notice(
    "no rows: the question asks for columns, and rows of single units are not shown",
    detail="ask for aggregates, as in SELECT count(*) …",
)
