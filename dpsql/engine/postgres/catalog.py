"""What the server's catalog says of tables, columns and keys, never anything of their rows.

Names are compared as the server has them, each in its case.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from dpsql.engine.postgres.connection import ServerConnection, literal

_ROLE: Final = """
SELECT r.rolname::text, r.rolsuper, r.rolbypassrls, r.rolcreaterole, (
    SELECT string_agg(o.rolname, ', ' ORDER BY o.rolname) FROM pg_roles AS o
    WHERE o.rolname <> r.rolname
    AND (pg_has_role(r.oid, o.oid, 'MEMBER') OR pg_has_role(session_user, o.oid, 'MEMBER')) AND (
        o.rolsuper OR o.rolbypassrls OR o.rolcreaterole OR o.rolname IN (
            'pg_write_all_data', 'pg_read_server_files', 'pg_write_server_files',
            'pg_execute_server_program', 'pg_maintain')))::text,
    current_setting('server_version_num')::int4, current_setting('server_encoding')
FROM pg_roles AS r WHERE r.rolname = current_user
"""

_TABLES: Final = """
SELECT n.nspname::text, c.relname::text, c.relkind::text, c.relpersistence = 't',
    c.relrowsecurity, c.relkind = 'r' AND p.children, p.others, p.rewritten,
    coalesce(CASE WHEN has_schema_privilege(n.oid, 'USAGE')
        THEN to_regclass(format('%I.%I', n.nspname, c.relname))::oid = c.oid END, false),
    p.parts, p.estimated, has_schema_privilege(n.oid, 'USAGE'),
    has_table_privilege(c.oid, 'SELECT'), p.writes,
    pg_has_role(n.nspowner, 'MEMBER') OR has_schema_privilege(n.oid, 'CREATE')
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
CROSS JOIN LATERAL (
    SELECT bool_or(l.relkind NOT IN ('r', 'p')) AS others,
        bool_or(l.relkind IS NULL
            OR pg_relation_filenode(oid) IS DISTINCT FROM nullif(l.relfilenode, 0::oid))
            AS rewritten,
        string_agg(oid::text, ' ' ORDER BY oid) AS parts,
        bool_or(EXISTS (SELECT FROM pg_inherits AS i WHERE i.inhparent = l.oid)) AS children,
        coalesce(sum(greatest(l.reltuples, 0)) FILTER (WHERE l.relkind = 'r'), 0)::int8
            AS estimated,
        bool_or(pg_has_role(l.relowner, 'MEMBER')
            OR has_table_privilege(l.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER')
            OR has_any_column_privilege(l.oid, 'INSERT, UPDATE')) AS writes
    FROM (SELECT c.oid UNION SELECT t.relid FROM pg_partition_tree(c.oid) AS t) AS parts(oid)
    LEFT JOIN pg_class AS l USING (oid)) AS p
WHERE {where} ORDER BY n.nspname <> 'public', n.nspname, c.relname
"""

_COLUMNS: Final = """
SELECT n.nspname::text, c.relname::text, a.attname::text, format_type(a.atttypid, a.atttypmod),
    a.attnotnull AND NOT EXISTS (
        SELECT FROM pg_constraint AS k WHERE k.conrelid = c.oid AND k.contype = 'n'
        AND NOT k.convalidated AND a.attnum = ANY (k.conkey)),
    coalesce(o.collisdeterministic, true), a.attgenerated = 'v',
    (pg_identify_object_as_address('pg_class'::regclass, c.oid, a.attnum)).object_names[3]
        IS NOT DISTINCT FROM a.attname::text
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_collation AS o ON o.oid = a.attcollation
WHERE {where} ORDER BY n.nspname <> 'public', n.nspname, c.relname, a.attnum
"""

# Of a deferrable one, rows may have it twice until their transaction ends; an operator class of
# somebody's own may take two values for one, or one for two.
_KEYS: Final = """
SELECT n.nspname::text, c.relname::text, i.indexrelid::int8, a.attname::text
FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indrelid
JOIN pg_namespace AS n ON n.oid = c.relnamespace
CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, position)
LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = k.attnum
WHERE {where} AND i.indisunique AND i.indisvalid AND i.indisready AND i.indimmediate
    AND i.indpred IS NULL AND i.indexprs IS NULL AND k.position <= i.indnkeyatts
    AND NOT EXISTS (
        SELECT FROM unnest(i.indclass::oid[]) AS u(opclass) JOIN pg_opclass AS s
        ON s.oid = u.opclass WHERE s.opcnamespace <> 'pg_catalog'::regnamespace)
ORDER BY i.indexrelid, k.position
"""

_READABLE: Final = """
c.relkind IN ('r', 'p') AND c.relpersistence <> 't' AND n.nspname NOT LIKE 'pg\\_%'
AND n.nspname <> 'information_schema' AND strpos(n.nspname, '.') = 0 AND strpos(c.relname, '.') = 0
"""

Location = tuple[str, str]
"""A schema, and a name there."""


class Role(Struct, frozen=True):
    """Who reads; `powers` are roles that it could act as, and that may more than read.

    Whoever logs in as one role and reads as another could act as the first again.
    """

    name: str
    is_superuser: bool
    bypasses_row_security: bool
    creates_roles: bool
    powers: str | None
    version: int
    encoding: str


class CatalogColumn(Struct, frozen=True):
    """A column as the catalog has it; `type` is what the server calls its type.

    `is_named`: its name still leads to it, after the snapshot that the rest is of.
    """

    name: str
    type: str
    not_null: bool
    is_deterministic: bool
    is_virtual: bool
    is_named: bool


class CatalogTable(Struct, frozen=True):
    """A relation as the catalog has it, with its partitions taken together.

    `unique` are sets of columns that no two rows share, unless one of them is NULL. `kind` is
    pg_class's. `is_rewritten`: its rows are in another file than when the snapshot was taken.
    `is_named`: its name still leads to it. `parts` are the table and its partitions, as they are
    now, whatever the snapshot. `rows` is what the planner guesses, and private.
    """

    location: Location
    columns: Mapping[str, CatalogColumn]
    unique: tuple[frozenset[str], ...]
    kind: str
    is_temporary: bool
    has_row_security: bool
    has_children: bool
    has_foreign_parts: bool
    is_rewritten: bool
    is_named: bool
    parts: str
    rows: int
    is_reachable: bool
    is_selectable: bool
    is_writable: bool
    has_creatable_schema: bool


def read_role(server: ServerConnection) -> Role:
    """Who is connected, and to what."""
    return Role(*server.rows(_ROLE)[0])


def read_tables(
    server: ServerConnection, wanted: Iterable[Location] = ()
) -> Mapping[Location, CatalogTable]:
    """The relations that are `wanted`, as far as there are any; by default all base tables."""
    where = _among(tuple(wanted))
    columns: dict[Location, dict[str, CatalogColumn]] = {}
    for space, table, name, *rest in server.rows(_COLUMNS.format(where=where)):
        columns.setdefault((space, table), {})[name] = CatalogColumn(name, *rest)
    keys: dict[tuple[Location, int], set[str]] = {}
    for space, table, index, name in server.rows(_KEYS.format(where=where)):
        keys.setdefault(((space, table), index), set()).add(name)
    tables: dict[Location, CatalogTable] = {}
    for space, name, *rest in server.rows(_TABLES.format(where=where)):
        at = space, name
        unique = tuple(frozenset(named) for (of, _), named in keys.items() if of == at)
        tables[at] = CatalogTable(at, columns.get(at, {}), unique, *rest)
    return tables


def _among(wanted: Sequence[Location]) -> str:
    if not wanted:
        return _READABLE
    pairs = ", ".join(f"({literal(space)}, {literal(name)})" for space, name in wanted)
    return f"(n.nspname::text, c.relname::text) IN ({pairs})"


def table_name(location: Location) -> str:
    """What statements call a table."""
    space, name = location
    return name if space == "public" else f"{space}.{name}"
