"""What failed was paid for once: asked again of the same data it is refused, free of charge."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpsql.engine.duckdb.engine import DuckDBEngine
from dpsql.errors import (
    ExecutionCancelled,
    ExecutionFailed,
    ExecutionStopped,
    FailedBefore,
    SourceFault,
)
from dpsql.release.job import Job
from dpsql.session.run import execution as module
from dpsql.session.session import Session

SHOP = """\
dataset: shop
source: data
tables:
  readings: {unit: row, columns: {value: {type: bigint, bounds: [0, 9]}, town: {type: varchar}}}
budget: {epsilon: 1, delta: 1e-6, accounting: approx}
per_query: {epsilon: 0.0625, delta: 1e-9}
ledger: ledger.db
"""
SUM = "SELECT sum(value) FROM readings"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DPSQL_STATE", str(tmp_path / "state"))
    (tmp_path / "data").mkdir()
    write(tmp_path, 5000)
    path = tmp_path / "schema.yaml"
    path.write_text(SHOP)
    return path


def write(folder: Path, rows: int) -> Path:
    table = pa.table(
        {"value": [n % 10 for n in range(rows)], "town": [f"town {n}" for n in range(rows)]}
    )
    file = folder / "data" / "readings.parquet"
    pq.write_table(table, file, use_dictionary=False, compression="zstd")
    return file


def corrupt(file: Path) -> None:
    """The first page of the first column says no longer what it is."""
    content = bytearray(file.read_bytes())
    content[20:120] = b"\xff" * 100
    file.write_bytes(content)


@pytest.fixture
def session(shop: Path) -> Iterator[Session]:
    found = Session(shop)
    yield found
    found.close()


def spent(session: Session) -> Fraction:
    return session.balance().spent.amount


def test_what_failed_isnt_charged_again(shop: Path) -> None:
    corrupt(shop.parent / "data" / "readings.parquet")
    with pytest.raises(ExecutionFailed, match="its charge stands"):
        ask(shop, SUM)
    for sql in [SUM] * 9 + ["SELECT sum(r.value) AS total FROM readings AS r"]:
        with pytest.raises(FailedBefore, match="nothing was charged"):
            ask(shop, sql)
    session = Session(shop)
    assert spent(session) == Fraction(1, 16)
    # Another column, which reads.
    assert session.query("SELECT count(*) FROM readings WHERE town IS NULL").table.num_rows == 1
    session._context.ledger.open().verify()
    session.close()
    # The owner mended it: that is another version of the data.
    write(shop.parent, 5001)
    assert ask(shop, SUM) == 1


def ask(shop: Path, sql: str) -> int:
    session = Session(shop)
    try:
        rows: int = session.query(sql).table.num_rows
        return rows
    finally:
        session.close()


@pytest.mark.parametrize(
    ("failure", "times"), [(ExecutionCancelled, 5), (ExecutionStopped, 3), (ExecutionFailed, 1)]
)
def test_only_what_may_do_another_time_is_tried_again(
    session: Session, monkeypatch: pytest.MonkeyPatch, failure: type[ExecutionFailed], times: int
) -> None:
    def fails(job: Job, *_: object) -> None:
        del job
        raise failure

    with monkeypatch.context() as patched:
        patched.setattr(module, "run", fails)
        for number in range(1, 6):
            with pytest.raises(failure if number <= times else FailedBefore):
                session.query(SUM)
            assert spent(session) == Fraction(min(number, times), 16)
    if times == 5:
        assert session.query(SUM).table.num_rows == 1
    else:
        with pytest.raises(FailedBefore):
            session.query(SUM)
    session._context.ledger.open().verify()


def test_what_was_cancelled_may_be_asked_again(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = session._context.execution.source()
    assert isinstance(engine, DuckDBEngine)
    run = DuckDBEngine._run

    def interrupted(self: object, *given: object, **named: object) -> object:
        import duckdb

        del self, given, named
        raise duckdb.InterruptException

    with monkeypatch.context() as patched:
        patched.setattr(DuckDBEngine, "_run", interrupted)
        for _ in range(2):
            with pytest.raises(ExecutionCancelled, match="its charge stands"):
                session.query(SUM)
    assert DuckDBEngine._run is run
    assert session.query(SUM).table.num_rows == 1


def test_a_missing_source_is_told_before_the_charge(shop: Path) -> None:
    shop.write_text(SHOP.replace("source: data\n", "source: data\nversion: 1\n"))
    session = Session(shop)
    (shop.parent / "data" / "readings.parquet").rename(shop.parent / "elsewhere")
    for _ in range(3):
        with pytest.raises(SourceFault):
            session.query(SUM)
    assert not spent(session)
    session.close()
