"""What is refused of a server: roles that may write, and relations whose rows aren't their own.

Nothing of ours writes, and each transaction is READ ONLY; a role that can't write makes that true
whatever is wrong here. Rows of a view may mix those of several units, and no catalog would say so;
row security may leave rows out, by who asks; a foreign table is on another server. A key that a
constraint keeps is kept in every version of the data: one that was looked for in some version of
them would not be.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from dpsql.engine.postgres.catalog import (
    CatalogTable,
    Location,
    Role,
    read_role,
    read_tables,
    table_name,
)
from dpsql.engine.postgres.column_types import converts, offered_type, reading
from dpsql.engine.postgres.connection import ServerConnection, quoted
from dpsql.engine.source import ServerTable
from dpsql.errors import SourceFault

OLDEST: Final = 14
"""The first major version whose extract() is exact."""

_KINDS: Final = {
    "v": "a view",
    "m": "a materialized view",
    "f": "a foreign table",
    "S": "a sequence",
    "c": "a type",
    "i": "an index",
    "I": "an index",
}
_PLAIN: Final = re.compile(r"[a-z_][a-z0-9_]*")


def check_source(
    server: ServerConnection, tables: Sequence[ServerTable]
) -> Mapping[Location, CatalogTable]:
    """Refuse the role, or one of `tables`, with what to write instead; give what was looked at."""
    locations = [table.location for table in tables]
    check_role(read_role(server), locations)
    catalog = read_tables(server, locations) if locations else {}
    for table in tables:
        relation = catalog.get(table.location)
        if relation is None:
            raise SourceFault(
                f"the source has no table {table.name}", hint="correct the schema, or the source"
            )
        check_kind(relation)
        check_rights(relation, locations)
        check_declared(table, relation)
    return catalog


def check_declared(table: ServerTable, relation: CatalogTable) -> None:
    """Refuse columns that aren't as `table` declares them, and a key that nothing keeps."""
    _check_columns(table, relation)
    _check_key(table, relation)


def check_role(role: Role, tables: Sequence[Location]) -> None:
    """Refuse a role that may more than read, and a server that would be read otherwise."""
    if role.version < OLDEST * 10_000:
        raise SourceFault(
            f"the server is of version {role.version // 10_000}",
            hint=f"use PostgreSQL {OLDEST} or a later one",
        )
    if role.encoding != "UTF8":
        raise SourceFault(
            f"the database's encoding is {role.encoding}", hint="copy it to one of encoding UTF8"
        )
    why = None
    if role.is_superuser:
        why = "is a superuser"
    elif role.bypasses_row_security:
        why = "has BYPASSRLS"
    elif role.creates_roles:
        why = "has CREATEROLE"
    elif role.powers:
        why = f"may act as {role.powers}"
    if why is not None:
        raise SourceFault(f"the role {role.name} {why}", hint=reader(tables))


def reader(tables: Sequence[Location]) -> str:
    """The statements that make a role that may only read `tables`."""
    spaces = ", ".join(dict.fromkeys(_written(space) for space, _ in tables)) or "SCHEMA"
    names = ", ".join(map(_located, tables)) or "TABLE"
    return (
        "name a role that may only read: CREATE ROLE dpsql_reader LOGIN PASSWORD '…';"
        f" GRANT USAGE ON SCHEMA {spaces} TO dpsql_reader;"
        f" GRANT SELECT ON {names} TO dpsql_reader;"
    )


def check_kind(table: CatalogTable) -> None:
    """Refuse relations whose rows aren't stored in them."""
    name = table_name(table.location)
    if table.kind not in {"r", "p"}:
        raise SourceFault(
            f"{name} is {_KINDS.get(table.kind, 'no table')}",
            hint="name the tables that it is made of, or copy its rows to a table",
        )
    if table.is_temporary:
        raise SourceFault(f"{name} is a temporary table", hint="copy it to a lasting one")
    if table.has_foreign_parts:
        raise SourceFault(
            f"{name} has a partition that is a foreign table", hint="copy its rows to this server"
        )
    if table.has_children:
        raise SourceFault(
            f"other tables inherit from {name}",
            hint="make it a partitioned table, or name the tables that inherit",
        )
    if table.has_row_security:
        raise SourceFault(
            f"{name} has row security, so that who reads decides which rows there are",
            hint="copy its rows to a table without",
        )


def check_rights(table: CatalogTable, locations: Sequence[Location]) -> None:
    """Refuse a role that may write to the table, or may not read it as it was locked."""
    name, (space, _) = table_name(table.location), table.location
    if table.is_writable:
        raise SourceFault(
            f"the role may write to {name}, by ownership or by a right", hint=reader(locations)
        )
    if table.has_creatable_schema:
        raise SourceFault(
            f"the role may create tables in the schema {space}",
            hint=f"REVOKE CREATE ON SCHEMA {_written(space)} FROM PUBLIC, and from the role;"
            " or name a role that doesn't own it",
        )
    if not (table.is_reachable and table.is_selectable):
        raise SourceFault(f"the role may not read {name}", hint=reader(locations))
    if table.is_rewritten or not table.is_named:
        raise _replaced(name)


def _check_columns(table: ServerTable, relation: CatalogTable) -> None:
    for name, declared, own in table.stored:
        column, of = relation.columns.get(own), f"column {own} of table {table.name}"
        if column is None:
            raise SourceFault(f"the source has no {of}", hint="correct the schema, or the source")
        if not column.is_named:
            raise _replaced(table.name)
        known = reading(column.type)
        if known is None or column.is_virtual:
            what = "computed when it is read" if column.is_virtual else offered_type(column.type)
            raise SourceFault(f"{of} is {what}, which is not read", hint="remove the column")
        is_key = name in (table.key or ())
        if not converts(known, declared, is_key=is_key):
            raise SourceFault(
                f"{of} is {known.offer()}, and is declared as {declared}",
                hint="a key is declared with the type that it has"
                if is_key
                else f"write {known.offer().lower()}",
            )
        if not column.is_deterministic and (is_key or name in table.identifying):
            raise SourceFault(
                f"{of} has a collation that takes different texts for equal, and identifies rows",
                hint="give it a deterministic collation",
            )


def _check_key(table: ServerTable, relation: CatalogTable) -> None:
    """A constraint keeps the declared key, or some of its columns, and none of it is NULL."""
    if table.key is None:
        return
    own = {name: there for name, _, there in table.stored}
    key = [own[name] for name in table.key]
    written, at = ", ".join(map(_written, key)), _located(table.location)
    if not any(unique <= {*key} for unique in relation.unique):
        raise SourceFault(
            f"nothing on the server keeps the key of {table.name} unique: {', '.join(key)}",
            hint=f"ALTER TABLE {at} ADD PRIMARY KEY ({written}); or remove key: from the schema",
        )
    lacking = [name for name in key if not relation.columns[name].not_null]
    if lacking:
        raise SourceFault(
            f"the key of {table.name} may be NULL on the server: {', '.join(lacking)}",
            hint=f"ALTER TABLE {at} ALTER COLUMN {_written(lacking[0])} SET NOT NULL; or remove"
            " key: from the schema",
        )


def _replaced(name: str) -> SourceFault:
    return SourceFault(f"{name} was replaced while it was opened", hint="ask again")


def _located(location: Location) -> str:
    return ".".join(map(_written, location))


def _written(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else quoted(name)
