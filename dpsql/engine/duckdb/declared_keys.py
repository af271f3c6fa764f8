"""What a DuckDB file declares of its tables beyond types: keys, references and comments.

They are the words of whoever made the tables, for the owner to confirm. No row is looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import duckdb

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


@dataclass(frozen=True, slots=True)
class Declared:
    """Of one table: its primary key, and by column what it references (table.key) and comments.

    The comment of the table itself is that of the column named "". Of `not_null` columns a server
    keeps each row from having none.
    """

    key: tuple[str, ...] | None = None
    references: Mapping[str, str] = field(default_factory=dict)
    comments: Mapping[str, str] = field(default_factory=dict)
    not_null: frozenset[str] = frozenset()


def read_declarations(database: str) -> Mapping[str, Declared]:
    """Read the constraints and comments of the tables of a DuckDB file; some have none."""
    keys: dict[str, tuple[str, ...]] = {}
    references: dict[str, dict[str, str]] = {}
    comments: dict[str, dict[str, str]] = {}
    with duckdb.connect(":memory:") as connection:
        configure(connection)
        attach(connection, DuckDBSource(database))
        found = connection.execute(_CONSTRAINTS, [DATABASE]).fetchall()
        for table, kind, columns, other, others in found:
            if kind == "PRIMARY KEY":
                keys[table] = tuple(columns)
            elif len(columns) == 1:
                references.setdefault(table, {})[columns[0]] = f"{other}.{others[0]}"
        for table, column, text in connection.execute(_COMMENTS, [DATABASE] * 2).fetchall():
            comments.setdefault(table, {})[column] = text
    return {
        name: Declared(keys.get(name), references.get(name, {}), comments.get(name, {}))
        for name in keys.keys() | references.keys() | comments.keys()
    }
