"""Files that version 0.1 wrote: its ledger, anchor, users and schema, in fixtures/ledger_0_1."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from ledger.medium import read_only
from pgwire.inner_command import command
from pgwire.shop import FIXTURES, make

OF_0_1 = FIXTURES.parent / "ledger_0_1"
LAST = "8:d84e7c6a0006ef972a57f92444a62b4776097012c4070cf91607dfcb3e3abb4c"
"""The receipt of its last entry."""

KEPT = {"cancelled": "20", "new": "35", "paid": "15", "shipped": "-48", "NULL": "-44"}


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    """The files where 0.1 left them, and a source beside them."""
    folder = tmp_path / "shop"
    make(folder, customers=20, orders=40)
    (folder / "state" / "anchors").mkdir(parents=True)
    for name, to in {
        "schema.yaml": "schema.yaml",
        "ledger.db": "ledger.db",
        "users": "users",
        "shop.anchor": "state/anchors/shop.anchor",
    }.items():
        shutil.copyfile(OF_0_1 / name, folder / to)
        (folder / to).chmod(0o600)
    return folder / "schema.yaml"


def test_a_ledger_of_0_1_is_in_order_and_goes_on(schema: Path) -> None:
    folder = schema.parent
    found = command(folder, "ledger", "verify", str(schema), "--receipt", LAST)
    assert found.returncode == 0, found.stderr
    assert "spent: epsilon = 0.772579; 3 answers kept" in found.stdout
    kept = command(folder, "query", str(schema), "SELECT status, n FROM kept_0_1")
    assert kept.returncode == 0, kept.stderr
    assert dict(re.findall(r"^(\w+) +(-?\d+)$", kept.stdout, re.MULTILINE)) == KEPT
    asked = command(folder, "query", str(schema), "SELECT count(*) AS n FROM orders WHERE qty < 9")
    assert asked.returncode == 0, asked.stderr
    after = command(folder, "ledger", "verify", str(schema), "--receipt", LAST)
    assert after.returncode == 0, after.stderr
    assert "4 answers kept" in after.stdout


def test_users_of_0_1_are_read(schema: Path) -> None:
    users = str(schema.with_name("users"))
    found = command(schema.parent, "user", "list", str(schema), "--users", users)
    assert found.stdout == "alice\n", found.stderr


def test_budget_and_verify_read_a_medium_that_cant_be_written(schema: Path) -> None:
    folder = schema.parent
    # Where it can be written it is taken on, if its format is an older one.
    assert command(folder, "ledger", "verify", str(schema)).returncode == 0
    with read_only(folder):
        verified = command(folder, "ledger", "verify", str(schema), "--receipt", LAST)
        told = command(folder, "budget", str(schema))
        charged = command(folder, "query", str(schema), "SELECT count(*) FROM orders")
    assert verified.returncode == 0, verified.stderr
    assert "in order" in verified.stdout
    assert told.returncode == 0, told.stderr
    assert "epsilon 0.772579 spent of 60" in told.stdout
    assert charged.returncode == 1
    assert "ledger.db" in charged.stderr
    assert "writ" in charged.stderr


def test_a_ledger_that_was_set_back_is_told_on_any_medium(schema: Path) -> None:
    folder = schema.parent
    assert command(folder, "ledger", "verify", str(schema)).returncode == 0
    older = (folder / "ledger.db").read_bytes()
    sql = "SELECT count(*) AS n FROM orders WHERE qty < 9"
    assert command(folder, "query", str(schema), sql).returncode == 0
    (folder / "ledger.db").write_bytes(older)
    with read_only(folder):
        for words in (("ledger", "verify"), ("budget",)):
            found = command(folder, *words, str(schema))
            assert found.returncode == 1
            assert "rolled back" in found.stderr or "more lines" in found.stderr
