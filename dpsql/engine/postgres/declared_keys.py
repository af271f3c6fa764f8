"""What a server declares of its tables beyond types: keys, references, comments and NOT NULL.

They are for the owner of the data to confirm, in a draft. No row is looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dpsql.engine.duckdb.declared_keys import Declared
from dpsql.engine.postgres.catalog import read_tables, table_name
from dpsql.engine.postgres.connection import transaction
from dpsql.engine.source import PostgresSource

_CONSTRAINTS: Final = """
SELECT n.nspname::text, c.relname::text, k.contype::text, k.oid::int8, a.attname::text,
    fn.nspname::text, f.relname::text, b.attname::text
FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.conrelid
JOIN pg_namespace AS n ON n.oid = c.relnamespace
CROSS JOIN LATERAL unnest(k.conkey) WITH ORDINALITY AS p(attnum, position)
JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = p.attnum
LEFT JOIN pg_class AS f ON f.oid = k.confrelid
LEFT JOIN pg_namespace AS fn ON fn.oid = f.relnamespace
LEFT JOIN pg_attribute AS b ON b.attrelid = f.oid AND b.attnum = k.confkey[p.position]
WHERE k.contype IN ('p', 'f') AND n.nspname NOT LIKE 'pg\\_%'
ORDER BY k.oid, p.position
"""
_COMMENTS: Final = """
SELECT n.nspname::text, c.relname::text, coalesce(a.attname::text, ''), d.description
FROM pg_description AS d JOIN pg_class AS c ON c.oid = d.objoid
JOIN pg_namespace AS n ON n.oid = c.relnamespace
LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = d.objsubid AND d.objsubid > 0
WHERE d.classoid = 'pg_class'::regclass AND c.relkind IN ('r', 'p')
    AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
"""


def read_declarations(source: PostgresSource) -> Mapping[str, Declared]:
    """Read the constraints and comments of each of the server's base tables."""
    keys: dict[str, tuple[str, ...]] = {}
    paths: dict[int, list[tuple[str, str, str]]] = {}
    comments: dict[str, dict[str, str]] = {}
    with transaction(source) as server:
        for space, table, kind, number, column, to_space, to, other in server.rows(_CONSTRAINTS):
            name = table_name((space, table))
            if kind == "p":
                keys[name] = (*keys.get(name, ()), column)
            else:
                target = f"{table_name((to_space, to))}.{other}"
                paths.setdefault(number, []).append((name, column, target))
        for space, table, column, text in server.rows(_COMMENTS):
            comments.setdefault(table_name((space, table)), {})[column] = text
        tables = read_tables(server)
    references: dict[str, dict[str, str]] = {}
    for path in paths.values():
        if len(path) == 1:
            ((name, column, target),) = path
            references.setdefault(name, {})[column] = target
    return {
        name: Declared(keys.get(name), references.get(name, {}), comments.get(name, {}), filled)
        for at, table in tables.items()
        for name in [table_name(at)]
        for filled in [frozenset(c.name for c in table.columns.values() if c.not_null)]
    }
