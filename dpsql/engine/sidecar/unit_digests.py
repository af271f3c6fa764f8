"""Digests of each unit's rows, by which units that have other rows than before are found.

| column          | what it holds                                                |
| --------------- | ------------------------------------------------------------ |
| unit of the row | the unit                                                     |
| rows            | how many rows of the table it has                            |
| digest          | the sum of its rows' keyed hashes, of which 64 bits are kept  |

The hashes are those by which a unit's rows are in their order, so that they are computed once. A
sum doesn't depend on the order of rows.

DuckDB's hash of several values is that of all but the last, mixed, XOR the last one's own. So a row
has the hash of this hash. Else two rows of a unit could change their last values for each other's,
true for false, and leave the sum as it was, in one unit of 2^24; and of a red, a blue and a green
row the same colour would be first in half of all units, whatever the salt.

Of a unit whose rows are others with the same sums, statements would read the rows of before. By
chance that is one of 2^64 changes; who knows how DuckDB hashes texts can write two with one hash.
Either way it is that unit's own rows, to which all limits apply, so that it is no matter of
privacy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from sqlglot import exp

from dpsql.engine.sidecar.contents import SIDECAR
from dpsql.engine.sidecar.row_columns import UNIT_COLUMN, SidecarTable

DIGEST_SCHEMA: Final = "digests"
"""The schema of the sidecar's tables with one digest for each of a table's units."""

ROW_COUNT: Final = "rows"
DIGEST: Final = "digest"

_UNIT: Final = f'"{UNIT_COLUMN}"'
_NOW: Final = '"digests now"'
_CHANGED: Final = '"units that changed"'

HAS_CHANGED: Final = f"{_UNIT} IN (FROM {_CHANGED})"
"""The condition on rows, and on digests, that their unit's rows aren't as they were."""

CHANGED_ROWS: Final = f"SELECT coalesce(sum(rows), 0)::BIGINT FROM {_NOW} WHERE {HAS_CHANGED}"  # noqa: S608
"""The statement that counts the rows that units that changed have now."""


_HASH_ROW: Final = "hash"
"""DuckDB's function of a hash of salt, unit and columns that gives a unit's rows their order."""


def row_hash(compared: Sequence[str], salt: str) -> str:
    """The SQL of a row's keyed hash, by the SQL expressions `compared` of its columns."""
    secret = exp.Literal.string(salt).sql("duckdb")
    return f"{_HASH_ROW}(hash({', '.join((secret, _UNIT, *compared))}))"


def stored_digests(name: str) -> exp.Table:
    """The sidecar's table with the digests of the units of the table of this `name`."""
    return exp.table_(name, db=DIGEST_SCHEMA, catalog=SIDECAR, quoted=True)


def find_changed(table: SidecarTable, salt: str) -> Iterator[str]:
    """The statements that find the units whose rows in the source aren't those of the sidecar."""
    yield f"CREATE TEMP TABLE {_NOW} AS {digests(table, salt)}"
    differ = " OR ".join(f"o.{c} IS DISTINCT FROM n.{c}" for c in (ROW_COUNT, DIGEST))
    stored = stored_digests(table.name).sql("duckdb")
    joined = f"{stored} AS o FULL JOIN {_NOW} AS n USING ({_UNIT})"
    yield f"CREATE TEMP TABLE {_CHANGED} AS SELECT {_UNIT} FROM {joined} WHERE {differ}"  # noqa: S608


FORGET_CHANGED: Final = (f"DROP TABLE {_NOW}", f"DROP TABLE {_CHANGED}")
"""The statements after which no unit is said to have changed."""


def digests(table: SidecarTable, salt: str) -> str:
    """The SELECT of the digests of a table's units, of the source's rows."""
    hashes = f"sum({row_hash(table.compared, salt)})"
    return (
        f"SELECT {_UNIT}, count(*)::UBIGINT AS {ROW_COUNT},"  # noqa: S608
        f" ({hashes} % {2**64})::UBIGINT AS {DIGEST} FROM ({table.rows}) GROUP BY {_UNIT}"
    )
