"""Keys, references and comments that a DuckDB file declares of its tables.

They are claims of whoever made the tables, for the owner to confirm. No row is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import duckdb
from msgspec import Struct, field

from dpsql.engine.duckdb.catalog import attach
from dpsql.engine.duckdb.lockdown import configure
from dpsql.engine.duckdb.table_view import DATABASE
from dpsql.engine.source import DuckDBSource

_CONSTRAINTS: Final = """
SELECT concat(nullif(schema_name, 'main') || '.', table_name), constraint_type,
    constraint_column_names, concat(nullif(schema_name, 'main') || '.', referenced_table),
    referenced_column_names
FROM duckdb_constraints()
WHERE database_name = ? AND constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY')
"""
_COMMENTS: Final = """
SELECT concat(nullif(schema_name, 'main') || '.', table_name), '', comment FROM duckdb_tables()
WHERE database_name = ? AND comment IS NOT NULL
UNION ALL
SELECT concat(nullif(schema_name, 'main') || '.', table_name), column_name, comment
FROM duckdb_columns() WHERE database_name = ? AND comment IS NOT NULL
"""


class Declared(Struct, frozen=True):
    """One table's primary key (None: it has none), and by column its reference and its comment.

    A reference is written as table.key. The comment of the table itself is under "". No row
    is NULL in a column of `not_null`, by a constraint of a server.
    """

    key: tuple[str, ...] | None = None
    references: Mapping[str, str] = field(default_factory=dict)
    comments: Mapping[str, str] = field(default_factory=dict)
    not_null: frozenset[str] = frozenset()


def read_declarations(database: str) -> Mapping[str, Declared]:
    """Read constraints and comments in a DuckDB file, by table; tables without any are left out."""
    keys: dict[str, tuple[str, ...]] = {}
    references: dict[str, dict[str, str]] = {}
    comments: dict[str, dict[str, str]] = {}
    with duckdb.connect(":memory:") as connection:
        configure(connection)
        attach(connection, DuckDBSource(database))
        constraints = connection.execute(_CONSTRAINTS, [DATABASE]).fetchall()
        for table, kind, columns, referenced_table, referenced_columns in constraints:
            if kind == "PRIMARY KEY":
                keys[table] = tuple(columns)
            elif len(columns) == 1:
                reference = f"{referenced_table}.{referenced_columns[0]}"
                references.setdefault(table, {})[columns[0]] = reference
        for table, column, text in connection.execute(_COMMENTS, [DATABASE] * 2).fetchall():
            comments.setdefault(table, {})[column] = text
    return {
        name: Declared(keys.get(name), references.get(name, {}), comments.get(name, {}))
        for name in keys.keys() | references.keys() | comments.keys()
    }
