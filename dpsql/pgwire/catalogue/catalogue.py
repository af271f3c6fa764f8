"""Which statements are meant for the catalogue, and their answers."""

from __future__ import annotations

import logging
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import Final

import duckdb
from sqlglot import exp
from sqlglot.errors import SqlglotError

from dpsql.errors import ExecutionFailed, Refused
from dpsql.pgwire.catalogue.database import open_catalogue
from dpsql.pgwire.catalogue.relation import type_names
from dpsql.pgwire.catalogue.rewrite import relation, rewritten
from dpsql.pgwire.catalogue.typing import columns
from dpsql.pgwire.portal import Answer
from dpsql.pgwire.sql.dialect import Translated
from dpsql.pgwire.value.oid import Column, oid_of
from dpsql.plan.expression import Literal
from dpsql.schema.model import Schema
from dpsql.session.deep import deeply

log = logging.getLogger("dpsql.pgwire")

_ASKED: Final = re.compile(
    r"^(pg_|to_reg|has_|current_(?!date|time)|session_|inet_|obj_description|col_description|format_type|"
    r"version$|set_config|txid_|shobj_description|array_|generate_series|quote_ident)"
)
_PLAIN: Final = (
    exp.Select,
    exp.Literal,
    exp.Alias,
    exp.Identifier,
    exp.Null,
    exp.Boolean,
    exp.Cast,
    exp.DataType,
    exp.Neg,
    exp.Parameter,
    exp.Paren,
)
_MOST_ROWS: Final = 100_000
_MOST_DATABASES: Final = 4

Database = Callable[[Schema], duckdb.DuckDBPyConnection]


class Catalogue:
    """What a schema declares, for all connections, each of which reads it by itself.

    Who may read kept tables as well has a database with these, which others share who see the same.
    """

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._declared = open_catalogue(schema)
        self._guard = threading.Lock()
        self._others: OrderedDict[Hashable, duckdb.DuckDBPyConnection] = OrderedDict()

    def reader(self, analyst: str) -> Reader:
        """One connection's questions."""
        return Reader(self._schema, self._database, analyst)

    def _database(self, seen: Schema) -> duckdb.DuckDBPyConnection:
        """A cursor on the database of the tables of `seen`."""
        kept = tuple(table.entry for table in seen.tables.values() if table.entry is not None)
        with self._guard:
            if not kept:
                return self._declared.cursor()
            if kept not in self._others:
                self._others[kept] = open_catalogue(seen)
            self._others.move_to_end(kept)
            if len(self._others) > _MOST_DATABASES:
                self._others.popitem(last=False)
            return self._others[kept].cursor()


class Reader:
    """One connection's questions of the catalogue, which cost nothing."""

    def __init__(self, schema: Schema, database: Database, analyst: str) -> None:
        self._schema = schema
        self._database = database
        self._analyst = analyst
        self._guard = threading.Lock()
        self._running: duckdb.DuckDBPyConnection | None = None

    def is_asked(self, tree: exp.Expr | None) -> bool:
        """Whether the catalogue is meant: by its relations, or by its functions without any table.

        A statement that names both the catalogue and the data is refused.
        """
        if tree is None:
            return False
        ctes = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
        found = [t for t in tree.find_all(exp.Table) if isinstance(t.this, exp.Identifier)]
        data = [t for t in found if self._is_data(t) and (t.db or t.name.lower() not in ctes)]
        named = [t for t in found if t not in data and relation(t, ctes) is not None]
        if named and data:
            raise Refused(
                "the catalogue and the data can't be read in one statement",
                hint="ask for the catalogue's rows first",
            )
        if named:
            return True
        if data or any(t.name.lower() not in ctes for t in found):
            return False
        calls = (
            node.name if isinstance(node, exp.Anonymous) else node.sql_name()
            for node in tree.find_all(exp.Func)
        )
        if any(_ASKED.match(call.lower()) for call in calls):
            return True
        names = {c.name.lower() for c in tree.find_all(exp.Column)}
        if names & {"current_user", "session_user", "current_role", "user", "current_catalog"}:
            return True
        return all(isinstance(node, _PLAIN) for node in tree.walk())

    def _is_data(self, table: exp.Table) -> bool:
        return self._schema.meant(*filter(None, (table.catalog, table.db, table.name))) is not None

    def columns(self, query: Translated, values: Mapping[str, Literal]) -> tuple[Column, ...]:
        """Names and types of the answer."""
        tree = query.tree
        assert tree is not None
        names = type_names()
        kinds = {n: names.get(oid_of(value.type), "text") for n, value in values.items()}
        return deeply(lambda: columns(tree, kinds))

    def answer(
        self, query: Translated, values: Mapping[str, Literal], seen: Schema | None = None
    ) -> Answer:
        """The rows; where this server doesn't know how to answer, none, and a line in the log.

        Tables are those of `seen`, None for the declared ones.
        """
        told = self.columns(query, values)
        tree = query.tree
        assert tree is not None
        try:
            sql = deeply(
                lambda: rewritten(tree, values, self._schema.dataset, self._analyst).sql("duckdb")
            )
            rows = self._rows(sql, seen or self._schema)
        except duckdb.InterruptException:
            raise ExecutionFailed("the catalogue's answer took too long") from None
        except (duckdb.Error, SqlglotError, ValueError, TypeError, AttributeError) as error:
            if not told:
                raise Refused("this question of the catalogue has no answer here") from None
            # The text comes from a tool; the error would quote parameters, too.
            log.warning(
                "unanswered (%s): %s", type(error).__name__, " ".join(query.written.split())
            )
            return Answer(told, ())
        if rows and len(rows[0]) != len(told):
            log.warning("untyped: %s", " ".join(query.written.split()))
            told = tuple(Column(f"column{n}", 25) for n in range(1, len(rows[0]) + 1))
        return Answer(told, rows)

    def interrupt(self) -> None:
        """Stop what runs."""
        with self._guard:
            if self._running is not None:
                self._running.interrupt()

    def _rows(self, sql: str, seen: Schema) -> list[tuple[object, ...]]:
        cursor = self._database(seen)
        with self._guard:
            self._running = cursor
        try:
            return cursor.execute(sql).fetchmany(_MOST_ROWS)
        finally:
            with self._guard:
                self._running = None
            cursor.close()
