"""Engines that spill on a machine without DuckDB's httpfs, which package registries don't have.

What differs is the generator of keys alone: DuckDB's own, which it calls unsafe. It enciphers and
writes by the same code.
"""

from __future__ import annotations

import duckdb
import pytest

from dpsql.engine.duckdb import spill


def with_own_generator(connection: duckdb.DuckDBPyConnection) -> None:
    """In the place of `load_cipher`."""
    connection.execute("SET GLOBAL force_mbedtls_unsafe = true")


def spill_without_httpfs(monkeypatch: pytest.MonkeyPatch) -> None:
    """For the rest of a test; what an earlier one saw of the engine is forgotten."""
    spill._check_enciphered.cache_clear()
    monkeypatch.setattr(spill, "load_cipher", with_own_generator)
