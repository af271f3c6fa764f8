"""Tables of which one unit is hostile: its values are as far out as their types allow.

Each type has two columns, so that pairs of hostile values meet. The tables are read by the engine
as an owner's are: from a DuckDB file, from Parquet with statistics, from CSV.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from data.database import attached
from functions.calls import TYPES
from functions.samples import extreme, ordinary

from dpsql.engine.source import DuckDBSource, SourceTable
from dpsql.schema.sql_type import Date, Decimal, Integer, SqlType, Timestamp, Varchar

KINDS: Final[tuple[SqlType, ...]] = (*TYPES, Decimal(38, 0), Decimal(38, 38))
SOURCES: Final = ("duckdb", "parquet", "csv")
MARK: Final = "qzq"
"""A text in whose place files have bytes that aren't UTF-8."""

FAR: Final = {
    Date(): ["9999-12-31", "300000-01-01", "0001-01-01"],
    Timestamp(): ["9999-12-31 23:59:59.999999", "0001-01-01 00:00:00"],
    Varchar(): [MARK, "\0", "a\0b", "x" * 100_000, "\U0010ffff", "300000-01-01", "9" * 400],
}


def values(kind: SqlType) -> list[str]:
    """What the hostile row may hold."""
    return [*FAR.get(kind, ()), *reversed(extreme(kind))]


WORLDS: Final = max(len(values(kind)) for kind in KINDS)
"""So many tables have every value in some hostile row."""


def name(kind: SqlType, *, other: bool = False) -> str:
    """The column of `kind`, or the other one of it."""
    return f"{'b' if other else 'a'}{KINDS.index(kind)}"


def columns() -> list[tuple[str, SqlType]]:
    """All columns but the unit's, with their types."""
    return [(name(kind, other=other), kind) for kind in KINDS for other in (False, True)]


def write(folder: Path, source: str, world: int) -> DuckDBSource:
    """Three units with ordinary rows, and one with two or three hostile ones.

    `listed` is the same table without them.
    """
    declared = [("u", "BIGINT"), *((column, str(kind)) for column, kind in columns())]
    typed = ", ".join(f"{column} {kind}" for column, kind in declared)
    path = folder / "hostile.duckdb"
    with attached(path) as made:
        for table in ("listed", "rows"):
            made.execute(f"CREATE TABLE {table} ({typed})")
            rows = [_ordinary(n) for n in range(6)]
            hostile = {0: None, world: None, world + 1: None} if table == "rows" else {}
            rows += map(_hostile, hostile)
            made.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(declared))})", rows)
            if source != "duckdb":
                # Parquet has no integers of 128 bits.
                wide = [c for c, k in columns() if isinstance(k, Integer) and k.bits == 128]
                narrowed = ", ".join(f"TRY_CAST({c} AS DECIMAL(38,0)) AS {c}" for c in wide)
                exact = f"* REPLACE ({narrowed})" if source == "parquet" else "*"
                file = folder / f"{table}.{source}"
                how = (
                    "parquet, COMPRESSION uncompressed"
                    if source == "parquet"
                    else "csv, HEADER, FORCE_QUOTE *"
                )
                made.execute(f"COPY (SELECT {exact} FROM {table}) TO '{file}' (FORMAT {how})")
                file.write_bytes(file.read_bytes().replace(MARK.encode(), b"\xff\xc3\xfe"))
    names = ("listed", "rows")
    if source == "duckdb":
        tables = tuple(SourceTable(table, None, tuple(declared)) for table in names)
        return DuckDBSource(str(path), tables)
    return DuckDBSource(
        None,
        tuple(SourceTable(t, str(folder / f"{t}.{source}"), tuple(declared)) for t in names),
    )


def _ordinary(row: int) -> list[object]:
    found = [
        plain[(row + other) % len(plain)]
        for plain in map(_ordinary_values, KINDS)
        for other in (False, True)
    ]
    return [row % 3, *found]


def _ordinary_values(kind: SqlType) -> list[str]:
    fractions = isinstance(kind, Decimal) and kind.scale == kind.precision
    return ["0", "0.5", "0.25"] if fractions else ordinary(kind)


def _hostile(world: int) -> list[object]:
    """Both columns of a type come around to all pairs of values that differ by their places."""
    found = [
        values(kind)[(world * (1 + other * place) + other) % len(values(kind))]
        for place, kind in enumerate(KINDS)
        for other in (False, True)
    ]
    return [3, *found]
