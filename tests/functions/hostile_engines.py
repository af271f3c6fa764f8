"""Two engines over one hostile source, which have to agree: as it is, and without optimizers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from functions import hostile

from dpsql.engine.duckdb import lockdown
from dpsql.engine.duckdb.engine import DuckDBEngine
from dpsql.errors import ExecutionFailed


class Engines:
    """The engine as it is, and one without optimizers, over the same source."""

    def __init__(self, folder: Path, source: str, world: int) -> None:
        found = hostile.write(folder, source, world)
        self.plain = DuckDBEngine(found, threads=1)
        with pytest.MonkeyPatch.context() as changed:
            everything = "SELECT string_agg(name, ',') FROM duckdb_optimizers()"
            ((names,),) = duckdb.execute(everything).fetchall()
            for settings in (lockdown.SEMANTIC_SETTINGS, lockdown.OWN_STATISTICS):
                changed.setitem(settings, "disabled_optimizers", f"'{names}'")
            self.literal = DuckDBEngine(found, threads=1)

    def failing(self, items: list[str], rows: str) -> list[str]:
        """Those that fail, or differ without optimizers, of values of `rows`."""
        try:
            if self.agree(f"SELECT {', '.join(items)} FROM {rows}"):
                return []
        except ExecutionFailed:
            pass
        if len(items) == 1:
            return [f"{items[0]} FROM {rows}"]
        half = len(items) // 2
        return self.failing(items[:half], rows) + self.failing(items[half:], rows)

    def agree(
        self, sql: str, salts: Sequence[str] = (), tables: Mapping[str, pa.Table] | None = None
    ) -> bool:
        """Whether both give the same rows; it fails if either does."""
        engines = (self.plain, self.literal)
        one, other = (engine.execute(sql, salts, tables or {}).table for engine in engines)
        return sorted(one.to_pylist(), key=str) == sorted(other.to_pylist(), key=str)

    def close(self) -> None:
        self.plain.close()
        self.literal.close()
