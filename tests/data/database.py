"""Databases that tests make in one DuckDB of the process: one of its own takes 20 to 30 ms."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import duckdb

_NUMBERS = itertools.count()


@contextmanager
def attached(
    path: Path | str = ":memory:", *, read_only: bool = False
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to the database in a file, or to a new one in memory, until it is left.

    Settings of it alone may be changed. What is set for a whole DuckDB is for others, too: who does
    so connects to a DuckDB of his own.
    """
    connection = _duckdb(os.getpid()).cursor()
    name = f"made_{next(_NUMBERS)}"
    connection.execute(f"ATTACH '{path}' AS {name}{' (READ_ONLY)' * read_only}")
    try:
        connection.execute(f"USE {name}")
        yield connection
    finally:
        connection.execute(f"USE memory; DETACH {name}")
        connection.close()


@cache
def _duckdb(process: int) -> duckdb.DuckDBPyConnection:  # noqa: ARG001 - a fork has no threads of it
    return duckdb.connect()
