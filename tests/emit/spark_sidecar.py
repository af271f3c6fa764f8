"""Databases on Spark with the rows that a sidecar would have of them, or of others.

Tables have the names by which statements read them: no engine stands between.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from itertools import permutations

from emit import spark_server
from emit.spark_databases import Neighbors, NoKeys, neighbors, numbered
from neighbor_search.public_rows import public_connection
from neighbor_search.search import Pair
from notes.compiler import schema_of

from dpsql.emit.dialect.spark.render import rendered
from dpsql.engine.sidecar.row_columns import UNIT_COLUMN
from dpsql.engine.sidecar.server import ServerSidecar
from dpsql.engine.sidecar.server_counts import count_columns
from dpsql.engine.spark.semantics import SUPPORTED
from dpsql.engine.spark.sidecar.writing import count_sql
from dpsql.engine.spark.tables import is_storable
from dpsql.engine.supported import prepared_name
from dpsql.errors import Refused
from dpsql.physical.choose import Choice, choose_on_server
from dpsql.physical.push_down import push_down
from dpsql.plan.bounded_release.server_query import ServerQuery, ServerStatement
from dpsql.schema.model import EntityUnit, Schema, Table
from dpsql.schema.sidecar_columns import lent_unit_column
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.preparing.server_sidecar import (
    SPARK,
    counted_columns,
    preparable_tables,
    sidecar_tables,
)
from dpsql.session.preparing.stored_scan import stored_select
from dpsql.session.unit_rows import rows_with_unit
from dpsql.structs import replace


def over_sidecar(
    release: CompiledRelease, schema: str, only: frozenset[str] | None = None
) -> tuple[ServerQuery, ...]:
    """The release over what is stored, by each strategy that Spark takes.

    None where nothing of it is read. If `only` some tables are to be read there, others are as they
    are now.
    """
    own = schema_of(schema)
    tables = sidecar_tables(own, frozenset(), SPARK)
    named = tuple(table for table in tables if only is None or table.name in only)
    sidecar = ServerSidecar("prepared", "stamp", named)
    facts = NoKeys(own, public_connection(schema), frozenset())
    choice = choose_on_server(release.step.bounded.limited, facts, sidecar)
    there = []
    for candidate in () if choice is None else choice.candidates:
        with suppress(Refused):
            one = Choice(choice.limited, (candidate,))  # type: ignore[union-attr]
            there.append(push_down(one, SUPPORTED, sidecar).query)
    return tuple(there)


@dataclass(frozen=True)
class StoredNeighbors(Neighbors):
    """Databases with what is stored: of number n, tables are as in `times[n][0]`, and what is
    stored of them, as in `times[n][1]`.
    """

    times: tuple[tuple[int, int], ...]
    is_whole: Callable[[int], bool] = lambda _: False
    """Whether `dpsql prepare` would store one of them so."""

    def of(self, statement: ServerStatement, number: int) -> ServerStatement:
        """`statement` of one of the databases."""
        now, then = self.times[number]
        sql = numbered(statement.sql, self.tables, now)
        return replace(statement, sql=numbered(sql, set(map(prepared_name, self.tables)), then))


def store(world: str, number: int, schema: Schema) -> bool:
    """Let the session `world` have what a sidecar would have of the database `number`.

    Whether `dpsql prepare` would store it: each row leads to one unit at most.
    """
    tables, is_counted = frozenset(schema.tables), True
    for table, own in preparable_tables(schema, frozenset(), SPARK):
        sql = numbered(_stored_sql(schema, table, own), tables, number)
        rows = spark_server.session(world).sql(sql).toArrow()
        spark_server.view(world, f"{prepared_name(table.name)} {number}", rows)
        with_unit = numbered(rows_with_unit(table, own).sql("spark"), tables, number)
        counted = spark_server.session(world).sql(with_unit).toArrow()
        is_counted &= counted.column(0).to_pylist() == [rows.num_rows]
    return is_counted


def _stored_sql(schema: Schema, table: Table, own: EntityUnit) -> str:
    names = frozenset(c.name for c in table.columns.values() if is_storable(str(c.type)))
    rows = stored_select(schema, table, own, names, rendered).sql
    kinds = {c.name: str(c.type) for c in table.columns.values()}
    counts = count_columns(counted_columns(table, SPARK), count_sql(kinds))
    items = ["*", *(f"{count} AS `{name}`" for name, _, count in counts)]
    lent = lent_unit_column(table)
    items += [] if lent is None else [f"`{UNIT_COLUMN}` AS `{lent}`"]
    return f"SELECT {', '.join(items)} FROM ({rows}) AS t"


@cache
def _stored(schema: str, number: int) -> bool:
    """Whether one of the databases is whole, of which the session has what is stored, too."""
    all_of = neighbors(schema)
    all_of.create(number)
    return store(all_of.name, number, schema_of(schema))


@cache
def of_one_time(schema: str) -> StoredNeighbors:
    """Databases with what is stored of them, and the same without one unit."""
    all_of, stored = neighbors(schema), partial(_stored, schema)
    times = tuple((number, number) for number in range(all_of.count))
    return StoredNeighbors(
        all_of.name, all_of.count, all_of.tables, all_of.pairs, stored, times, stored
    )


@cache
def of_two_times(schema: str) -> StoredNeighbors:
    """Databases with what was stored of another one, and both without one unit."""
    all_of = neighbors(schema)
    times: list[tuple[int, int]] = []
    pairs: list[Pair] = []
    for now, then in permutations(sorted({pair.world for pair in all_of.pairs}), 2):
        stored = {p.lacks[1]: p.other for p in all_of.pairs if p.world == then}
        full = next(p.one for p in all_of.pairs if p.world == then)
        for pair in (p for p in all_of.pairs if p.world == now):
            # A unit that has no rows in the other database is lacking there already.
            one, other = len(times), len(times) + 1
            times += [(pair.one, full), (pair.other, stored.get(pair.lacks[1], full))]
            pairs.append(replace(pair, one=one, other=other))

    def create(number: int) -> None:
        now, then = times[number]
        all_of.create(now)
        _stored(schema, then)

    return StoredNeighbors(
        all_of.name, len(times), all_of.tables, tuple(pairs), create, tuple(times)
    )
