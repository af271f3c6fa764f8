"""What the machine withholds is named: a source that is locked, memory that is limited."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pgwire.shop import environment, make
from waiting import HANGS_AFTER

from dpsql.engine.duckdb.catalog import read_catalog
from dpsql.engine.source import DuckDBSource

COUNT = "SELECT count(*) FROM orders"


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    return make(tmp_path / "shop", customers=20, orders=40)


@contextmanager
def writer(database: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has the file open for writing until its stdin ends."""
    hold = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print(); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(database)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        process.stdout.readline()
        yield process
        process.stdin.close()


def ask(schema: Path, *before: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*before, sys.executable, "-m", "dpsql.cli", "query", str(schema), COUNT],
        env=environment(schema.parent),
        capture_output=True,
        text=True,
        check=False,
        timeout=HANGS_AFTER,
    )


def test_a_source_that_a_writer_has_locked_is_told_with_the_way_out(schema: Path) -> None:
    with writer(schema.with_name("shop.duckdb")):
        found = ask(schema)
    assert found.returncode == 1
    assert "shop.duckdb is locked: another process has it open for writing" in found.stderr
    assert "name a copy of it as source:, or a folder of Parquet files" in found.stderr
    assert "sqlstate: 55006" in found.stderr


def test_a_writer_that_is_done_soon_is_waited_for(schema: Path) -> None:
    database = schema.with_name("shop.duckdb")
    with writer(database) as process:
        assert process.stdin is not None
        threading.Timer(0.5, process.stdin.close).start()
        assert "orders" in read_catalog(DuckDBSource(str(database)))


@pytest.mark.parametrize("mib", [300, 600, 1000])
def test_a_limit_of_address_space_is_named(schema: Path, mib: int) -> None:
    found = ask(schema, "prlimit", f"--as={mib * 1024 * 1024}")
    assert f"ulimit -v leaves this process {mib} MiB of address space" in found.stderr
    if found.returncode == 1:
        assert "fault of its own" not in found.stderr
