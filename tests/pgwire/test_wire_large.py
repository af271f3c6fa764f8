"""A server over two thousand tables: what it takes to start, and what each connection adds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from large import COLUMNS, TABLES, many_tables
from pgwire.pressure import memory
from pgwire.shop import served

from dpsql.pgwire.catalog import objects as catalogue
from dpsql.pgwire.catalog.catalog_database import contents
from dpsql.schema.load.load import load_schema
from dpsql.schema.qualified_name import identity

psycopg = pytest.importorskip("psycopg")

MOST_MEGABYTES, MOST_OF_A_CONNECTION = 500, 20


@pytest.mark.parametrize("tables", TABLES)
def test_many_tables_are_served(tmp_path: Path, tables: int) -> None:
    many_tables(tmp_path, tables)
    with served(tmp_path) as server:
        dsn = server.dsn
        with psycopg.connect(dsn, autocommit=True) as connection:
            asked = "SELECT count(*) FROM pg_attribute JOIN pg_class c ON c.oid = attrelid"
            assert connection.execute(
                f"{asked} WHERE relname = 't7' AND attnum > 0"
            ).fetchone() == (COLUMNS,)
            assert len(connection.execute("SELECT count(*) FROM t0").fetchall()) == 1
            before = memory(server) // 1024
            others = [psycopg.connect(dsn, autocommit=True) for _ in range(5)]
            for other in others:
                other.execute("SELECT count(*) FROM t0").fetchall()
                other.close()
            assert memory(server) // 1024 < before + 5 * MOST_OF_A_CONNECTION
        for process in (server.process.pid, *server.workers):
            status = Path(f"/proc/{process}/status").read_text()
            assert int(status.partition("VmHWM:")[2].split()[0]) // 1024 < MOST_MEGABYTES


@pytest.mark.parametrize("tables", TABLES)
def test_the_catalogue_looks_at_each_table_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tables: int
) -> None:
    schema = load_schema(many_tables(tmp_path, tables))
    looked: Counter[str] = Counter()

    def counted(name: str) -> tuple[str, str]:
        looked[name] += 1
        return identity(name)

    monkeypatch.setattr("dpsql.schema.qualified_name.identity", counted)
    listed = catalogue.listed(schema)
    assert set(looked.values()) == {1}
    found = contents(listed, ())
    # As Arrow streams they are compressed: most values stand in each row. PostgreSQL's own rows are
    # less than a megabyte.
    assert sum(map(len, found.tables.values())) < 2**20 + 100 * tables * COLUMNS
