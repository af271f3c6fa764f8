"""The record of a sidecar: its stamp, and of each table which one it is, and its files.

It is written last, at once: as properties of a table without rows. Its stamp is sealed together
with all the rest, so that no part of a record can be altered alone. Files are known by a digest of
their paths, times and lengths. Spark gives each file that it writes a name of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Final

import msgspec

from dpsql.engine.digest import Digest, digest_of, encoded
from dpsql.engine.spark.session import Relation, SparkServerSession
from dpsql.engine.spark.tables import quoted

RECORD: Final = "made_of"
"""The table whose properties are the record."""

CATALOG: Final = "spark_catalog"
"""The catalog that every Spark has, and whose tables have buckets."""

_PROPERTY: Final = "dpsql.record."
"""Catalogs take properties of up to 4,000 characters: each has a part of the record."""

_PART: Final = 2000


class RecordedTable(msgspec.Struct, frozen=True, array_like=True):
    """What is stored of the table `name`: in which `relation`, of how many `buckets`.

    `files` is a digest of its files.
    """

    name: str
    relation: str
    buckets: int
    files: Digest


class _Record(msgspec.Struct, frozen=True, array_like=True):
    sealed: Digest
    tables: tuple[RecordedTable, ...]


def database(space: str) -> str:
    """The database of a sidecar, as SQL names it."""
    return f"{quoted(CATALOG)}.{quoted(space)}"


def located(space: str, relation: str) -> Relation:
    """A table of the sidecar."""
    return Relation(f"{database(space)}.{quoted(relation)}", is_path=False)


def files_digest(session: SparkServerSession, view: str) -> Digest:
    """A digest of the files that `view` reads, as they are now."""
    return digest_of(
        "files of a stored table", *sorted(encoded(tuple(file)) for file in session.files(view))
    )


def read_record(session: SparkServerSession, space: str, stamp: str) -> Mapping[str, RecordedTable]:
    """The tables of the record; none if it has another stamp, or was altered."""
    rows = dict(session.pairs(f"SHOW TBLPROPERTIES {located(space, RECORD).name}"))
    with suppress(KeyError, ValueError):
        parts = [rows[f"{_PROPERTY}{n}"] for n in range(int(rows[f"{_PROPERTY}parts"]))]
        record = msgspec.json.decode(bytes.fromhex("".join(parts)), type=_Record)
        if record.sealed == _sealed(stamp, record.tables):
            return {table.name: table for table in record.tables}
    return {}


def write_record(
    session: SparkServerSession, space: str, stamp: str, tables: Iterable[RecordedTable]
) -> None:
    """Replace the record by that of `tables`."""
    record = _Record(_sealed(stamp, tables := tuple(tables)), tables)
    # As digits: Spark hides values that have words such as "url" or "token" in them.
    text = msgspec.json.encode(record).hex()
    parts = [text[start : start + _PART] for start in range(0, len(text), _PART)]
    properties = {f"{n}": part for n, part in enumerate(parts)} | {"parts": f"{len(parts)}"}
    shown = ", ".join(f"'{_PROPERTY}{name}' = '{value}'" for name, value in properties.items())
    at = located(space, RECORD).name
    session.run(f"CREATE TABLE IF NOT EXISTS {at} (nothing INT) USING parquet")
    session.run(f"ALTER TABLE {at} SET TBLPROPERTIES ({shown})")


def _sealed(stamp: str, tables: Iterable[RecordedTable]) -> Digest:
    """A digest of the stamp and the tables of the record."""
    texts = (encoded((each.name, each.relation, each.buckets, each.files)) for each in tables)
    return digest_of("sealed stamp on Spark", stamp, *texts)
