"""What a sidecar's file has, and what making it would take, for the owner of the data."""

from __future__ import annotations

import datetime as dt
import io
import time
from collections.abc import Collection
from pathlib import Path
from typing import Final

from msgspec import Struct
from sqlglot import exp

from dpsql.emit.sql.identifier import schema_name
from dpsql.engine.engine import Engine
from dpsql.schema.model import Schema
from dpsql.session.sidecar import sidecar_path, sidecar_tables

_SAMPLED: Final = 20_000
"""Rows of each table that are written, to see how large they are, and how long it takes."""

_WORK: Final = 4
"""How many times as long preparing takes, by the clock, as one thread to write rows as Parquet.

Of TPC-H 3.5 times at scale 1 and 3.9 at scale 10. Reading the first rows isn't counted: most of it
is opening the file, which would be multiplied by how many times as long the file is.
"""


class PreparedFile(Struct, frozen=True):
    """The sidecar's file, its size in bytes, and when it was written."""

    path: Path
    size: int
    modified: dt.datetime


class Estimate(Struct, frozen=True):
    """The tables that would be prepared, and about how many rows, bytes and seconds these are."""

    tables: tuple[str, ...]
    rows: int
    size: int
    seconds: float


def prepared_file(schema: Schema) -> PreparedFile | None:
    """The sidecar's file as it is on disk, whatever it is of; None if there is none."""
    path = sidecar_path(schema)
    try:
        status = path.stat()
    except OSError:
        return None
    return PreparedFile(path, status.st_size, dt.datetime.fromtimestamp(status.st_mtime, dt.UTC))


def estimate(schema: Schema, engine: Engine) -> Estimate:
    """What preparing would take, by the first rows of each table; declared keys are believed.

    A file has about the size of its tables as Parquet: 1.14 times at scale 0.2 of TPC-H, 0.98 times
    at scale 1. Its rows are private: the estimate is for their owner alone.
    """
    keyed = frozenset(name for name, table in schema.tables.items() if table.key is not None)
    names = tuple(table.name for table in sidecar_tables(schema, keyed))
    return _sum(names, [_of_table(name, engine) for name in names])


def _sum(names: tuple[str, ...], tables: Collection[tuple[int, float, float]]) -> Estimate:
    rows, size, seconds = (sum(each[n] for each in tables) for n in range(3))
    return Estimate(names, int(rows), int(size), seconds)


def _of_table(name: str, engine: Engine) -> tuple[int, float, float]:
    """The rows, bytes and seconds of one table."""
    from pyarrow import parquet  # noqa: PLC0415 - slow to import

    table = exp.Table(this=schema_name(name))
    counted = exp.select(exp.Count(this=exp.Star())).from_(table).sql("duckdb")
    rows = int(engine.execute(counted).table.column(0)[0].as_py())
    first = engine.execute(exp.select("*").from_(table).limit(_SAMPLED).sql("duckdb")).table
    written = io.BytesIO()
    # By the processor's time, which doesn't count other work on the machine.
    began = time.thread_time()
    parquet.write_table(first, written)
    took = time.thread_time() - began
    times = rows / max(first.num_rows, 1)
    return rows, written.tell() * times, _WORK * times * took
