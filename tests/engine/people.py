"""The source of these tests: people, in three forms, with a canary in every private row."""

from __future__ import annotations

from pathlib import Path

from dpsql.engine.source import DuckDBSource, SourceTable

CANARY = "canary-7f3a91c05e"
COLUMNS = (("id", "BIGINT"), ("word", "VARCHAR"), ("price", "DOUBLE"))


def source(files: Path, form: str) -> DuckDBSource:
    if form == "duckdb":
        return DuckDBSource(str(files / "people.duckdb"), (SourceTable("people", None, COLUMNS),))
    table = SourceTable("people", str(files / f"people.{form}"), COLUMNS)
    return DuckDBSource(None, (table,))
