"""A server whose ledger's disk is full answers what is stored, and charges nothing."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
from mounts import fill, small_disk
from pgwire.shop import command, make, served

STORED = "SELECT status, count(*) FROM orders GROUP BY status ORDER BY 1"


def test_a_server_on_a_full_disk_answers_what_is_stored(tmp_path: Path) -> None:
    schema = make(tmp_path / "shop")
    with small_disk(tmp_path / "disk", "8m") as disk:
        schema.write_text(f"{schema.read_text()}ledger: {disk / 'ledger.db'}\n")
        with served(tmp_path / "shop") as server:
            with psycopg.connect(server.dsn, autocommit=True) as first:
                answer = first.execute(STORED).fetchall()
            # Nobody is connected, so nobody but the server has the ledger open.
            filler = fill(disk)
            for _ in range(3):
                with psycopg.connect(server.dsn, autocommit=True) as later:
                    assert later.execute(STORED).fetchall() == answer
                    with pytest.raises(psycopg.Error, match="nothing was charged"):
                        later.execute("SELECT count(*) FROM orders WHERE qty > 3")
                    assert later.execute(STORED).fetchall() == answer
            filler.unlink()
            with psycopg.connect(server.dsn, autocommit=True) as later:
                assert later.execute("SELECT count(*) FROM orders WHERE qty > 3").fetchall()
        verified = command(tmp_path / "shop", "ledger", "verify", str(schema))
        assert verified.returncode == 0, verified.stderr
