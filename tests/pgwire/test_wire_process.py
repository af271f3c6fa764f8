"""Which process opens the data: only workers, whatever is asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pgwire.shop import Served, make

from dpsql.engine.duckdb import catalog
from dpsql.engine.duckdb.engine import DuckDBEngine
from dpsql.engine.source import DuckDBSource
from dpsql.pgwire.limits import Limits
from dpsql.pgwire.query_service import QueryService
from dpsql.pgwire.shared_dataset import Dataset


@pytest.fixture
def asking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[QueryService]:
    """A session in this process, which may open nothing but an empty engine."""
    path = make(tmp_path / "shop")
    # Types that the schema leaves out are read from the source.
    text = path.read_text().replace("age: {type: integer, bounds", "age: {bounds")
    path.write_text(text)
    start, attach = DuckDBEngine.__init__, catalog.attach

    def guarded_start(self: DuckDBEngine, source: DuckDBSource, **options: Any) -> None:
        assert source == DuckDBSource(), "the server opened the data"
        start(self, source, **options)

    def guarded_attach(connection: Any, source: DuckDBSource) -> None:
        assert source == DuckDBSource(), "the server opened the data"
        attach(connection, source)

    monkeypatch.setattr(DuckDBEngine, "__init__", guarded_start)
    monkeypatch.setattr(catalog, "attach", guarded_attach)
    dataset = Dataset(path, Limits(workers=1, catalog_workers=1))
    found = QueryService(dataset, "alice")
    try:
        yield found
    finally:
        found.close()
        dataset.close()


ASKED = {
    "SELECT status, count(*), avg(amount) FROM orders GROUP BY status": 5,
    "SELECT avg(age) FROM customers HAVING count(*) > 0 ORDER BY 1": 1,
    "SELECT name FROM regions": 4,
    "SELECT r.name, count(*) FROM orders o JOIN regions r USING (region_id) GROUP BY 1": 4,
    "SELECT * FROM orders LIMIT 1": 0,
    "SELECT region_id, n FROM (SELECT region_id, count(*) n FROM orders GROUP BY 1) x": 5,
    "SELECT relname FROM pg_class WHERE relname = 'orders'": 1,
}
"""Statements, and how many rows each has."""


def test_only_workers_open_the_data(asking: QueryService) -> None:
    for sql, rows in ASKED.items():
        query = asking.translate(sql)
        assert asking.columns(query, ())
        assert len(asking.query(query, {}).rows) == rows
    for sql in ("SHOW dpsql.budget", "EXPLAIN PRIVACY SELECT sum(qty) FROM orders"):
        assert asking.query(asking.translate(sql), {}).rows


def test_no_worker_waits_for_pandas(server: Served) -> None:
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.execute("SELECT status, count(*) FROM orders GROUP BY status")
    maps = [Path(f"/proc/{worker}/maps").read_text() for worker in server.workers]
    assert any("/pyarrow/" in files for files in maps)
    assert not any("/pandas/" in files for files in maps)
