"""The demo's tables, by a fixed public recipe: nobody in them exists."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import duckdb

# Integer arithmetic only, so that every version of DuckDB makes the same rows. Person 0 is Ada, the
# only one born before 1950.
_TABLES: Final = {
    "departments": """
        SELECT unnest(['Design', 'Legal', 'Logistics', 'Production', 'Research', 'Sales'])
            AS department
    """,
    "staff": """
        SELECT
            i::BIGINT AS person_id,
            (CASE WHEN i = 0 THEN 1948 ELSE 1958 + i * 7919 % 49 END)::INTEGER AS born,
            ['Design', 'Legal', 'Logistics', 'Production', 'Research', 'Sales'][1 + i * 31 % 6]
                AS department,
            (CASE WHEN i = 0 THEN 97300 ELSE 28000 + i * 104729 % 997 * 61 + i * 31 % 6 * 4200 END)
                ::INTEGER AS salary
        FROM range(20000) AS t(i)
    """,
    "sick_leave": """
        SELECT
            (i * 7 % 20000)::BIGINT AS person_id,
            ['flu', 'other', 'flu', 'stress', 'flu', 'accident', 'other'][1 + i * 13 % 7] AS reason,
            (1 + i * 6151 % 11)::INTEGER AS days
        FROM range(40000) AS t(i)
    """,
}


def generate(folder: Path) -> None:
    """Write TABLE.parquet for each table into `folder`."""
    folder.mkdir()
    with duckdb.connect(":memory:") as connection:
        for name, rows in _TABLES.items():
            connection.sql(rows).write_parquet(str(folder / f"{name}.parquet"))
