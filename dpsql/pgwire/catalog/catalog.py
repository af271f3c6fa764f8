"""Which statements read the catalogue (pg_catalog, information_schema), and their answers."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import Final

import pyarrow as pa
from msgspec import Struct
from sqlglot import exp
from sqlglot.errors import SqlglotError

from dpsql.engine.sandbox.database import Contents
from dpsql.errors import Refused
from dpsql.pgwire.catalog.allowlist import check
from dpsql.pgwire.catalog.calls.function_calls import Caller
from dpsql.pgwire.catalog.catalog_database import contents
from dpsql.pgwire.catalog.column_types import columns
from dpsql.pgwire.catalog.functions import macros
from dpsql.pgwire.catalog.named_relations import relation
from dpsql.pgwire.catalog.objects import listed
from dpsql.pgwire.catalog.parameter_value import HELD, DeclaredValue
from dpsql.pgwire.catalog.procedures import with_names
from dpsql.pgwire.catalog.relations import type_names
from dpsql.pgwire.catalog.to_duckdb import rewritten
from dpsql.pgwire.codec.arrow_rows import ArrowRows
from dpsql.pgwire.codec.oid import Column, oid_of
from dpsql.pgwire.portal import Answer
from dpsql.pgwire.sql.translate import Translated
from dpsql.pgwire.sql.tree_search import find_all
from dpsql.pgwire.workers.catalog_pool import CatalogQuestion, CatalogWorkers
from dpsql.plan.expression import Literal
from dpsql.schema.model import Schema
from dpsql.session.compile.deep_recursion import with_deep_stack
from dpsql.structs import replace

_CATALOG_NAMES: Final = re.compile(
    r"^(pg_|to_reg|has_|current_(?!date|time)|session_|inet_|obj_description|col_description|format_type|"
    r"version$|set_config|jsonb?_build_|to_jsonb?$|txid_|shobj_description|array_|generate_series|quote_|parse_ident$|format$|"
    r"ts_token_type$)"
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
_MAX_LISTED: Final = 4


class _Listed(Struct, frozen=True):
    """A catalogue as a worker loads it: its contents, and the names of the macros in them."""

    contents: Contents
    macros: frozenset[str]


class Catalog:
    """The catalogue of a schema, which all connections share; each has a `Reader` of its own.

    A connection that also sees saved releases reads a catalogue that lists them; connections that
    see the same saved releases share that catalogue.
    """

    def __init__(self, schema: Schema, workers: CatalogWorkers) -> None:
        self._schema = schema
        self._workers = workers
        self._declared: _Listed | None = None
        self._making = threading.Lock()
        # In the background, so that the server listens meanwhile: two thousand tables take seconds.
        workers.begin_to_load(lambda: self._own().contents)
        self._guard = threading.Lock()
        self._others: OrderedDict[Hashable, _Listed] = OrderedDict()

    def reader(self, analyst: str, process: int = 1) -> Reader:
        """The reader of the connection with the number `process`, which `analyst` has opened."""
        return Reader(self._schema, self._of, self._workers, analyst, process)

    def _of(self, seen: Schema) -> _Listed:
        """The catalogue that lists the tables of `seen`."""
        saved_entries = tuple(
            table.saved_entry for table in seen.tables.values() if table.saved_entry is not None
        )
        if not saved_entries:
            return self._own()
        with self._guard:
            if saved_entries not in self._others:
                self._others[saved_entries] = _listed(seen)
            self._others.move_to_end(saved_entries)
            if len(self._others) > _MAX_LISTED:
                self._others.popitem(last=False)
            return self._others[saved_entries]

    def _own(self) -> _Listed:
        """The catalogue of what the schema declares, built by the first caller."""
        with self._making:
            if self._declared is None:
                self._declared = _listed(self._schema)
            return self._declared


def _listed(schema: Schema) -> _Listed:
    seen = listed(schema)
    definitions = macros(seen)
    return _Listed(contents(seen, tuple(definitions.values())), frozenset(definitions))


def _is_jsonb(node: exp.Expr) -> bool:
    return isinstance(node, exp.Cast) and node.to.this is exp.DataType.Type.JSONB


def _declared(query: Translated) -> dict[str, int]:
    """OIDs that the client declares of parameters, by their numbers, of types that are held here.

    What else is declared is a text.
    """
    numbered = enumerate(query.declared, 1)
    return {str(number): oid for number, oid in numbered if oid in HELD}


class Reader:
    """One connection's queries of the catalogue, which cost no budget."""

    def __init__(
        self,
        schema: Schema,
        listed: Callable[[Schema], _Listed],
        workers: CatalogWorkers,
        analyst: str,
        process: int,
    ) -> None:
        self._schema = schema
        self._listed = listed
        self._workers = workers
        self._analyst = analyst
        self._caller = Caller(schema.dataset, analyst, process)
        self._guard = threading.Lock()
        self._running: CatalogQuestion | None = None

    def reads_catalog(self, tree: exp.Expr | None) -> bool:
        """Whether `tree` names the catalogue's relations, or no table but its functions.

        A SELECT of constants alone reads the catalogue, too. `Refused` if `tree` names both the
        catalogue and the data.
        """
        if tree is None:
            return False
        ctes = {cte.alias.lower() for cte in find_all(tree, exp.CTE)}
        tables = [t for t in find_all(tree, exp.Table) if isinstance(t.this, exp.Identifier)]
        data = [t for t in tables if self._is_data(t) and (t.db or t.name.lower() not in ctes)]
        named = [t for t in tables if t not in data and relation(t, ctes) is not None]
        if named and data:
            raise Refused(
                "the catalogue and the data can't be read in one statement",
                hint="ask for the catalogue's rows first",
            )
        if named:
            return True
        if data or any(t.name.lower() not in ctes for t in tables):
            return False
        calls = (
            node.name if isinstance(node, exp.Anonymous) else node.sql_name()
            for node in find_all(tree, exp.Func)
        )
        if any(_CATALOG_NAMES.match(call.lower()) for call in calls):
            return True
        names = {c.name.lower() for c in find_all(tree, exp.Column)}
        if names & {"current_user", "session_user", "current_role", "user", "current_catalog"}:
            return True
        return all(isinstance(node, _PLAIN) and not _is_jsonb(node) for node in tree.walk())

    def _is_data(self, table: exp.Table) -> bool:
        return (
            self._schema.resolve(*filter(None, (table.catalog, table.db, table.name))) is not None
        )

    def columns(self, query: Translated, values: Mapping[str, Literal]) -> tuple[Column, ...]:
        """Names and types of the columns of `query`; `values` are its parameters by number."""
        tree = query.tree
        assert tree is not None
        names, declared = type_names(), _declared(query)
        kinds = {
            n: names.get(declared.get(n) or oid_of(value.type), "text")
            for n, value in values.items()
        }
        typed = with_deep_stack(lambda: columns(tree, kinds))
        if query.insertions and query.names is not None and len(query.names) == len(typed):
            # A parameter has no name, and a constant of its value may have one.
            return tuple(replace(c, name=n) for c, n in zip(typed, query.names, strict=True))
        return typed

    def answer(
        self, query: Translated, values: Mapping[str, Literal], seen: Schema | None = None
    ) -> Answer:
        """The rows, from a worker; the catalogue lists `seen`, or the declared tables if None."""
        columns = self.columns(query, values)
        tree = query.tree
        assert tree is not None
        listed = self._listed(seen or self._schema)
        oids = _declared(query)
        typed = {n: DeclaredValue(value, oids.get(n, 0)) for n, value in values.items()}
        table = self._ask(
            listed, with_deep_stack(lambda: self._written(tree, typed, listed.macros))
        )
        if table.num_columns != len(columns):
            raise Refused("the columns of this question of the catalogue can't be told")
        return Answer(columns, with_names(columns, ArrowRows(table)), size=table.nbytes)

    def interrupt(self) -> None:
        """Cancel the query that runs, if one does; called from another thread."""
        with self._guard:
            if self._running is not None:
                self._workers.cancel(self._running)

    def _written(
        self, tree: exp.Expr, values: Mapping[str, DeclaredValue], functions: frozenset[str]
    ) -> str:
        """The text of `tree` for DuckDB; raises if it uses what the allowlist doesn't have."""
        try:
            tree_for_duckdb = rewritten(tree, values, self._caller)
            check(tree_for_duckdb, functions)
            return tree_for_duckdb.sql("duckdb", comments=False)
        except (SqlglotError, ValueError, TypeError, AttributeError, KeyError, IndexError):
            raise Refused("this question of the catalogue has no answer here") from None

    def _ask(self, listed: _Listed, sql: str) -> pa.Table:
        question = CatalogQuestion(self._analyst, listed.contents, sql)
        with self._guard:
            self._running = question
        try:
            return self._workers.ask(question)
        finally:
            with self._guard:
                self._running = None
