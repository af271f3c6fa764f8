"""A sidecar is made of new data in the background, and read from the next statement on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from data.database import attached
from waiting import HANGS_AFTER

from dpsql.engine.atomic_file import alone
from dpsql.engine.sidecar.contents import SIDECAR
from dpsql.schema.load.load import load_schema
from dpsql.schema.model import Schema
from dpsql.session.preparing import renewal
from dpsql.session.preparing.renewal import Renewal, is_renewed
from dpsql.session.session import Session
from dpsql.session.sidecar import is_prepared, sidecar_path

SCHEMA = """\
dataset: shop
source: shop.duckdb
ledger: ledgers/shop.ledger
units: {buyer: {table: buyers, key: buyer}}
tables:
  buyers: {unit: buyer, key: buyer, columns: {buyer: {type: bigint}}}
  sales:
    unit: {column: buyer, references: buyers.buyer}
    limits: {groups: 3, rows_per_group: 4}
    columns:
      buyer: {type: bigint}
      kind: {type: varchar, values: [a, b]}
      price: {type: integer, bounds: [0, 9]}
budget: {epsilon: 8, delta: 1.0e-6, accounting: zcdp}
"""

BY_KIND = "SELECT kind, count(*), sum(price) FROM sales GROUP BY 1"
PREPARED = "prepared buyers, sales in "


@pytest.fixture
def path(tmp_path: Path) -> Path:
    fill(tmp_path, 500)
    (tmp_path / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    return tmp_path / "schema.yaml"


@pytest.fixture
def schema(path: Path) -> Schema:
    return load_schema(path)


def fill(folder: Path, rows: int) -> None:
    with attached(folder / "shop.duckdb") as connection:
        connection.execute("CREATE OR REPLACE TABLE buyers AS FROM range(40) r(buyer)")
        connection.execute(
            "CREATE OR REPLACE TABLE sales AS SELECT i % 40 AS buyer,"
            " chr((97 + i % 2)::INTEGER) AS kind, i % 12 AS price"
            f" FROM range({rows}) r(i)"
        )


def until(reached: Callable[[], bool]) -> None:
    """Wait for another process; a minute is for a machine that has much else to do."""
    for _ in range(1200):
        if reached():
            return
        time.sleep(0.05)
    raise AssertionError


def test_it_is_made_where_it_was_before_or_is_wanted_and_never_where_it_can_not_be(
    schema: Schema, path: Path
) -> None:
    assert [is_renewed(schema, wanted) for wanted in (None, False, True)] == [False, False, True]
    sidecar_path(schema).parent.mkdir(mode=0o700)
    sidecar_path(schema).write_bytes(b"older")
    assert [is_renewed(schema, wanted) for wanted in (None, False, True)] == [True, False, True]
    path.write_text(
        SCHEMA.replace("epsilon: 8", "sample: 0.1, epsilon: 8").replace("zcdp", "approx"),
        encoding="utf-8",
    )
    assert not is_renewed(load_schema(path), wanted=True)


def test_new_data_are_prepared_and_the_next_statement_reads_it_without_being_charged_again(
    path: Path, schema: Schema, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made() -> int:
        return sum(line.startswith(PREPARED) for line in told)

    monkeypatch.setattr(renewal, "_LOOK_SECONDS", 0.1)
    told: list[str] = []
    session = Session(schema)
    first = session.query(BY_KIND)
    assert SIDECAR not in sql_of(session)
    ready = Renewal(path, lambda: schema, True, told.append)
    ready.start()
    until(lambda: made() == 1)
    again = session.query(BY_KIND)
    assert SIDECAR in sql_of(session)
    assert again.table.equals(first.table)
    assert again.privacy.stored
    session.close()
    fill(path.parent, 700)
    until(lambda: made() == 2)
    ready.close()
    assert is_prepared(schema)
    assert all("500" not in line and "MB" not in line for line in told)


def sql_of(session: Session) -> str:
    (release,) = session.compile(BY_KIND).releases
    return release.step.query.sql


def test_closing_it_leaves_nothing_half_made(path: Path, schema: Schema) -> None:
    folder = sidecar_path(schema).parent
    told: list[str] = []
    with alone(folder, lambda: None):
        ready = Renewal(path, lambda: schema, True, told.append)
        ready.start()
        until(lambda: any("waiting for another process" in line for line in told))
        ready.close()
    assert [*folder.iterdir()] == []


def test_what_another_process_prepares_is_waited_for(tmp_path: Path) -> None:
    entered, waited, left = threading.Event(), threading.Event(), threading.Event()

    def wait() -> None:
        waited.set()
        time.sleep(0.01)

    def other() -> None:
        with alone(tmp_path, wait):
            entered.set()

    with alone(tmp_path, left.set):
        second = threading.Thread(target=other)
        second.start()
        assert waited.wait(HANGS_AFTER)
        assert not entered.is_set()
    second.join()
    assert entered.is_set()
    assert not left.is_set()
