"""A server whose schema and data change while it runs; what it logs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from data.database import attached
from pgwire.pressure import connect, question
from pgwire.shop import Served, served

psycopg = pytest.importorskip("psycopg")


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path / "shop") as found:
        yield found


def test_the_schema_and_the_data_are_read_anew(shop: Served) -> None:
    with connect(shop) as connection:
        assert connection.execute("SELECT count(*) FROM regions").fetchone() == (4,)
        first = connection.execute(question(1)).fetchall()
        # Workers hold the file; its next version takes its place at once.
        other = shutil.copy(shop.folder / "shop.duckdb", shop.folder / "next.duckdb")
        with attached(other) as data:
            data.execute("INSERT INTO regions VALUES (5, 'region 5')")
        Path(other).replace(shop.folder / "shop.duckdb")
        assert connection.execute("SELECT count(*) FROM regions").fetchone() == (5,)
        assert connection.execute(question(1)).fetchall() != first or first
        text = shop.schema.read_text()
        shop.schema.write_text(text.replace("      score: {type: double, bounds: [0, 1]}\n", ""))
        with pytest.raises(psycopg.errors.UndefinedColumn):
            connection.execute("SELECT avg(score) FROM orders")
        shop.schema.write_text("dataset: [")
        assert connection.execute("SELECT count(*) FROM regions").fetchone() == (5,)


def test_nothing_of_a_result_or_a_parameter_is_logged(tmp_path: Path) -> None:
    with served(tmp_path / "shop") as server, connect(server) as connection:
        connection.execute("SELECT count(*) FROM orders WHERE status = %s", ("canary",))
        with pytest.raises(psycopg.Error):
            connection.execute("SELECT count(*) FROM orders WHERE qty = %s::int", ("canary",))
        connection.execute("SELECT name AS found FROM regions").fetchall()
    said = (tmp_path / "shop" / "log").read_text()
    assert "canary" not in said
    assert "region 1" not in said
