"""A table of values that differ between dialects, and statements with PostgreSQL's answers."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data.database import attached

FOLDER = Path(__file__).parent.parent.parent / "fixtures" / "pgwire" / "both"
COLUMNS = """id bigint, i integer, j integer, n bigint, s smallint, f double precision,
d numeric(10,2), t text, day date, ts timestamp, b boolean"""
ROWS = (FOLDER / "rows.sql").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Told:
    """Names and values in the text format."""

    names: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]

    def matches(self, other: Told) -> bool:
        """The same names, and the same values: a number is the same however many zeros end it."""
        mine, theirs = ([list(map(_number, row)) for row in told.rows] for told in (self, other))
        return self.names == other.names and mine == theirs


def _number(value: str | None) -> object:
    try:
        return None if value is None else round(float(value), 9)
    except ValueError:
        return value


def recorded() -> dict[str, Told]:
    """What PostgreSQL 15 answered."""
    found = json.loads((FOLDER / "answers.json").read_text(encoding="utf-8"))
    return {
        sql: Told(tuple(told["names"]), tuple(map(tuple, told["rows"])))
        for sql, told in found.items()
    }


def make(folder: Path) -> None:
    """The schema and its data, for dpsql."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(FOLDER / "schema.yaml", folder / "schema.yaml")
    with attached(folder / "data.duckdb") as connection:
        connection.execute(f"CREATE TABLE t ({COLUMNS}); {ROWS}")
        connection.execute("CREATE TABLE people AS SELECT i::BIGINT id FROM range(2000) r(i)")


def fill(connection: Any) -> None:
    """The same table, in PostgreSQL."""
    connection.execute(f"CREATE TEMPORARY TABLE t ({COLUMNS})")
    connection.execute(ROWS)


def asked(connection: Any, sql: str) -> Told:
    """What a server answers, in the text format."""
    import psycopg

    cursor = psycopg.ClientCursor(connection)
    cursor.execute(sql)
    result = cursor.pgresult
    assert result is not None
    names = tuple((result.fname(n) or b"").decode() for n in range(result.nfields))
    rows = tuple(
        tuple(
            None if (value := result.get_value(row, n)) is None else value.decode()
            for n in range(result.nfields)
        )
        for row in range(result.ntuples)
    )
    return Told(names, rows)
