"""Digests of each unit's rows, by which units that have other rows than before are found.

| column          | what it holds                                                |
| --------------- | ------------------------------------------------------------ |
| unit of the row | the unit                                                     |
| rows            | how many rows of the table it has                            |
| one, other      | sums over its rows of two hashes of 64 bits, with the salt   |

A sum doesn't depend on the order of rows. Of a unit whose rows are others with the same sums,
statements would read the rows of before. By chance that is one of 2^64 changes at most; who knows
how DuckDB hashes texts can write two with one hash. Either way it is that unit's own rows, to which
all limits apply, so that it is no matter of privacy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sqlglot import exp

from dpsql.engine.sidecar.contents import ROW_SCHEMA, SIDECAR
from dpsql.engine.sidecar.row_columns import UNIT_COLUMN, SidecarTable

DIGEST_SCHEMA: Final = "digests"
"""The schema of the sidecar's tables with one digest for each of a table's units."""

_UNIT: Final = f'"{UNIT_COLUMN}"'
_NOW: Final = '"digests now"'
_CHANGED: Final = '"units that changed"'

HAS_CHANGED: Final = f"{_UNIT} IN (FROM {_CHANGED})"
"""The condition on rows, and on digests, that their unit's rows aren't as they were."""

CHANGED_ROWS: Final = f"SELECT coalesce(sum(rows), 0)::BIGINT FROM {_NOW} WHERE {HAS_CHANGED}"  # noqa: S608
"""The statement that counts the rows that units that changed have now."""


def store(table: SidecarTable, salt: str) -> str:
    """The statement that stores the digests of a table's rows, as they are in the sidecar."""
    return f"CREATE TABLE {_stored(table)} AS {_digests(table, _rows_of(table), salt)}"


def find_changed(table: SidecarTable, salt: str) -> Iterator[str]:
    """The statements that find the units whose rows in the source aren't those of the sidecar."""
    yield f"CREATE TEMP TABLE {_NOW} AS {_digests(table, f'({table.rows})', salt)}"
    differ = " OR ".join(f"o.{sum_} IS DISTINCT FROM n.{sum_}" for sum_ in ("rows", "one", "other"))
    joined = f"{_stored(table)} AS o FULL JOIN {_NOW} AS n USING ({_UNIT})"
    yield f"CREATE TEMP TABLE {_CHANGED} AS SELECT {_UNIT} FROM {joined} WHERE {differ}"  # noqa: S608


def renew(table: SidecarTable) -> list[str]:
    """The statements that store the digests of the units that changed, and forget these units."""
    return [
        f"DELETE FROM {_stored(table)} WHERE {HAS_CHANGED}",  # noqa: S608
        f"INSERT INTO {_stored(table)} FROM {_NOW} WHERE {HAS_CHANGED}",
        f"DROP TABLE {_NOW}",
        f"DROP TABLE {_CHANGED}",
    ]


def _digests(table: SidecarTable, relation: str, salt: str) -> str:
    secret = exp.Literal.string(salt).sql("duckdb")
    there = ", ".join((secret, *table.compared))
    back = ", ".join((*reversed(table.compared), secret))
    return (
        f"SELECT {_UNIT}, count(*) AS rows, sum(hash({there})) AS one, sum(hash({back})) AS other"  # noqa: S608
        f" FROM {relation} GROUP BY ALL"
    )


def _rows_of(table: SidecarTable) -> str:
    return exp.table_(table.name, db=ROW_SCHEMA, catalog=SIDECAR, quoted=True).sql("duckdb")


def _stored(table: SidecarTable) -> str:
    return exp.table_(table.name, db=DIGEST_SCHEMA, catalog=SIDECAR, quoted=True).sql("duckdb")
