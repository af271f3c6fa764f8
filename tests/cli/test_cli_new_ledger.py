"""A new ledger is told, and who would get a second budget without knowing is refused."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from waiting import HANGS_AFTER

SCHEMA = """\
dataset: shop
source: data
tables:
  readings: {unit: row, columns: {value: {type: bigint, bounds: [0, 9]}}}
budget: {epsilon: 1, delta: 1e-6, accounting: approx}
per_query: {epsilon: 0.0625, delta: 1e-9}
"""
COUNT = "SELECT count(*) FROM readings"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("DPSQL_STATE", raising=False)
    (tmp_path / "data").mkdir()
    pq.write_table(pa.table({"value": [1, 2, 3]}), tmp_path / "data" / "readings.parquet")
    path = tmp_path / "schema.yaml"
    path.write_text(SCHEMA)
    return path


def dpsql(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dpsql.cli", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=HANGS_AFTER,
        env={**os.environ, **environment},
    )


def test_a_new_ledger_is_told_once(shop: Path, tmp_path: Path) -> None:
    state = str(tmp_path / "own")
    first = dpsql("query", str(shop), COUNT, DPSQL_STATE=state)
    assert first.returncode == 0
    assert f"new ledger of shop: {state}/shop/ledger.db" in first.stderr
    assert "another user, HOME or DPSQL_STATE has another ledger" in first.stderr
    again = dpsql("query", str(shop), COUNT, DPSQL_STATE=state)
    assert "ledger" not in again.stderr
    elsewhere = dpsql("query", str(shop), COUNT, DPSQL_STATE=str(tmp_path / "other"))
    assert f"new ledger of shop: {tmp_path}/other/shop/ledger.db" in elsewhere.stderr


def test_one_that_the_schema_names_is_everybodys(shop: Path, tmp_path: Path) -> None:
    shop.write_text(SCHEMA + "ledger: ledger.db\n")
    told = dpsql("query", str(shop), COUNT, DPSQL_STATE=str(tmp_path / "own")).stderr
    assert f"new ledger of shop: {tmp_path}/ledger.db" in told
    assert "another user" not in told


@pytest.mark.parametrize("command", ["query", "serve"])
def test_another_home_makes_no_second_budget(shop: Path, tmp_path: Path, command: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    arguments = [COUNT] if command == "query" else ["--port", "0"]
    ended = dpsql(command, str(shop), *arguments, HOME=str(home), XDG_STATE_HOME="")
    assert ended.returncode == 1
    assert "the budget would be spent twice" in ended.stderr
    assert f"HOME is {home}" in ended.stderr
    assert "write ledger: PATH" in ended.stderr
    assert not [path for path in home.rglob("*") if path.is_file()]


def test_another_users_schema_makes_no_second_budget(shop: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may give a file away")
    shop.write_text(SCHEMA.replace("shop", f"shop-{secrets.token_hex(8)}"))
    os.chown(shop, 65534, 65534)
    ended = dpsql("query", str(shop), COUNT)
    assert ended.returncode == 1
    assert "is another user's" in ended.stderr
