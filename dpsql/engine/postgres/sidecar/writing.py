"""Writes a sidecar's tables to a server, by a role of their owner's, in one transaction.

What is stored is read in the same snapshot in which the server's constraints keep the keys, by the
very statement that would find units without a sidecar. So a reader has the tables of before or the
new ones, whole. How many rows have a unit is counted by another statement, by semi-joins alone; a
table with another number of rows is not stored.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from msgspec import Struct

from dpsql.engine.postgres.access import OLDEST, check_declared, check_kind
from dpsql.engine.postgres.catalog import CatalogTable, Location, read_role, read_tables
from dpsql.engine.postgres.connection import LONGEST_NAME, ServerConnection, literal, quoted
from dpsql.engine.postgres.push import views
from dpsql.engine.postgres.pushed_columns import pushed_reading, storage_type
from dpsql.engine.postgres.semantics import first_false_claim
from dpsql.engine.postgres.sidecar.record import (
    RECORD,
    RecordedTable,
    relations,
    write_record,
)
from dpsql.engine.sidecar.row_columns import UNIT_COLUMN
from dpsql.engine.sidecar.server import ServerSidecar
from dpsql.engine.sidecar.server_counts import CountSql, count_columns
from dpsql.engine.source import PostgresSource, ServerTable
from dpsql.engine.supported import ServerSelect
from dpsql.errors import SourceFault
from dpsql.structs import replace

_WAIT_SECONDS: Final = 600
"""How long readers of the tables of before are waited for; meanwhile others read no sidecar."""

COUNT_SQL: Final = CountSql("integer", quoted, quoted, lambda _: "")
"""Values are equal as they are stored, and so as statements group by them."""

_DATABASE: Final = """
SELECT pg_is_in_recovery(), has_database_privilege(current_database(), 'CREATE'), (
    SELECT pg_has_role(n.nspowner, 'MEMBER') FROM pg_namespace AS n WHERE n.nspname = {space}),
    (SELECT count(*) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = {space} AND c.relname = {record}),
    current_database()::text
"""

# All that defaults gave to anybody, their owner's rights of a table among them.
_GRANTEES: Final = """
SELECT DISTINCT coalesce(r.rolname::text, '') FROM ({items}) AS g(acl)
CROSS JOIN LATERAL aclexplode(g.acl) AS a LEFT JOIN pg_roles AS r ON r.oid = a.grantee
"""

_RIGHTS_OF_TABLE: Final = """
SELECT coalesce(c.relacl, acldefault('r', c.relowner)) FROM pg_class AS c
WHERE c.oid = to_regclass({at})
"""
_RIGHTS_OF_SCHEMA: Final = "SELECT n.nspacl FROM pg_namespace AS n WHERE n.nspname = {name}"


class StoredRows(Struct, frozen=True):
    """What is stored of `table`: `rows` are its rows with their unit, in columns of these names.

    `with_unit` counts the rows that have a unit, each once. Beside each row there are counts of its
    unit's rows, in all and by the values of each of `group_count_columns`.
    """

    table: ServerTable
    rows: ServerSelect
    with_unit: ServerSelect
    group_count_columns: tuple[str, ...]


class OwnerTransaction(Struct, frozen=True):
    """A transaction that may write, in which the source's tables are as `catalog` has them."""

    server: ServerConnection
    source: PostgresSource
    catalog: Mapping[Location, CatalogTable]

    def storable(self, table: ServerTable) -> frozenset[str]:
        """The names of the columns that a sidecar can have of `table`."""
        relation = self.catalog[table.location]
        return frozenset(
            name
            for name, declared, own in table.stored
            if len(name.encode()) <= LONGEST_NAME
            and storage_type(declared) is not None
            and pushed_reading(relation.columns[own].type, declared) is not None
        )


@contextmanager
def owner_transaction(source: PostgresSource, url: str) -> Iterator[OwnerTransaction]:
    """What `work` does is committed unless it fails; the role of `url` may read all tables."""
    tables = source.tables
    server = ServerConnection(replace(source, url=url))
    try:
        server.begin()
        _check_role(server, tables)
        if (claim := first_false_claim(server)) is not None:
            raise SourceFault(
                f"{source} computes otherwise than is needed: not true is that {claim}",
                hint="queries are answered without it",
            )
        server.end()
        server.run("BEGIN ISOLATION LEVEL REPEATABLE READ, READ WRITE")
        server.run("SET LOCAL statement_timeout = 0")
        server.run(f"SET LOCAL lock_timeout = '{_WAIT_SECONDS}s'")
        server.lock([table.location for table in tables])
        yield OwnerTransaction(server, source, _checked(server, tables))
        server.run("COMMIT")
    finally:
        server.close()


def _check_role(server: ServerConnection, tables: Sequence[ServerTable]) -> None:
    role = read_role(server)
    if role.version < OLDEST * 10_000 or role.encoding != "UTF8":
        raise SourceFault("the server isn't one that is read", hint="see docs/postgres.md")
    catalog = read_tables(server, [table.location for table in tables])
    for table in tables:
        relation = catalog.get(table.location)
        if relation is None or not (relation.is_reachable and relation.is_selectable):
            raise SourceFault(
                f"the role {role.name} may not read {table.name}, or it isn't there",
                hint="name by --as a role that may read all tables, in the database of source:",
            )


def _checked(
    server: ServerConnection, tables: Sequence[ServerTable]
) -> Mapping[Location, CatalogTable]:
    catalog = read_tables(server, [table.location for table in tables])
    for table in tables:
        relation = catalog.get(table.location)
        if relation is None or relation.is_rewritten or not relation.is_named:
            raise SourceFault(f"{table.name} was replaced meanwhile", hint="prepare it again")
        check_kind(relation)
        check_declared(table, relation)
    return catalog


def write_tables(
    owner: OwnerTransaction,
    sidecar: ServerSidecar,
    tables: Sequence[StoredRows],
    reader: str,
    step: Callable[[str], None],
) -> None:
    """Replace the sidecar by one with `tables`, which the role `reader` alone may read.

    Raises SourceFault unless each has each row that has a unit once.
    """
    server, space, new = owner.server, sidecar.space, f"{sidecar.space}_new"
    _check_replaceable(owner, space)
    server.run(f"CREATE SCHEMA {quoted(new)}")
    counted: dict[str, int] = {}
    for stored in tables:
        step(f"storing the rows of {stored.table.name}")
        counted[stored.table.name] = _fill(owner, new, stored)
    numbers = relations(server, new)
    step("writing the record")
    write_record(
        server,
        new,
        sidecar.stamp,
        (
            RecordedTable(name, numbers[name].number, numbers[name].file, rows)
            for name, rows in counted.items()
        ),
    )
    for name in (*counted, RECORD):
        at = f"{quoted(new)}.{quoted(name)}"
        _revoke(server, f"TABLE {at}", _RIGHTS_OF_TABLE.format(at=literal(at)))
        server.run(f"GRANT SELECT ON TABLE {at} TO {quoted(reader)}")
    _revoke(server, f"SCHEMA {quoted(new)}", _RIGHTS_OF_SCHEMA.format(name=literal(new)))
    server.run(f"GRANT USAGE ON SCHEMA {quoted(new)} TO {quoted(reader)}")
    step("waiting for readers")
    server.run(f"DROP SCHEMA IF EXISTS {quoted(space)} CASCADE")
    server.run(f"ALTER SCHEMA {quoted(new)} RENAME TO {quoted(space)}")


def _check_replaceable(owner: OwnerTransaction, space: str) -> None:
    """Refuse to replace a schema that is no sidecar, or that the role can't replace."""
    sql = _DATABASE.format(space=literal(space), record=literal(RECORD))
    ((is_standby, may_create, is_owner, records, database),) = owner.server.rows(sql)
    if is_standby:
        raise SourceFault(
            f"{owner.source} is a standby, to which nothing is written",
            hint="name the primary server by --as",
        )
    if not may_create:
        raise SourceFault(
            f"the role of --as may not create a schema in the database {database}",
            hint=f"GRANT CREATE ON DATABASE {quoted(database)} to it, or name another role",
        )
    if is_owner is None:
        return
    if not records:
        raise SourceFault(
            f"the schema {space} is there, and dpsql prepare didn't write it",
            hint=f"ALTER SCHEMA {space} RENAME TO another name",
        )
    if not is_owner:
        raise SourceFault(
            f"the schema {space} belongs to another role than that of --as",
            hint=f"name its owner by --as, or DROP SCHEMA {space} CASCADE",
        )


def _fill(owner: OwnerTransaction, space: str, stored: StoredRows) -> int:
    """Make one table, with its rows, and the index that keeps its key; return how many rows."""
    server, table = owner.server, stored.table
    at = f"{quoted(space)}.{quoted(table.name)}"
    counts = count_columns(stored.group_count_columns, COUNT_SQL)
    columns = [_column(name, kind, required={UNIT_COLUMN}) for name, kind in stored.rows.columns]
    columns += [_column(name, kind, required={name}) for name, kind, _ in counts]
    server.run(f"CREATE TABLE {at} ({', '.join(columns)})")
    names = ", ".join(quoted(name) for name, *_ in (*stored.rows.columns, *counts))
    shown = ", ".join(["r.*", *(expression for *_, expression in counts)])
    rows = f"SELECT {shown} FROM ({_text(owner, stored.rows)}) AS r"  # noqa: S608 - our own texts
    server.run(f"INSERT INTO {at} ({names}) {rows}")
    if table.key is not None:
        server.run(f"ALTER TABLE {at} ADD PRIMARY KEY ({', '.join(map(quoted, table.key))})")
    ((count,),) = server.rows(f"SELECT count(*) FROM {at}")  # noqa: S608 - of our own texts
    ((expected,),) = server.rows(_text(owner, stored.with_unit))
    if count != expected:
        raise SourceFault(
            f"{table.name} can't be prepared: its rows would not be there once each",
            hint="run dpsql check on the schema, and prepare it again",
        )
    server.run(f"ANALYZE {at}")
    return int(count)


def _column(name: str, declared: str, required: Collection[str]) -> str:
    kind = storage_type(declared)
    if kind is None:
        raise ValueError("what isn't storable isn't stored")
    collation = ' COLLATE "C"' if kind == "text" else ""
    return f"{quoted(name)} {kind}{collation}{' NOT NULL' if name in required else ''}"


def _text(owner: OwnerTransaction, select: ServerSelect) -> str:
    """The rows of `select`, in its own types."""
    shared = views(select, owner.source.tables, owner.catalog)
    if shared is None:
        raise SourceFault(
            f"the server can't compute with a column of {', '.join(sorted(select.tables))}",
            hint="see EXPLAIN PRIVACY of a query of it",
        )
    items = ", ".join(quoted(name) for name, _ in select.columns)
    return f'{shared}SELECT {items} FROM ({select.sql}) AS "t"'  # noqa: S608 - of our own texts


def _revoke(server: ServerConnection, what: str, acl: str) -> None:
    """Take all rights of `what` from whoever has any; `acl` selects them."""
    names = [name for (name,) in server.rows(_GRANTEES.format(items=acl))]
    if names:
        roles = ", ".join("PUBLIC" if not name else quoted(name) for name in names)
        server.run(f"REVOKE ALL ON {what} FROM {roles}")
