"""A server's source at each door: the command line, the console, PEP 249 and the server."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import yaml
from cli.cli_run import Run
from engine.postgres_world import PASSWORD, Database, database
from pgwire.shop import served

import dpsql
from dpsql.errors import ExecutionFailed, SourceFault
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.context import SessionContext
from dpsql.session.run.charge_and_run import Released, charge_and_run

SHOP = """\
dataset: shop
source: {url}
version: {version}
units:
  person: {{table: people, key: id}}
tables:
  people: {{key: id, unit: person, columns: {{age: {{bounds: [0, 100]}}}}}}
  orders:
    key: number
    unit: {{column: person, references: people.id}}
    limits: {{groups: 3, rows_per_group: 3, rows: 9}}
    columns:
      town: {{references: plant.towns.name, nullable: false}}
      paid: {{bounds: [0, 10]}}
  plant.towns: {{public: true, key: name}}
budget: {{epsilon: 60, delta: 1e-6, accounting: approx}}
per_query: {{epsilon: 10, delta: 1e-7}}
"""
PEOPLE, ORDERS = 300, 900
COUNT = "SELECT town, count(*) AS n, sum(paid) AS s FROM orders GROUP BY town ORDER BY town"


@pytest.fixture(scope="module")
def world() -> Iterator[Database]:
    with database() as created:
        created.run(
            "CREATE SCHEMA plant",
            "CREATE TABLE plant.towns (name text PRIMARY KEY, size integer)",
            "INSERT INTO plant.towns VALUES ('Bonn', 3), ('Kiel', 2), ('Ulm', 1)",
            "CREATE TABLE people (id bigint PRIMARY KEY, age integer, tags jsonb)",
            f"INSERT INTO people SELECT n, n % 90 FROM generate_series(1, {PEOPLE}) AS n",
            "CREATE TABLE orders (number bigint PRIMARY KEY,"
            " person bigint NOT NULL REFERENCES people, town text REFERENCES plant.towns,"
            " paid numeric(8,2))",
            f"INSERT INTO orders SELECT n, 1 + n % {PEOPLE},"
            " (ARRAY['Bonn', 'Kiel', 'Ulm'])[1 + n % 3], 2.5"
            f" FROM generate_series(1, {ORDERS}) AS n",
            "COMMENT ON TABLE people IS 'who buys'",
            "ANALYZE",
        )
        created.grant()
        yield created


@pytest.fixture
def shop(world: Database, tmp_path: Path) -> Path:
    path = tmp_path / "schema.yaml"
    path.write_text(SHOP.format(url=world.url, version=1))
    return path


def secret(text: str) -> bool:
    return any(part in text for part in (PASSWORD, "se%3Acret", "cret%2Fword"))


def test_init_writes_what_check_takes_once_its_owner_has_decided(
    world: Database, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "schema.yaml"
    ended = run("init", world.url, "-o", path)
    assert ended.code == 0
    assert "PGPASSWORD" in ended.err
    text = path.read_text()
    assert not secret(text + ended.err)
    assert "# tags: PostgreSQL jsonb, which is not read" in text
    drafted = yaml.safe_load(text)
    assert drafted["version"] == 1
    assert drafted["tables"]["people"]["comment"] == "who buys"
    assert drafted["tables"]["orders"]["columns"]["person"] == {
        "type": "bigint",
        "references": "people.id",
        "nullable": False,
    }
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    refused = run("check", path)
    assert refused.code == 1
    assert "says neither whose its rows are" in refused.err
    decided = text.replace(
        "    # unit: {column: person, references: people.id}",
        "    unit: {column: person, references: people.id}",
    )
    decided = decided.replace("    # unit: people", "    unit: people", 1)
    decided = decided.replace("# units:", "units:").replace("#   people:", "  people:")
    head, towns, rest = decided.partition("  plant.towns:\n")
    decided = head + towns + rest.replace("    # public: true", "    public: true", 1)
    path.write_text(decided)
    ended = run("check", path)
    assert ended.code == 0, ended.err
    assert ended.out.count("holds") == 3


def test_check_counts_and_verifies(world: Database, run: Run, shop: Path) -> None:
    ended = run("check", shop)
    assert ended.code == 0, ended.err
    assert ended.out.count("holds") == 3
    world.run("INSERT INTO people VALUES (1000001, 5)")
    world.run("ALTER TABLE orders ALTER person DROP NOT NULL")
    world.run("INSERT INTO orders VALUES (1000001, NULL, 'Ulm', 1)")
    try:
        ended = run("check", shop)
        assert f"orders: 1 of {ORDERS + 1} rows have no unit" in ended.out
    finally:
        world.run("DELETE FROM orders WHERE number > 1000000")
        world.run("DELETE FROM people WHERE id > 1000000")
        world.run("ALTER TABLE orders ALTER person SET NOT NULL")
    assert not secret(ended.out + ended.err)


def test_query_explain_console_and_prepare(run: Run, shop: Path) -> None:
    ended = run("query", shop, COUNT, "--format", "csv")
    assert ended.code == 0, ended.err
    rows = [line.split(",") for line in ended.out.strip().split("\n")[1:]]
    assert [town for town, _, _ in rows] == ["Bonn", "Kiel", "Ulm"]
    for _, count, total in rows:
        assert abs(int(count) - ORDERS / 3) < 30
        assert abs(float(total) - ORDERS / 3 * 2.5) < 100
    again = run("query", shop, COUNT, "--format", "csv")
    assert again.out == ended.out
    explained = run("explain", shop, COUNT)
    assert explained.code == 0
    listed = run("console", shop, stdin=b"\\l\nSELECT count(*) FROM people;\n")
    assert listed.code == 0, listed.err
    assert "source      postgresql:///" in listed.out
    public = run("query", shop, "SELECT name, size FROM plant.towns ORDER BY 1", "--format", "csv")
    assert public.out.split() == ["name,size", "Bonn,3", "Kiel,2", "Ulm,1"]
    whole = run("query", shop, "SELECT list(name ORDER BY name) AS l FROM plant.towns")
    assert whole.code == 0, whole.err
    prepared = run("prepare", shop)
    assert prepared.code == 1
    assert "may not write" in prepared.err
    for one in (ended, explained, listed, public, whole, prepared):
        assert not secret(one.out + one.err)


def test_a_version_is_stated_and_names_the_answers_that_are_stored(
    world: Database, run: Run, shop: Path
) -> None:
    shop.write_text(SHOP.format(url=world.url, version="null"))
    ended = run("query", shop, COUNT)
    assert ended.code == 1
    assert "a server doesn't tell which version of the data it has" in ended.err
    people = "SELECT count(*) AS n FROM people"
    answers = []
    for version in (1, 1, 2):
        shop.write_text(SHOP.format(url=world.url, version=version))
        answers.append(run("query", shop, people, "--format", "csv").out)
        if version == 1:
            world.run("INSERT INTO people VALUES (1000002, 5) ON CONFLICT DO NOTHING")
    world.run("DELETE FROM people WHERE id > 1000000")
    assert answers[0] == answers[1]
    assert "of 60" in run("budget", shop).out or run("budget", shop).code == 0


def test_a_server_that_is_gone_costs_nothing_before_the_charge(world: Database, shop: Path) -> None:
    with dpsql.connect(shop) as connection:
        world.run(f"ALTER ROLE {world.role} NOLOGIN")
        try:
            with pytest.raises(SourceFault, match="can't be reached") as raised:
                connection.execute(COUNT)
        finally:
            world.run(f"ALTER ROLE {world.role} LOGIN")
        assert not secret(str(raised.value))
        assert connection._session.balance().spent.amount == 0
        assert len(connection.execute(COUNT).fetchall()) == 3


def test_a_table_that_is_gone_after_the_charge_fails_as_anything_does(
    world: Database, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with dpsql.connect(shop) as connection:

        def then_renamed(
            context: SessionContext, sql: str, compiled: CompiledStatement
        ) -> Released:
            world.run("ALTER TABLE orders RENAME TO gone")
            return charge_and_run(context, sql, compiled)

        monkeypatch.setattr("dpsql.session.session.charge_and_run", then_renamed)
        try:
            with pytest.raises(ExecutionFailed, match="its charge stands") as raised:
                connection.execute(COUNT)
        finally:
            world.run("ALTER TABLE gone RENAME TO orders")
        assert "orders" not in str(raised.value)
        assert connection._session.balance().spent.amount > 0


@pytest.mark.usefixtures("shop")
def test_the_server_for_bi_tools_reads_it_in_its_workers(world: Database, tmp_path: Path) -> None:
    with (
        served(tmp_path, "--workers", "1") as server,
        psycopg.connect(server.dsn, autocommit=True) as client,
    ):
        rows = client.execute(COUNT).fetchall()
        assert [town for town, _, _ in rows] == ["Bonn", "Kiel", "Ulm"]
        assert all(math.isclose(n, ORDERS / 3, abs_tol=30) for _, n, _ in rows)
        assert client.execute("SELECT size FROM plant.towns WHERE name = 'Ulm'").fetchall() == [
            (1,)
        ]
        # What changed in between is refused while it is so, and read when it isn't.
        world.run("ALTER TABLE orders RENAME TO gone")
        with pytest.raises(psycopg.Error) as raised:
            client.execute("SELECT sum(paid) FROM orders")
        assert not secret(str(raised.value))
        world.run("ALTER TABLE gone RENAME TO orders")
        assert client.execute("SELECT sum(paid) AS total FROM orders").fetchone()
        for pid in world.sessions():
            world.owner.execute("SELECT pg_terminate_backend(%s)", [pid])
        assert client.execute("SELECT avg(age) AS mean FROM people").fetchone()
    log = (tmp_path / "log").read_text()
    assert "ended a statement" in log
    assert not secret(log)
