"""`dpsql prepare` on a server: what it writes there is read, and nothing that was altered is."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit
from zlib import crc32

import psycopg
import pytest
from cli.cli_run import Run
from engine.postgres_world import PASSWORD, Database, database
from neighbor_search.share import in_turn
from notes.exact import exact_measurement
from pgwire.shop import environment, served
from privacy.seeded import SeededRandomness
from waiting import HANGS_AFTER

from dpsql.release.job import Job, run
from dpsql.schema.load.load import load_schema
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.preparing.server_sidecar import noted_sidecar, server_sidecar
from dpsql.session.session import Session
from dpsql.session.sidecar import sidecar_path
from dpsql.structs import replace

SHOP = """\
dataset: shop_{name}
source: {url}
version: {version}
push_down: always
units:
  person: {{table: people, key: id}}
budget: {{epsilon: 60, delta: 1.0e-3, accounting: zcdp}}
per_query: {{epsilon: 1, max_epsilon: 1, delta: 1.0e-6}}
tables:
  people:
    unit: person
    key: id
    columns:
      id: {{type: integer, nullable: false}}
      age: {{type: integer, bounds: [0, 120]}}
  orders:
    key: number
    unit: {{column: person, references: people.id}}
    columns:
      number: {{type: bigint, nullable: false}}
      person: {{type: integer}}
      town: {{type: varchar, values: [Bonn, Kiel, Ulm], nullable: false}}
  shop.items:
    key: id
    unit: {{column: order, references: orders.number}}
    limits: {{groups: 1, rows_per_group: 3, rows: 4}}
    columns:
      id: {{type: bigint, nullable: false}}
      order: {{type: bigint, source_name: "the order"}}
      word: {{type: varchar}}
      code: {{type: uuid}}
      paid: {{type: "decimal(12,2)", bounds: [0, 10]}}
"""
COUNT = "SELECT word, count(*) AS n, sum(paid) AS total FROM shop.items GROUP BY word"
JOINED = (
    "SELECT age < 40 AS young, count(*) AS n, sum(paid) AS total FROM shop.items AS i"
    ' JOIN orders AS o ON i."order" = o.number JOIN people AS p ON o.person = p.id GROUP BY young'
)
BESIDE = (
    "SELECT town, count(*) AS n FROM shop.items AS i"
    ' JOIN orders AS o ON i."order" = o.number WHERE paid > 9 GROUP BY town'
)
MAKER = "word-of-a-maker"


@pytest.fixture(scope="module")
def world() -> Iterator[Database]:
    with database() as created:
        maker = f"maker_{created.role}"
        created.run(
            "CREATE SCHEMA shop",
            "CREATE TABLE people (id integer PRIMARY KEY, age integer)",
            "INSERT INTO people SELECT n, n % 90 FROM generate_series(1, 50) AS n",
            "CREATE TABLE orders (number bigint PRIMARY KEY, person integer, town text)",
            "INSERT INTO orders SELECT n, nullif(n % 50, 7),"
            " (ARRAY['Bonn', 'Kiel', 'Ulm'])[1 + n % 3] FROM generate_series(1, 200) AS n",
            'CREATE TABLE shop.items (id bigint PRIMARY KEY, "the order" bigint, word text,'
            " code uuid, paid numeric(12,2))",
            "INSERT INTO shop.items SELECT n, nullif(n % 220, 3),"
            " 'canary-' || nullif(n % 7, 2), gen_random_uuid(),"
            " CASE WHEN n % 11 = 0 THEN numeric 'NaN' ELSE n % 13 END FROM"
            " generate_series(1, 900) AS n",
            f"CREATE ROLE {maker} LOGIN PASSWORD '{MAKER}'",
            f"GRANT CREATE ON DATABASE {created.owner.info.dbname} TO {maker}",
            f"GRANT USAGE ON SCHEMA shop TO {maker}",
            f"GRANT SELECT ON people, orders, shop.items TO {maker}",
        )
        created.grant()
        try:
            yield created
        finally:
            created.run(f"DROP OWNED BY {maker} CASCADE", f"DROP ROLE {maker}")


@pytest.fixture
def shop(world: Database, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A schema file with a dataset of its own, and so a sidecar of its own."""
    path = tmp_path / "schema.yaml"
    name = f"{crc32(request.node.name.encode()):x}"
    path.write_text(SHOP.format(url=world.url, version=1, name=name))
    return path


def maker(world: Database) -> str:
    """The connection string of the role that may create schemas."""
    return world.url_of(f"maker_{world.role}", MAKER)


def prepared(run: Run, world: Database, path: Path) -> str:
    """The name of the schema that was made."""
    ended = run("prepare", path, "--as", maker(world))
    assert ended.code == 0, ended.err
    assert MAKER not in ended.out + ended.err
    sidecar = server_sidecar(load_schema(path))
    assert sidecar is not None
    assert f"prepared shop.items in the schema {sidecar.space}" in ended.out
    return sidecar.space


def exact(session: Session, ready: CompiledStatement) -> list[dict[str, object]]:
    """What its releases have without noise; groups are drawn by one salt."""
    steps = tuple(
        replace(release.step, measurement=exact_measurement(release, threshold=1))
        for release in ready.releases
    )
    job = Job(engine_source(session.schema), steps)
    tables = run(job, session._context.execution.source(), SeededRandomness("salt"))
    return [row for name in sorted(tables) for row in tables[name].to_pylist()]


def answers(path: Path) -> list[tuple[tuple[str, ...], list[dict[str, object]]]]:
    """Keys and integers of both statements, in a session that begins now."""
    session = Session(load_schema(path))
    try:
        compiled = [session.compile(sql) for sql in (COUNT, JOINED)]
        return [
            (tuple(release.key for release in ready.releases), exact(session, ready))
            for ready in compiled
        ]
    finally:
        session.close()


def test_stored_rows_give_the_same_integers_under_the_same_keys(
    run: Run, world: Database, shop: Path, computed: list[str]
) -> None:
    before = answers(shop)
    assert not any("dpsql_prepared" in text for text in computed)
    computed.clear()
    space = prepared(run, world, shop)
    assert answers(shop) == before
    assert len(computed) == 2
    assert all(f'"{space}"."shop.items"' in text for text in computed)
    assert not any('"shop"."items"' in text or '"orders"' in text for text in computed)
    explained = run("explain", shop, COUNT)
    assert "of what is prepared" in explained.out
    checked = run("check", shop)
    assert f"prepared: shop.items, in the schema {space}" in checked.out


def test_it_holds_each_row_with_a_unit_once_and_counts_of_them(
    run: Run, world: Database, shop: Path
) -> None:
    space = prepared(run, world, shop)
    (differing,) = world.owner.execute(
        f'SELECT count(*) FROM (SELECT id, "the order" AS "order", person FROM shop.items'
        ' JOIN orders ON "the order" = number WHERE person IS NOT NULL) AS a'
        f' FULL JOIN "{space}"."shop.items" AS b USING (id, "order")'
        ' WHERE a.person IS DISTINCT FROM b."unit of the row"'
    ).fetchone() or (None,)
    assert differing == 0
    names = world.owner.execute(
        "SELECT attname FROM pg_attribute WHERE attnum > 0"
        f""" AND attrelid = '"{space}"."shop.items"'::regclass ORDER BY attnum"""
    ).fetchall()
    stored = ["id", "order", "word", "paid", "unit of the row", "rows of the unit"]
    assert [name for (name,) in names] == [*stored, "rows with word", "first of word"]
    miscounted = world.owner.execute(
        f"""SELECT count(*) FROM "{space}"."shop.items" AS i JOIN (
            SELECT "unit of the row", count(*) AS n FROM "{space}"."shop.items" GROUP BY 1
        ) AS u USING ("unit of the row") JOIN (
            SELECT "unit of the row", word, count(*) AS n,
                count(*) FILTER (WHERE "first of word") AS first
            FROM "{space}"."shop.items" GROUP BY 1, 2
        ) AS w ON w."unit of the row" = u."unit of the row" AND w.word IS NOT DISTINCT FROM i.word
        WHERE i."rows of the unit" <> u.n OR i."rows with word" <> w.n OR w.first <> 1"""
    ).fetchone()
    assert miscounted == (0,)


@pytest.mark.in_turn
def test_a_table_that_is_joined_for_more_than_units_is_read_as_it_is(
    run: Run, world: Database, shop: Path
) -> None:
    """The order says whose the item is: a join would be saved by neither way."""
    prepared(run, world, shop)
    explained = run("explain", shop, BESIDE)
    assert "on the server" in explained.out
    assert "of what is prepared" not in explained.out


def test_nobody_may_write_to_it_and_none_but_the_reader_may_read(
    run: Run, world: Database, shop: Path
) -> None:
    world.run(
        f"ALTER DEFAULT PRIVILEGES FOR ROLE maker_{world.role} GRANT ALL ON TABLES TO PUBLIC",
        f"ALTER DEFAULT PRIVILEGES FOR ROLE maker_{world.role} GRANT ALL ON SCHEMAS TO PUBLIC",
    )
    space = prepared(run, world, shop)
    rights = world.owner.execute(
        "SELECT DISTINCT grantee, privilege_type FROM information_schema.role_table_grants"
        " WHERE table_schema = %s",
        [space],
    ).fetchall()
    assert rights == [(world.role, "SELECT")]
    with (
        psycopg.connect(maker(world)) as connection,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        connection.execute(f'DELETE FROM "{space}"."shop.items"'.encode())


AT = '"{space}"."shop.items"'
ALTERED = {
    "dropped": ["DROP SCHEMA {space} CASCADE"],
    "a table dropped": [f"DROP TABLE {AT}"],
    "the record dropped": ['DROP TABLE {space}."made of"'],
    "emptied and filled again": [
        f"CREATE TABLE public.copied AS TABLE {AT}",
        f"TRUNCATE {AT}",
        f"INSERT INTO {AT} TABLE public.copied",
        "DROP TABLE public.copied",
    ],
    "replaced": [
        f"CREATE TABLE {{space}}.other AS TABLE {AT}",
        f"DROP TABLE {AT}",
        '''ALTER TABLE {space}.other RENAME TO "shop.items"''',
        f"ALTER TABLE {AT} ADD PRIMARY KEY (id)",
        f'ALTER TABLE {AT} ALTER COLUMN "unit of the row" SET NOT NULL',
        f"GRANT SELECT ON {AT} TO {{role}}",
        f"REVOKE INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER ON {AT} FROM CURRENT_USER",
    ],
    "replaced by a view": [
        f"ALTER TABLE {AT} RENAME TO other",
        f"CREATE VIEW {AT} AS TABLE {{space}}.other",
        f"GRANT SELECT ON {AT} TO {{role}}",
    ],
    "granted to the reader": [f"GRANT INSERT ON {AT} TO {{role}}"],
    "granted to its owner": [f"GRANT DELETE ON {AT} TO maker_{{role}}"],
    "granted to others": [f"GRANT UPDATE (paid) ON {AT} TO maker_{{role}}"],
    "granted to all": [f"GRANT DELETE ON {AT} TO PUBLIC"],
    "not granted": [f"REVOKE SELECT ON {AT} FROM {{role}}"],
    "another type": [f"ALTER TABLE {AT} ALTER COLUMN paid TYPE numeric(14,3)"],
    "another name": [f"ALTER TABLE {AT} RENAME COLUMN paid TO pays"],
    "no key": [f'ALTER TABLE {AT} DROP CONSTRAINT "shop.items_pkey"'],
    "rows without a unit": [f'ALTER TABLE {AT} ALTER COLUMN "unit of the row" DROP NOT NULL'],
    "row security": [f"ALTER TABLE {AT} ENABLE ROW LEVEL SECURITY"],
    "heirs": [f"CREATE TABLE {{space}}.heir () INHERITS ({AT})"],
    "a rule": [f"CREATE RULE r AS ON INSERT TO {AT} DO NOTHING"],
    "another stamp": ['UPDATE {space}."made of" SET stamp = md5(stamp)'],
    "another number of rows": ['UPDATE {space}."made of" SET row_count = 1 + row_count'],
    "a record of another form": [
        "ALTER TABLE {space}.\"made of\" ALTER COLUMN row_count TYPE text USING 'canary'"
    ],
}


@pytest.mark.parametrize("how", in_turn(((how, (how,)) for how in ALTERED), share=11))
def test_what_was_altered_is_not_read(
    how: str, run: Run, world: Database, shop: Path, computed: list[str]
) -> None:
    space = prepared(run, world, shop)
    of_rows = answers(shop)
    world.run(*(each.format(space=space, role=world.role) for each in ALTERED[how]))
    computed.clear()
    assert answers(shop) == of_rows
    assert len(computed) == 2
    assert not any("dpsql_prepared" in text for text in computed)


@pytest.mark.in_turn
def test_another_version_reads_none(
    run: Run, world: Database, shop: Path, computed: list[str]
) -> None:
    prepared(run, world, shop)
    shop.write_text(shop.read_text().replace("version: 1", "version: 2"))
    answers(shop)
    assert not any("dpsql_prepared" in text for text in computed)


@pytest.mark.in_turn
def test_it_is_noticed_and_noted_by_check(run: Run, world: Database, shop: Path) -> None:
    space, schema = prepared(run, world, shop), load_schema(shop)
    sidecar_path(schema).unlink()
    assert noted_sidecar(schema) is None
    assert "prepared: shop.items" in run("check", shop).out
    assert noted_sidecar(schema) is not None
    world.run(f"DROP SCHEMA {space} CASCADE")
    assert "prepared: none" in run("check", shop).out
    assert noted_sidecar(schema) is None
    assert "prepared" not in run("check", shop).out


@pytest.mark.in_turn
def test_a_running_server_reads_what_was_prepared_since(
    run: Run, world: Database, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that were changed under the version tell where they are read: 150 count, or none.

    Of noise of less than 20, so many are 70 with a probability of less than 1e-4.
    """
    monkeypatch.setenv("DPSQL_STATE", environment(tmp_path)["DPSQL_STATE"])
    count, turned = (
        "SELECT count(*) FROM shop.items",
        'UPDATE shop.items SET "the order" = -"the order"',
    )
    with (
        served(tmp_path, "--workers", "1") as server,
        psycopg.connect(server.dsn, autocommit=True) as client,
    ):
        explained = str(client.execute(f"EXPLAIN PRIVACY {count}").fetchall())
        assert "of what is prepared" not in explained
        prepared(run, world, shop)
        world.run(turned)
        try:
            explained = str(client.execute(f"EXPLAIN PRIVACY {count}").fetchall())
            assert "of what is prepared" in explained
            ((rows,),) = client.execute(count).fetchall()
        finally:
            world.run(turned)
        assert rows > 70


@pytest.mark.in_turn
def test_readers_have_the_tables_of_before_until_they_end(
    run: Run, world: Database, shop: Path
) -> None:
    space = prepared(run, world, shop)
    with psycopg.connect(world.url) as reader:
        reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        rows = reader.execute(f'SELECT count(*) FROM "{space}"."shop.items"'.encode()).fetchall()
        again = threading.Thread(target=prepared, args=(run, world, shop))
        again.start()
        deadline = time.monotonic() + HANGS_AFTER
        while not _waits(world) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert _waits(world)
        there = reader.execute(f'SELECT count(*) FROM "{space}"."shop.items"'.encode()).fetchall()
        assert there == rows
        reader.rollback()
        again.join(timeout=HANGS_AFTER)
        assert not again.is_alive()
    assert "prepared: shop.items" in run("check", shop).out


def _waits(world: Database) -> bool:
    rows = world.owner.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone()
    return rows is not None and rows[0] > 0


def test_who_may_not_prepare_is_told_what_to_do(run: Run, world: Database, shop: Path) -> None:
    refused = run("prepare", shop)
    assert "may not write" in refused.err
    assert "--as" in refused.err
    by_reader = run("prepare", shop, "--as", world.url)
    assert "may not create a schema" in by_reader.err
    space = prepared(run, world, shop)
    elsewhere = run(
        "prepare", shop, "--as", maker(world).replace(urlsplit(world.url).path, "/postgres")
    )
    assert "may not read" in elsewhere.err
    world.run(f"DROP SCHEMA {space} CASCADE", f"CREATE SCHEMA {space}")
    taken = run("prepare", shop, "--as", maker(world))
    assert "didn't write it" in taken.err
    world.run(f"DROP SCHEMA {space}")
    unknown = run("prepare", shop, "--as", f"mysql://joe:{MAKER}@h/d")
    assert "postgresql://OWNER@HOST/DATABASE" in unknown.err
    without_hops, _, _ = shop.read_text().partition("  shop.items:")
    shop.write_text(without_hops)
    none = run("prepare", shop, "--as", maker(world))
    assert "no table can be prepared" in none.err
    for ended in (refused, by_reader, elsewhere, taken, unknown, none):
        assert ended.code == 1
        assert not any(secret in ended.out + ended.err for secret in (MAKER, PASSWORD, "canary"))


def test_files_have_no_owner_on_a_server(run: Run, tmp_path: Path, fixtures: Path) -> None:
    text = (fixtures / "tpch" / "schema.yaml").read_text(encoding="utf-8")
    path = tmp_path / "schema.yaml"
    path.write_text(text)
    (tmp_path / "data").mkdir()
    ended = run("prepare", path, "--as", "postgresql://joe:canary-word@localhost/d")
    assert ended.code == 1
    assert "canary" not in ended.out + ended.err
