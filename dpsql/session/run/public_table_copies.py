"""Copies of public tables, for engines that have nothing else."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from sqlglot import exp

from dpsql.analysis.lineage.lineage import Visibility, visibility
from dpsql.bind.statement import bind
from dpsql.emit.relation.relation import emit_plan
from dpsql.emit.sql.render import rendered
from dpsql.engine.arrow_result import stream
from dpsql.engine.digest import digest_of
from dpsql.engine.engine import Engine
from dpsql.engine.read_limit import ReadLimit
from dpsql.engine.sandbox.database import Contents
from dpsql.errors import Error, TooComplex
from dpsql.release.open_public import open_rows
from dpsql.schema.model import Schema, Table
from dpsql.schema.qualified_name import MAIN, PUBLIC, bare, resolve_name, schema_of
from dpsql.schema.sql_type import UHUGEINT, Array, Interval, Null

COPIED: Final = ReadLimit(1_000_000, 64 * 2**20)
"""What is copied of the tables of one statement: those that have more aren't."""

_MAX_COPIES: Final = 256 * 2**20
"""Bytes of copies that are kept, beyond those that a statement needs."""


class Copies:
    """Public tables and views that analysts see, of one version of the data.

    Each is read when a statement first names it, by a statement of dpsql's own.
    """

    def __init__(self, schema: Schema, engine: Callable[[], Engine]) -> None:
        self._schema = schema
        self._engine = engine
        self._guard = threading.Lock()
        self._copies: OrderedDict[str, bytes | None] = OrderedDict()

    def contents(self, tables: Sequence[Table]) -> Contents | None:
        """What an engine loads that has `tables` and nothing else; None if they are too large."""
        rows: dict[str, bytes] = {}
        for table in tables:
            copy = self._rows(table)
            if copy is None:
                return None
            rows[table.name] = copy
        if sum(map(len, rows.values())) > COPIED.bytes:
            return None
        statements = tuple(s for table in tables for s in self._statements(table))
        held = (hashlib.sha256(data).hexdigest() for data in rows.values())
        return Contents(digest_of("copies", *statements, "", *held), statements, rows)

    def _rows(self, table: Table) -> bytes | None:
        with self._guard:
            if table.name in self._copies:
                self._copies.move_to_end(table.name)
                return self._copies[table.name]
        copy = None
        try:
            copy = self._read(table)
        except TooComplex:
            pass
        except Error:
            return None  # a source that can't be read now may be another time
        with self._guard:
            self._copies[table.name] = copy
            while sum(len(data or b"") for data in self._copies.values()) > _MAX_COPIES:
                self._copies.popitem(last=False)
        return copy

    def _read(self, table: Table) -> bytes | None:
        statement = bind(exp.select("*").from_(_named(table.name)).sql("duckdb"), self._schema)
        if visibility(statement.plan) is not Visibility.PUBLIC or statement.reads_clock:
            return None  # what reads the clock is another table in a minute
        if any(
            c.type == UHUGEINT or isinstance(c.type, Interval | Array | Null)
            for c in statement.columns
        ):
            return None
        raw = self._engine().execute(rendered(emit_plan(statement.plan, {})), limit=COPIED)
        return stream(open_rows(statement.plan, raw).rename_columns(list(statement.names)))

    def _statements(self, table: Table) -> Iterator[str]:
        """The table, and all names that a statement may call it by."""
        columns = [
            exp.ColumnDef(
                this=exp.to_identifier(column.name, quoted=True),
                kind=exp.DataType.build(str(column.type), dialect="duckdb"),
            )
            for column in table.columns.values()
        ]
        stored = exp.table_(table.name, quoted=True)
        created = exp.Create(this=exp.Schema(this=stored, expressions=columns), kind="TABLE")
        yield created.sql("duckdb")
        own = bare(table.name)
        for space in self._spaces(table):
            name = exp.table_(own, db=space, quoted=True)
            if (space, own) == (MAIN, table.name):
                continue
            if space != MAIN:
                around = exp.Table(db=exp.to_identifier(space, quoted=True))
                yield exp.Create(this=around, kind="SCHEMA", exists=True).sql("duckdb")
            rows = exp.select("*").from_(exp.table_(table.name, db=MAIN, quoted=True))
            yield exp.Create(this=name, kind="VIEW", expression=rows).sql("duckdb")

    def _spaces(self, table: Table) -> Iterator[str]:
        names, dataset = list(self._schema.visible_tables), self._schema.dataset
        space, own = schema_of(table.name), bare(table.name)
        if resolve_name(names, [own], dataset) == (table.name,):
            yield MAIN
        for other in (PUBLIC, dataset) if space == MAIN else (space,):
            if other != MAIN and resolve_name(names, [other, own], dataset) == (table.name,):
                yield other


def _named(name: str) -> exp.Table:
    space, _, own = name.rpartition(".")
    return exp.table_(own, db=space or None, quoted=True)
