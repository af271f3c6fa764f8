"""A statement's columns for free, its rows for its price."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

import pyarrow as pa
from sqlglot import exp

from dpsql.bind.column_ids import Names
from dpsql.bind.context import Context
from dpsql.bind.query.query import bind_query
from dpsql.bind.syntax.parse import parse_query
from dpsql.dbapi.connection import Connection
from dpsql.dbapi.statements.assignment import READ_ONLY, Setting
from dpsql.dbapi.statements.describe import Describe
from dpsql.dbapi.statements.parse import CreateRelease, ExplainPrivacy, Query, Show, read_statement
from dpsql.errors import (
    BadParameter,
    Error,
    ExecutionCancelled,
    ExecutionFailed,
    LedgerFault,
    Refused,
    SourceFault,
    WouldShowIndividuals,
)
from dpsql.pgwire.codec.oid import TEXT, Column, column
from dpsql.pgwire.codec.parameter import Bound, example
from dpsql.pgwire.error_response import CANCELLED, Cancelled, notice
from dpsql.pgwire.monitoring.error_log import note
from dpsql.pgwire.portal import Answer, Rows
from dpsql.pgwire.shared_dataset import Dataset, SchemaSnapshot
from dpsql.pgwire.sql.metadata_probe import asks_for_columns, counted_instead
from dpsql.pgwire.sql.semantics.array_operators import spread
from dpsql.pgwire.sql.translate import Translated, translated
from dpsql.pgwire.sql.types.output_types import declared
from dpsql.plan.expression import Literal
from dpsql.report.budget import budget_of
from dpsql.report.cost_notice import cost
from dpsql.report.result.python_value import python_rows
from dpsql.report.result.result import Result
from dpsql.schema.model import Schema
from dpsql.session.compile.deep_recursion import with_deep_stack
from dpsql.session.compile.request import ANSWER, Request, binder_of
from dpsql.session.run.charge_and_run import RUNNING
from dpsql.sqltext.split import spaced

Parameters = Mapping[str, Literal]
ParameterValues = Mapping[str, Bound]


class QueryService:
    """One analyst's questions: of the catalogue for free, of the data through a session."""

    def __init__(self, dataset: Dataset, analyst: str) -> None:
        self._dataset = dataset
        self.analyst = analyst
        self._charged = False
        self._stopped = ""
        self._own: dict[str, str] = {}
        self._use(dataset.snapshot())

    @property
    def schema(self) -> Schema:
        """What may be asked about now."""
        return self._session.saved.catalog()

    def reload(self) -> None:
        """Go on with the schema as its file is now."""
        edition = self._dataset.snapshot()
        if edition is not self._edition:
            self._session.close()
            self._use(edition)
            self.apply(self._own)

    def _use(self, edition: SchemaSnapshot) -> None:
        self._edition = edition
        self._session = edition.session(self.analyst, self._progress)
        self._connection = Connection(self._session)
        self._catalogue = edition.catalog.reader(self.analyst)

    def _progress(self, step: str) -> None:
        if self._stopped:
            raise ExecutionCancelled
        self._charged = self._charged or step == RUNNING

    def translate(self, written: str, types: Sequence[int] = ()) -> Translated:
        """A statement in both dialects, whose parameters are declared to be of `types`."""
        text, blanks = spaced(written)
        return replace(self._understood(text, types), blanks=blanks)

    def _understood(self, written: str, types: Sequence[int]) -> Translated:
        asked = read_statement(written)
        match asked:
            case ExplainPrivacy(form=form, with_sql=with_sql):
                options = f"FORMAT {form.name}" + (", SQL" if with_sql else "")
                inner = self._understood(asked.sql, types)
                sql = f"EXPLAIN PRIVACY ({options}) {inner.sql}"
                return Translated(written, sql, None, None, inner.query_tree, refused=inner.refused)
            case CreateRelease():
                # Before the query, and behind it, stands what both dialects have in common.
                first, last = len(asked.sql) - len(asked.sql.lstrip()), len(asked.sql)
                inner = self._read(asked.sql, types)
                sql = f"{written[:first]}{inner.sql} {written[last:]}".strip()
                return Translated(written, sql, None, None, inner.query_tree, refused=inner.refused)
            case Describe() | Show():
                return Translated(written, written, None, None)
            case Query(sql=sql) if asked.options:
                found = self._read(sql, types)
                both = f"{found.sql} {written[len(sql) :]}"
                return replace(found, written=written, sql=both)
            case _:
                return self._read(written, types)

    def _read(self, written: str, types: Sequence[int]) -> Translated:
        found = translated(written, self._session.schema, types)
        declared = {name.casefold() for name in self._session.schema.tables}
        named = () if found.tree is None else found.tree.find_all(exp.Table)
        if all(table.name.casefold() in declared for table in named):
            return found
        # What is kept has types, too, which tell how integers are divided.
        return translated(written, self.schema, types)

    def execute(self, sql: str) -> None:
        """Run a statement that has no rows."""
        self._connection.run(sql)

    def columns(
        self, query: Translated, types: Sequence[int], inputs: ParameterValues | None = None
    ) -> tuple[Column, ...]:
        """The columns of the answer, from the statement alone: nothing is run or charged.

        Without `inputs`, parameters have some value of their `types`.
        """
        query, values = self._spread(query, inputs if inputs is not None else _examples(types))
        with _with_positions(query):
            if query.tree is None:
                query.check()
            match read_statement(query.sql):
                case Query(sql=sql):
                    query = replace(query, sql=sql)
                case ExplainPrivacy():
                    return (Column("explain_privacy", TEXT),)
                case Describe() | Show():
                    return self._described(self._connection.run(query.sql) or _NOTHING, query)
                case CreateRelease(sql=sql, request=wanted):
                    return self._bound(replace(query, sql=sql), values, wanted.content)
                case _:
                    pass
            if self._catalogue.reads_catalog(query.tree):
                return self._catalogue.columns(query, values)
            query.check()
            return self._bound(query, values)

    def query(self, query: Translated, bound: ParameterValues) -> Answer:
        """The rows, for their price; what was answered before is the same, and free."""
        query, inputs = self._spread(query, bound)
        with _with_positions(query), self._cancellable():
            if self._catalogue.reads_catalog(query.tree):
                return self._catalogue.answer(query, inputs, self.schema)
            query.check()
            try:
                result = self._connection.run(query.sql, inputs)
            except (WouldShowIndividuals, Refused) as refusal:
                if not asks_for_columns(query.tree):
                    raise counted_instead(refusal, query.tree) from None
                return Answer(self.columns(query, (), inputs), (), (_NO_ROWS,))
        assert result is not None
        notices = []
        if result.privacy is not None and result.privacy.columns:
            session = self._session
            balances = session.balance(), session.balance(session.analyst)
            left = budget_of(session.schema, session.analyst, self._connection.epsilon, *balances)
            notices.append(notice(cost(result.privacy, left)))
            notices += map(notice, result.privacy.notes)
        rows = python_rows(result.table, result.types)
        return Answer(self._described(result, query), rows, tuple(notices))

    def _spread(self, query: Translated, inputs: ParameterValues) -> tuple[Translated, Parameters]:
        """Arrays by their items, of which a question of the catalogue takes the text alone."""
        asks = query.tree is not None and not self._catalogue.reads_catalog(query.tree)
        sql, values = with_deep_stack(lambda: spread(query.sql, inputs, is_query=asks))
        return (query if sql == query.sql else replace(query, sql=sql)), values

    def shown(self, setting: str) -> tuple[tuple[Column, ...], Rows]:
        """What SHOW says of a setting of dpsql's own."""
        found = self._connection.run(f"SHOW {setting}")
        assert found is not None
        return tuple(map(column, found.names, found.types)), python_rows(found.table, found.types)

    def set(self, name: str, value: str | None) -> None:
        """Change a setting of dpsql's own, None for its default."""
        if value is not None and not re.fullmatch(r"[\w.+-]{1,30}", value):
            raise BadParameter(f"{name} can't be that", hint="SET dpsql.epsilon = 0.1")
        self._own |= {} if value is None else {name: value}
        self._connection.run(f"SET {name} = {'DEFAULT' if value is None else value}")

    def apply(self, own: Mapping[str, str]) -> None:
        """Have the settings `own` of dpsql's, and all others as at first."""
        self._own = dict(own)
        for setting in Setting:
            name = f"dpsql.{setting.value}"
            if setting not in READ_ONLY:
                self.set(name, own.get(name))

    def cancel(self, why: str = CANCELLED) -> None:
        """Stop what runs, and say why; its charge stands. Called from another thread."""
        self._stopped = why
        self._catalogue.interrupt()
        self._session.interrupt()

    def close(self) -> None:
        """Let go of the ledger."""
        self._session.close()

    @contextmanager
    def _cancellable(self) -> Iterator[None]:
        # A cancel that came when nothing ran stops nothing, and one stops one statement only.
        self._stopped, self._charged = "", False
        try:
            yield
        except ExecutionFailed as error:
            if not self._stopped:
                raise
            stands = "its charge stands" if self._charged else "nothing was charged"
            raise Cancelled(f"{self._stopped}; {stands}") from error
        except LedgerFault as error:
            if self._charged and not error.charge:
                error.charge = "SHOW dpsql.queries tells whether it was charged"
            raise
        except SourceFault as error:
            if not self._charged:
                raise
            note(error, self.analyst)
            raise ExecutionFailed from None

    def _bound(
        self, query: Translated, values: Parameters, request: Request = ANSWER
    ) -> tuple[Column, ...]:
        session = self._session
        try:
            bind = binder_of(request, session.whole.bound)
            inputs = query.sql, session.schema, values, session.saved
            statement = with_deep_stack(lambda: bind(*inputs))
            kinds = tuple(c.type for c in statement.columns)
            found = Result(statement.names, kinds, _NOTHING.table)
        except (WouldShowIndividuals, Refused) as refusal:
            if not asks_for_columns(query.tree):
                raise counted_instead(refusal, query.tree) from None
            found = with_deep_stack(lambda: self._columns_alone(query.sql, values))
        return self._described(found, query)

    def _columns_alone(self, sql: str, values: Parameters) -> Result:
        """The columns of rows that nobody is shown."""
        context = Context(self._session.schema, Names(), values, releases=self._session.saved)
        tree = parse_query(sql)
        for clause in ("limit", "offset", "order", "distinct"):
            tree.set(clause, None)
        selected = bind_query(tree, context)
        return Result(selected.names, tuple(c.type for c in selected.columns), _NOTHING.table)

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


@contextmanager
def _with_positions(query: Translated) -> Iterator[None]:
    """Errors point into what was written."""
    try:
        yield
    except Error as error:
        error.at = query.position(error.at)
        raise


def _examples(types: Sequence[int]) -> dict[str, Bound]:
    return {str(n): example(oid, str(n)) for n, oid in enumerate(types, start=1)}
