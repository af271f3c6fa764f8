"""Questions of the catalogue change nothing, reach nothing else, and take bounded time and room."""

from __future__ import annotations

import threading
from pathlib import Path

import duckdb
import pytest
from pgwire.asking import rows
from pgwire.shop import make
from sqlglot import exp, parse_one

from dpsql.engine.sandbox.database import Contents, Sandboxes, TooLargeAnswer
from dpsql.errors import Error, Refused
from dpsql.pgwire.catalog.allowlist import check
from dpsql.pgwire.catalog.relations import relations
from dpsql.pgwire.limits import Limits
from dpsql.pgwire.query_service import QueryService
from dpsql.pgwire.shared_dataset import Dataset

NAMES = "SELECT relname FROM pg_class WHERE relkind = 'r' ORDER BY 1"
CANCELLED, TOO_LARGE = "57014", "54000"
ENDLESS = "SELECT count(*) FROM pg_type a, pg_type b, pg_type c, pg_type d, pg_type e"


def refusal(asking: QueryService, sql: str) -> str:
    """The SQLSTATE with which `sql` ends."""
    with pytest.raises(Error) as raised:
        rows(asking, sql)
    return raised.value.sqlstate


WRITES = [
    "UPDATE pg_class SET relname = 'payroll' WHERE relname = 'orders' RETURNING relname",
    "DELETE FROM pg_class WHERE relname = 'orders' RETURNING relname",
    "INSERT INTO pg_class (relname, relkind) VALUES ('payroll', 'r') RETURNING relname",
]


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize(
    "around",
    [
        "WITH d AS ({}) SELECT relname FROM d",
        "WITH d AS ({}) SELECT relname FROM pg_class",
        "SELECT relname FROM pg_class WHERE relname IN (WITH d AS ({}) SELECT relname FROM d)",
    ],
)
def test_nobody_rewrites_the_catalogue(
    alice: QueryService, bob: QueryService, write: str, around: str
) -> None:
    before = rows(bob, NAMES)
    with pytest.raises(Error):
        rows(alice, around.format(write))
    assert rows(bob, NAMES) == rows(alice, NAMES) == before


@pytest.mark.parametrize("write", WRITES)
def test_the_list_has_no_writes(write: str) -> None:
    tree = parse_one(f"WITH d AS ({write}) SELECT relname FROM d", dialect="postgres")
    for node in list(tree.find_all(exp.Table)):
        node.this.set("this", next(iter(relations().values())).stored)
    with pytest.raises(Refused, match="can't have"):
        check(tree, frozenset())


@pytest.mark.filterwarnings("ignore:Arrow output")  # in a worker nobody reads it
@pytest.mark.parametrize("write", WRITES)
def test_workers_write_nothing_either(write: str) -> None:
    """What passed the list would still change nothing."""
    found = Sandboxes()
    table = "CREATE TABLE pg_class AS SELECT 'orders' AS relname, 'r' AS relkind"
    found.load(Contents("one", (table,), {}))
    with pytest.raises(duckdb.Error):
        found.answer("one", f"WITH d AS ({write}) SELECT relname FROM d", 10, 1000)
    assert found.answer("one", "SELECT relname FROM pg_class", 10, 1000).to_pylist() == [
        {"relname": "orders"}
    ]


@pytest.mark.filterwarnings("ignore:Arrow output")
@pytest.mark.parametrize(("rows", "size"), [(9, 10**6), (10, 100)])
def test_answers_end_at_so_many_rows_and_bytes(rows: int, size: int) -> None:
    found = Sandboxes()
    found.load(Contents("one", ("CREATE TABLE t AS SELECT range AS i FROM range(10)",), {}))
    with pytest.raises(TooLargeAnswer):
        found.answer("one", "SELECT i FROM t", rows, size)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM pg_class, read_csv('/etc/passwd')",
        "SELECT oid::text FROM pg_class UNION SELECT getenv('HOME')",
        "SELECT content, oid FROM pg_class, read_text('/etc/hostname')",
        "SELECT * FROM pg_class, '/etc/passwd'",
        "SELECT * FROM pg_class, duckdb_settings()",
        "SELECT * FROM pg_class, duckdb_functions() AS f",
        "SELECT * FROM pg_class, sqlite_master",
        "SELECT * FROM pg_class, main.duckdb_tables",
        (
            "WITH a AS (SELECT * FROM sqlite_master), sqlite_master AS (SELECT 1 AS x) "
            "SELECT a.* FROM a, pg_class"
        ),
        "SELECT * FROM pg_class, query('SELECT 1')",
        "SELECT * FROM pg_class, query_table('duckdb_settings')",
        "SELECT pg_sleep(1), nextval('s') FROM pg_class",
        "SELECT setseed(0.5) FROM pg_class",
        "SELECT write_log('x') FROM pg_class",
        "SELECT set_config('memory_limit', '1TB', false), getvariable('x')",
        "SELECT * INTO payroll FROM pg_class",
        "SELECT relname FROM pg_class FOR UPDATE",
        "SELECT COLUMNS('.*') FROM pg_class",
        "SELECT * FROM pg_class TABLESAMPLE SYSTEM (10)",
        "SELECT rowid FROM pg_class, glob('/*')",
    ],
)
def test_what_is_not_on_the_list_is_refused(alice: QueryService, sql: str) -> None:
    assert refusal(alice, sql) in {"0A000", "42883", "42P01", "42601", "42501"}


@pytest.mark.parametrize(
    ("sql", "states"),
    [
        (ENDLESS, {CANCELLED}),
        ("SELECT count(*) FROM generate_series(1, 1000000000000), pg_class", {CANCELLED}),
        ("SELECT * FROM pg_class, generate_series(1, 1000000000000)", {TOO_LARGE}),
        (
            (
                "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) "
                "SELECT count(*) FROM r, pg_class"
            ),
            {CANCELLED, TOO_LARGE},
        ),
        (
            (
                "SELECT count(*) FROM pg_type a JOIN pg_type b ON a.oid < b.oid "
                "JOIN pg_type c ON b.oid < c.oid JOIN pg_type d ON c.oid < d.oid "
                "JOIN pg_type e ON d.oid < e.oid JOIN pg_type f ON e.oid < f.oid"
            ),
            {CANCELLED, TOO_LARGE},
        ),
        ("SELECT repeat('x', 1000000000) FROM pg_class", {TOO_LARGE, "42883"}),
        ("SELECT lpad('x', 1000000000) FROM pg_type", {TOO_LARGE, "42883"}),
        ("SELECT * FROM pg_type a, pg_type b, pg_type c", {TOO_LARGE}),
        (
            "SELECT string_agg(a.typname || b.typname, ',') FROM pg_type a, pg_type b, pg_type c",
            {TOO_LARGE, CANCELLED},
        ),
        (
            "SELECT array_agg(a.oid) FROM pg_type a, pg_type b, pg_type c, pg_class d, pg_class e",
            {TOO_LARGE, CANCELLED},
        ),
        (f"SELECT {', '.join(['1'] * 2000)} FROM pg_class", {TOO_LARGE}),
        (
            "WITH a AS (SELECT * FROM pg_class)"
            + "".join(
                f", a{n} AS (SELECT * FROM a{n - 1 or ''} x, a{n - 1 or ''} y)"
                for n in range(1, 24)
            )
            + " SELECT * FROM a23",
            {TOO_LARGE},
        ),
        (
            "WITH a0 AS (SELECT 'xxxxxxxxxx' AS t FROM pg_class)"
            + "".join(
                f", a{n} AS (SELECT t || t || t || t AS t FROM a{n - 1})" for n in range(1, 20)
            )
            + " SELECT t FROM a19",
            {TOO_LARGE, CANCELLED},
        ),
    ],
)
def test_time_and_size_are_bounded(
    alice: QueryService, bob: QueryService, sql: str, states: set[str]
) -> None:
    assert refusal(alice, sql) in states
    assert ("orders",) in rows(bob, NAMES)


def test_a_long_question_holds_nobody_else_up(tmp_path: Path) -> None:
    """Nor do several of one analyst: one of them runs at a time. Each can be cancelled."""
    path = make(tmp_path, customers=20, orders=20)
    dataset = Dataset(path, Limits(workers=1, catalog_workers=2, catalog_seconds=120))
    alices, bob = [QueryService(dataset, "alice") for _ in range(3)], QueryService(dataset, "bob")
    ended: list[str] = []

    def ask(asking: QueryService) -> None:
        try:
            rows(asking, ENDLESS)
        except Error as error:
            ended.append(error.sqlstate)

    try:
        running = [threading.Thread(target=ask, args=(asking,)) for asking in alices]
        for thread in running:
            thread.start()
        assert ("orders",) in rows(bob, NAMES)
        assert not ended
        for asking, thread in zip(alices, running, strict=True):
            while thread.is_alive():
                # One that came before the question ran stops nothing.
                asking.cancel()
                thread.join(0.1)
        assert ended == [CANCELLED] * 3
        assert ("orders",) in rows(alices[0], NAMES)
    finally:
        for asking in (*alices, bob):
            asking.close()
        dataset.close()
