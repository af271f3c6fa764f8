"""Statements over public tables alone, which run as their analysts wrote them.

Where dpsql's own rules refuse one that names public tables and constants only, a DuckDB answers it
that has copies of these tables and nothing else, in a process that can be ended. No text of an
analyst's reaches an engine that has a private row, whatever is taken here for public: another table
isn't there. The answers are exact, cost nothing and are not stored.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, Protocol

import pyarrow as pa
from sqlglot.tokenizer_core import Token, TokenType

from dpsql.bind.column_ids import Names
from dpsql.bind.saved_release import SavedReleaseNames
from dpsql.bind.statement import NO_PARAMETERS, Statement, bind
from dpsql.bind.statements.public_statement import public_tables
from dpsql.bind.syntax.parameter import Parameters
from dpsql.bind.syntax.parse import tokens
from dpsql.emit.dialect.duckdb.literal import emit_literal
from dpsql.engine.read_limit import ReadLimit
from dpsql.engine.sandbox.database import Contents, NoAnswer, SandboxQuery, Stopped, TooLargeAnswer
from dpsql.errors import (
    BadParameter,
    DataError,
    Error,
    NotSupportedError,
    ProgrammingError,
    SchemaFault,
    TooComplex,
    UnknownRelease,
    UnknownTable,
    WouldShowIndividuals,
)
from dpsql.plan.operator import PublicStatement
from dpsql.release.columns.arrow import arrow_type
from dpsql.schema.model import Schema
from dpsql.schema.source_types import reading
from dpsql.schema.sql_type import UHUGEINT, Array, Interval, Null, SqlType, Varchar, parse_type
from dpsql.session.compile.generic.statement_shapes import StatementShapes
from dpsql.session.run.public_table_copies import Copies
from dpsql.session.run.statement_cache import StatementCache, may_be_remembered
from dpsql.session.run.zone_conversions import conversions_written_out

SECONDS: Final = 30
"""What one statement may take, where nothing else is said."""

_STANDS: Final = (BadParameter, SchemaFault, UnknownRelease, UnknownTable, WouldShowIndividuals)
"""Refusals that are no matter of grammar."""


class SandboxEngine(Protocol):
    """Where such statements run: a process of its own."""

    @property
    def has_lists(self) -> bool:
        """Whether lists and spans of time are given as they are, and not as DuckDB's texts."""

    @property
    def limit(self) -> ReadLimit:
        """What it sends of an answer."""

    def ask(self, contents: Contents, query: SandboxQuery) -> pa.Table:
        """The rows of `query` over `contents`.

        Raises Unanswered, TooLargeAnswer, Stopped, or ExecutionCancelled.
        """

    def interrupt(self) -> None:
        """Stop what is running."""

    def close(self) -> None:
        """Let go of the process."""


def _words(sql: str) -> list[Token] | None:
    """The words of `sql`; None if it has none, of which binding says why."""
    try:
        return tokens(sql)
    except Error:
        return None


class WholeStatements:
    """One session's: `copies` are those of the data as they are now.

    `statements` were bound before, and sessions of one schema may share them.
    """

    def __init__(
        self, schema: Schema, copies: Callable[[], Copies], engine: Callable[[], SandboxEngine]
    ) -> None:
        self.statements = StatementCache()
        self.shapes = StatementShapes()
        self._schema = schema
        self._copies = copies
        self._engine = engine

    def known(self, sql: str, schema: Schema, parameters: Parameters) -> Statement | None:
        """The plan of a short `sql`, if one that differs in constants alone was bound before."""
        if schema is not self._schema or parameters:
            return None
        statement = self.statements.get(sql, parameters)
        if statement is not None and self.shapes.is_short(statement):
            return statement
        words = self.shapes.texts.words(sql)
        if words is None:
            return None
        return statement or self._of_known_shape(sql, parameters, words)

    def _of_known_shape(
        self, sql: str, parameters: Parameters, words: list[Token]
    ) -> Statement | None:
        statement = self.shapes.statement(words)
        if statement is not None:
            self.statements.add(sql, parameters, statement)
        return statement

    def bound(
        self, sql: str, schema: Schema, parameters: Parameters, releases: SavedReleaseNames
    ) -> Statement:
        """The plan of `sql`; one that dpsql has no rules for is `PublicStatement` if it may be."""
        is_own = schema is self._schema
        known = self.statements.get(sql, parameters) if is_own else None
        if known is not None:
            return known
        words = _words(sql) if is_own and not parameters else None
        if words is not None:
            self.shapes.texts.learn(sql, words)
            shaped = self._of_known_shape(sql, parameters, words)
            if shaped is not None:
                return shaped
        try:
            statement = bind(sql, schema, parameters, releases)
        except (ProgrammingError, NotSupportedError) as refusal:
            whole = None if isinstance(refusal, _STANDS) else self._whole(sql, parameters, refusal)
            if whole is None:
                raise
            return whole
        if is_own and may_be_remembered(statement):
            self.statements.add(sql, parameters, statement)
            if words is not None:
                self.shapes.learn(sql, words, statement, self._bound_alike(releases))
        return statement

    def _bound_alike(self, releases: SavedReleaseNames) -> Callable[[str], Statement | None]:
        """What texts like one that was bound are bound to; None if they are refused."""

        def bound(sql: str) -> Statement | None:
            try:
                return bind(sql, self._schema, NO_PARAMETERS, releases)
            except Error:
                return None

        return bound

    def rows(self, plan: PublicStatement) -> pa.Table:
        """The rows of `plan`, as of now."""
        try:
            answer = self._ask(plan.sql, plan.tables, plan.casts)
        except NoAnswer as error:
            raise DataError(
                f"a statement over public tables has no answer: {error.reason or _NO_REASON}",
                hint="DuckDB runs it as it is written, on copies of these tables",
                note="public_statements",
            ) from None
        if answer is None:
            raise TooComplex("the public tables have become too large to be copied")
        columns = [
            column.cast(arrow_type(output.type), safe=False) if output.type != Null() else column
            for column, output in zip(answer.columns, plan.outputs, strict=True)
        ]
        return pa.table(columns, names=[f"c{output.id}" for output in plan.outputs])

    def _whole(self, sql: str, parameters: Parameters, refusal: Error) -> Statement | None:
        """The statement if it has an answer; what DuckDB says else is added to the refusal."""
        tables = public_tables(sql, self._schema)
        text = with_values(sql, parameters)
        if tables is None or text is None:
            return None
        named = tuple(table.name for table in tables)
        try:
            text = conversions_written_out(text)
            described = self._ask(text, named, None)
        except NoAnswer as error:
            if error.reason and not refusal.detail and isinstance(refusal, NotSupportedError):
                refusal.detail = f"run as it is written, over public tables alone: {error.reason}"
            return None
        if described is None:
            return None
        names = tuple(map(str, described.column("name").to_pylist()))
        has_lists = self._engine().has_lists
        kinds = [_parameters(k, has_lists=has_lists) for k in described.column("type").to_pylist()]
        ids = Names()
        columns = tuple(ids.column(n, kind) for n, (kind, _) in zip(names, kinds, strict=True))
        plan = PublicStatement(columns, text, named, tuple(cast for _, cast in kinds))
        return Statement(plan, columns, names, names_release=False)  # but tables of the schema

    def _ask(
        self, sql: str, named: tuple[str, ...], casts: tuple[str, ...] | None
    ) -> pa.Table | None:
        """The rows, or the columns; None if the tables are too large to be copied."""
        offered = self._schema.visible_tables
        contents = self._copies().contents([offered[name] for name in named])
        if contents is None:
            return None
        engine = self._engine()
        limit = engine.limit
        try:
            return engine.ask(contents, SandboxQuery(contents.name, sql, limit, casts))
        except TooLargeAnswer:
            raise TooComplex(
                "the answer, or what it is made of, is too large for a statement that runs as it"
                " is written",
                detail=f"{limit.rows:,} rows or {limit.bytes // 2**20} MiB are sent at most",
                hint="add a LIMIT, select fewer or shorter columns, or group the rows",
                note="public_statements",
            ) from None
        except Stopped:
            raise TooComplex(
                "the statement took too long, and was stopped; nothing was charged",
                hint="read fewer rows, or join on keys",
                note="public_statements",
            ) from None


_NO_REASON: Final = "the engine refused it"


def with_values(sql: str, parameters: Parameters) -> str | None:
    """`sql` with the values of `?` and `$1` in their places; None if they are called otherwise."""
    if not parameters:
        return sql
    words, parts, used, last = tokens(sql), list[str](), set[str](), 0
    for index, word in enumerate(words):
        if word.token_type is TokenType.PLACEHOLDER and word.text == "?":
            name, end = str(len(used) + 1), word.end + 1
        elif word.token_type is TokenType.PARAMETER and index + 1 < len(words):
            name, end = words[index + 1].text, words[index + 1].end + 1
        else:
            continue
        if name not in parameters:
            return None
        value = parameters[name]
        literal = emit_literal(value.value, value.type).sql("duckdb")
        parts += [sql[last : word.start], f"({literal})"]
        last = end
        used.add(name)
    return "".join([*parts, sql[last:]]) if used == parameters.keys() else None


def _parameters(word: str, *, has_lists: bool) -> tuple[SqlType, str]:
    """As what a column is given whose type DuckDB calls `word`, and the cast to that."""
    if has_lists and (listed := re.fullmatch(r"(.+)\[\d*\]", word, re.DOTALL)):
        of, cast = _parameters(listed[1], has_lists=True)
        return Array(of), f"{cast or of}[]"
    if has_lists and word == "INTERVAL":
        return Interval(), ""
    own = parse_type(word)
    if own == UHUGEINT:
        return Varchar(), "VARCHAR"
    if own is not None:
        return own, ""
    kind = reading(word).type or Varchar()
    return kind, str(kind)
