"""Workers read a sidecar, whenever it was made, and go on without one."""

from __future__ import annotations

from pathlib import Path

import pytest
from pgwire.inner_command import command
from pgwire.pressure import connect
from pgwire.shop import make, served

pytest.importorskip("psycopg")

ASKED = "SELECT status, count(*) FROM orders WHERE qty < {} GROUP BY 1"


def test_a_sidecar_is_read_as_soon_as_it_is_there_and_no_longer(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    schema = make(folder)
    with served(folder) as server, connect(server) as connection:

        def is_prepared(number: int) -> bool:
            asked = ASKED.format(number)
            assert len(connection.execute(asked).fetchall()) > 1
            explained = connection.execute(f"EXPLAIN PRIVACY {asked}").fetchall()
            return any(", prepared)" in str(line) for line in explained)

        assert not is_prepared(10)
        made = command(folder, "prepare", str(schema))
        assert made.returncode == 0, made.stderr
        assert is_prepared(20)
        (sidecar,) = folder.rglob("*prepared.duckdb")
        sidecar.unlink()
        assert not is_prepared(30)
