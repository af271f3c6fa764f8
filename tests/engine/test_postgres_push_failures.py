"""What fails on a server that computes fails alike: one error without data, its charge stands."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from engine.postgres_world import PASSWORD, Database, database
from waiting import HANGS_AFTER

import dpsql
from dpsql.dbapi.connection import Connection
from dpsql.engine.postgres.connection import ServerConnection
from dpsql.errors import Error, ExecutionFailed, ExecutionStopped, SourceFault
from dpsql.session.run.charge_and_run import charge_and_run
from dpsql.session.session import Session

SCHEMA = """\
dataset: shop_{how}
source: {url}
version: 1
push_down: {how}
units:
  person: {{table: people, key: id}}
budget: {{epsilon: 60, delta: 1.0e-3, accounting: zcdp}}
per_query: {{epsilon: 1, max_epsilon: 1, delta: 1.0e-6}}
tables:
  people:
    unit: person
    key: id
    limits: {{groups: 1, rows_per_group: 1}}
    columns:
      id: {{type: integer, nullable: false}}
      age: {{type: integer, bounds: [0, 120]}}
  orders:
    unit: {{column: person, references: people.id}}
    limits: {{groups: 2, rows_per_group: 3}}
    columns:
      person: {{type: integer, nullable: false}}
      town: {{type: varchar, values: [Bonn, Kiel, Ulm], nullable: false}}
      word: {{type: varchar}}
      paid: {{type: "decimal(12,2)", bounds: [0, 10]}}
"""
COUNT = "SELECT town, count(*) AS n, sum(paid) AS total FROM orders GROUP BY town"
WORDS = "SELECT word, count(*) AS n FROM orders GROUP BY word"
PEOPLE, ORDERS = 500, 3000


@pytest.fixture(scope="module")
def world() -> Iterator[Database]:
    with database() as created:
        created.run(
            "CREATE TABLE people (id integer PRIMARY KEY, age integer)",
            f"INSERT INTO people SELECT n, n % 90 FROM generate_series(1, {PEOPLE}) AS n",
        )
        yield created


@pytest.fixture
def shop(world: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DPSQL_STATE", str(tmp_path / "state"))
    world.run(
        "DROP TABLE IF EXISTS orders, gone",
        "CREATE TABLE orders (person integer NOT NULL REFERENCES people, town text, word text,"
        " paid numeric(12,2))",
        "INSERT INTO orders SELECT 1 + n % 500, (ARRAY['Bonn', 'Kiel', 'Ulm'])[1 + n % 3],"
        f" 'canary-' || n % 7, 2.5 FROM generate_series(1, {ORDERS}) AS n",
    )
    world.grant()
    path = tmp_path / "shop.yaml"
    path.write_text(SCHEMA.format(url=world.url, how="always"))
    return path


def spent(connection: Connection) -> Fraction:
    return connection._session.balance().spent.amount


def before_it_computes(
    monkeypatch: pytest.MonkeyPatch, work: Callable[[ServerConnection], object]
) -> None:
    """`work` is done after all checks, when the server is about to compute."""
    original = ServerConnection.computed

    def then(server: ServerConnection, sql: str, parameters: list[str]) -> object:
        work(server)
        return original(server, sql, parameters)

    monkeypatch.setattr(ServerConnection, "computed", then)


def fails_alike(connection: Connection, sql: str = COUNT) -> ExecutionFailed:
    """It fails with a charge that stands, and says nothing of rows or of why."""
    before = spent(connection)
    with pytest.raises(ExecutionFailed, match="its charge stands") as raised:
        connection.execute(sql)
    for text in (str(raised.value), repr(raised.value)):
        for secret in ("canary", PASSWORD, "ERROR", "orders", "SQLSTATE", "division"):
            assert secret not in text
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None
    assert spent(connection) > before
    return raised.value


def is_exact(connection: Connection) -> None:
    """The ledger has one charge of what failed, and the next one is added to it."""
    once, loss = spent(connection), connection._session.compile(COUNT).loss
    assert loss is not None
    assert float(once) == pytest.approx(float(loss.amount), rel=1e-9)
    assert len(connection.execute(COUNT).fetchall()) == 3
    assert spent(connection) == 2 * once


def test_a_connection_that_is_killed_while_it_computes(
    world: Database, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with dpsql.connect(shop) as connection:

        def kill(_: ServerConnection) -> None:
            for pid in world.sessions():
                world.owner.execute("SELECT pg_terminate_backend(%s)", [pid])

        with monkeypatch.context() as patched:
            before_it_computes(patched, kill)
            assert isinstance(fails_alike(connection), ExecutionStopped)
        # It may do another time: whoever asks again pays again.
        is_exact(connection)


@pytest.mark.parametrize(
    ("change", "back"),
    [
        ("ALTER TABLE orders RENAME TO gone", "ALTER TABLE gone RENAME TO orders"),
        ("ALTER TABLE orders DROP COLUMN paid", "SELECT 1"),
        ("ALTER TABLE orders ENABLE ROW LEVEL SECURITY", "SELECT 1"),
        (
            "ALTER TABLE orders RENAME TO gone; CREATE VIEW orders AS SELECT * FROM gone",
            "DROP VIEW orders",
        ),
        ("GRANT INSERT ON orders TO {role}", "SELECT 1"),
    ],
)
def test_a_table_that_is_altered_between_planning_and_running(
    world: Database, shop: Path, monkeypatch: pytest.MonkeyPatch, change: str, back: str
) -> None:
    with dpsql.connect(shop) as connection:
        connection.execute("SELECT count(*) AS n FROM people")

        def then_altered(*arguments: object) -> object:
            world.run(*change.format(role=world.role).split(";"))
            return charge_and_run(*arguments)  # type: ignore[arg-type]

        with monkeypatch.context() as patched:
            patched.setattr("dpsql.session.session.charge_and_run", then_altered)
            try:
                assert isinstance(fails_alike(connection), ExecutionStopped)
            finally:
                world.run(back)


def test_a_table_is_locked_from_the_check_to_the_end(
    world: Database, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is checked is what is computed with: nobody can put another table in its place."""
    locked: list[int] = []
    before_it_computes(monkeypatch, lambda _: locked.append(world.locked("orders")))
    with dpsql.connect(shop) as connection:
        assert len(connection.execute(COUNT).fetchall()) == 3
    assert locked == [1]


def test_a_statement_that_is_cancelled(
    world: Database, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.run("ALTER TABLE orders ADD COLUMN slow integer")
    with dpsql.connect(shop) as connection:
        session: Session = connection._session
        waiting = threading.Event()

        def interrupted() -> None:
            assert waiting.wait(HANGS_AFTER)
            time.sleep(0.2)
            session.interrupt()

        original = ServerConnection.computed

        def slow(server: ServerConnection, sql: str, parameters: list[str]) -> object:
            waiting.set()
            return original(server, f"SELECT s.* FROM ({sql}) AS s, pg_sleep(60)", parameters)

        stopping = threading.Thread(target=interrupted)
        stopping.start()
        with monkeypatch.context() as patched:
            patched.setattr(ServerConnection, "computed", slow)
            started = time.monotonic()
            fails_alike(connection)
            assert time.monotonic() - started < 40
        stopping.join()
        until = time.monotonic() + 20
        while world.locked("orders") and time.monotonic() < until:
            time.sleep(0.05)
        assert not world.locked("orders")
        is_exact(connection)


def test_rows_that_no_rule_has_foreseen_fail_alike(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Were a statement not total, its error would quote a row: it is never repeated."""
    original = ServerConnection.computed

    def raising(server: ServerConnection, sql: str, parameters: list[str]) -> object:
        return original(
            server,
            f"SELECT s.* FROM ({sql}) AS s, (SELECT CAST(word AS integer) AS w"
            ' FROM "public"."orders") AS t WHERE w > 0',
            parameters,
        )

    monkeypatch.setattr(ServerConnection, "computed", raising)
    with dpsql.connect(shop) as connection:
        fails_alike(connection)


def test_a_server_that_is_gone_is_noticed_before_the_charge(world: Database, shop: Path) -> None:
    for how in ("always", "never"):
        shop.write_text(SCHEMA.format(url=world.url, how=how))
        with dpsql.connect(shop) as connection:
            assert len(connection.execute(COUNT).fetchall()) == 3
            before = spent(connection)
            world.run(f"ALTER ROLE {world.role} NOLOGIN")
            for pid in world.sessions():
                world.owner.execute("SELECT pg_terminate_backend(%s)", [pid])
            try:
                with pytest.raises(SourceFault, match="can't be reached"):
                    connection.execute(WORDS)
            finally:
                world.run(f"ALTER ROLE {world.role} LOGIN")
            assert spent(connection) == before
            # One whose connection alone is gone is reached by another, and nobody notices.
            connection.execute(WORDS).fetchall()
            assert spent(connection) > before


def test_both_ways_have_one_price_one_key_and_one_answer(world: Database, shop: Path) -> None:
    """An answer that was given by one way is given again, free, after the owner chose the other."""
    answers, prices = [], []
    for how in ("always", "never", "auto"):
        shop.write_text(SCHEMA.format(url=world.url, how=how).replace(f"shop_{how}", "shop"))
        with dpsql.connect(shop) as connection:
            answers.append(connection.execute(COUNT).fetchall())
            prices.append(spent(connection))
    assert answers[0] == answers[1] == answers[2]
    assert prices[0] == prices[1] == prices[2]


def test_ways_are_told_without_a_row_being_read(world: Database, shop: Path) -> None:
    told = {}
    for how in ("always", "never", "auto"):
        shop.write_text(SCHEMA.format(url=world.url, how=how))
        with dpsql.connect(shop) as connection:
            world.run("TRUNCATE orders", "ANALYZE orders")
            few = explained(connection)
            world.run("INSERT INTO orders SELECT 1, 'Ulm', 'x', 1 FROM generate_series(1, 20000)")
            world.run("ANALYZE orders")
            assert explained(connection) == few
            told[how] = few
    assert "on the server: the schema has push_down: always" in told["always"]
    assert "rows are pulled: the schema has push_down: never" in told["never"]
    for text in (told["always"], told["auto"]):
        assert "rows pulled, " in text
        assert "on the server, " in text


def explained(connection: Connection) -> str:
    rows = connection.execute(f"EXPLAIN PRIVACY (SQL) {COUNT}").fetchall()
    return "\n".join(str(row[0]) for row in rows)


def test_what_the_server_does_not_compute_is_pulled_and_its_name_is_told(
    shop: Path,
) -> None:
    sql = "SELECT count(*) AS n FROM orders WHERE regexp_matches(word, 'a.*7')"
    with dpsql.connect(shop) as connection:
        rows = connection.execute(f"EXPLAIN PRIVACY {sql}").fetchall()
        assert any("rows are pulled: regexp_matches" in str(row[0]) for row in rows)
        assert connection.execute(sql).fetchall()


def test_push_down_is_of_servers_alone(tmp_path: Path) -> None:
    path = tmp_path / "files.yaml"
    text = SCHEMA.format(url="data", how="always").replace("version: 1\n", "")
    path.write_text(text)
    with pytest.raises(Error, match="push_down"):
        dpsql.connect(path)
