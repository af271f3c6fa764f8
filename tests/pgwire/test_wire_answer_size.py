"""A server gives no larger answer than its schema allows, and a worker sends no larger release."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
from pgwire.shop import make, served


def test_answers_over_the_limit_are_refused_and_the_connection_goes_on(tmp_path: Path) -> None:
    schema = make(tmp_path / "shop")
    text = schema.read_text()
    schema.write_text(text.replace("per_query: {", "per_query: {max_rows: 3, "))
    assert schema.read_text() != text
    with (
        served(tmp_path / "shop") as server,
        psycopg.connect(server.dsn, autocommit=True) as client,
    ):
        for sql, charged in (
            ("SELECT status, count(*) FROM orders GROUP BY status", "nothing was charged"),
            (
                "SELECT amount % 4, count(*) FROM orders GROUP BY 1",
                "what was charged",
            ),
        ):
            with pytest.raises(
                psycopg.errors.StatementTooComplex, match="3 rows and 1,000 MB"
            ) as refusal:
                client.execute(sql)
            assert charged in (refusal.value.diag.message_detail or "")
        assert len(client.execute("SELECT count(*) FROM orders").fetchall()) == 1
