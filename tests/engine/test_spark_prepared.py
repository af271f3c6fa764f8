"""`dpsql prepare` on Spark: what it writes there is read, and nothing that was altered is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final
from zlib import crc32

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli.cli_run import Run
from emit.spark_server import url
from engine.spark_shop import before_it_computes, fails_alike
from engine.test_spark_source import exact
from neighbor_search.share import in_turn

import dpsql
from dpsql.engine.spark.session import SparkServerSession
from dpsql.engine.spark.sidecar.reading import is_bucketed
from dpsql.engine.spark.sidecar.record import read_record
from dpsql.schema.load.load import load_schema
from dpsql.session.preparing.server_sidecar import noted_sidecar, server_sidecar
from dpsql.session.session import Session
from dpsql.session.sidecar import sidecar_path

WIDE: Final = "{groups: 60, rows_per_group: 4000, rows: 4000}"
NARROW: Final = "{groups: 2, rows_per_group: 2, rows: 3}"
ONE: Final = "{groups: 1, rows_per_group: 1}"

SHOP: Final = """\
dataset: prepared_{name}
source: {url}/;folder={folder}
version: {version}
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
    key: number
    unit: {{column: person, references: people.id}}
    limits: {limits}
    columns:
      number: {{type: bigint, nullable: false}}
      person: {{type: integer}}
      town: {{type: varchar, values: [Bonn, Kiel, Ulm], nullable: false}}
  items:
    key: id
    unit: {{column: order, references: orders.number}}
    limits: {limits}
    columns:
      id: {{type: bigint, nullable: false}}
      order: {{type: bigint, source_name: "the order"}}
      word: {{type: varchar}}
      kind: {{type: varchar, values: [new, used], nullable: false}}
      paid: {{type: "decimal(12,2)", bounds: [0, 10]}}
      day: {{type: date, bounds: [2024-01-01, 2024-12-31]}}
  repairs:
    unit: {{column: item, references: items.id}}
    limits: {limits}
    columns:
      item: {{type: bigint}}
      what: {{type: varchar, values: [lid, hinge, lock], nullable: false}}
      hours: {{type: integer, bounds: [0, 9]}}
"""
COUNT: Final = "SELECT kind, count(*) AS n, sum(paid) AS total FROM items GROUP BY kind"
JOINED: Final = (
    'SELECT age < 40 AS young, sum(paid) AS total FROM items AS i JOIN orders AS o ON i."order" ='
    " o.number JOIN people AS p ON o.person = p.id GROUP BY young"
)
EXISTS: Final = (
    "SELECT count(*) AS n FROM items AS i WHERE EXISTS"
    " (SELECT 1 FROM repairs AS r WHERE r.item = i.id)"
)
STATEMENTS: Final = (
    COUNT,
    "SELECT word, count(*) AS n, sum(paid) AS total FROM items GROUP BY word",
    "SELECT count(*) AS n, avg(paid) AS a FROM items WHERE paid > 3",
    "SELECT month(day) AS m, count(*) AS n FROM items GROUP BY month(day)",
    "SELECT kind, median(paid) AS m FROM items GROUP BY kind",
    "SELECT kind, count(DISTINCT word) AS n FROM items GROUP BY kind",
    "SELECT what, count(*) AS n, sum(hours) AS h FROM repairs GROUP BY what",
    "SELECT count(*) AS n, avg(hours) AS h FROM repairs WHERE hours > 2",
    JOINED,
    "SELECT kind, sum(hours) AS h FROM repairs AS r JOIN items AS i ON r.item = i.id GROUP BY kind",
    EXISTS,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files in which references lead nowhere, or are NULL; some texts aren't UTF-8."""
    made = tmp_path_factory.mktemp("prepared")
    tables = {
        "people": "SELECT i::INTEGER AS id, (i % 90)::INTEGER AS age FROM range(50) t(i)",
        "orders": "SELECT i::BIGINT AS number,"
        " nullif(i % 50, 7)::INTEGER AS person,"
        " ['Bonn', 'Kiel', 'Ulm'][1 + i % 3] AS town FROM range(200) t(i)",
        "items": 'SELECT i::BIGINT AS id, nullif(i % 220, 3)::BIGINT AS "the order",'
        " 'canary-' || nullif(i % 7, 2) AS word, ['new', 'used'][1 + i % 2] AS kind,"
        " (i % 1300 / 100)::DECIMAL(12,2) AS paid,"
        " DATE '2024-01-01' + (i % 366)::INTEGER AS day FROM range(900) t(i)",
        "repairs": "SELECT (i % 1000)::BIGINT AS item, ['lid', 'hinge', 'lock'][1 + i % 3] AS what,"
        " (i % 12)::INTEGER AS hours FROM range(1500) t(i)",
    }
    for name, rows in tables.items():
        duckdb.execute(f"COPY ({rows}) TO '{made / name}.parquet'")
    items = pq.read_table(made / "items.parquet")
    words = [b"\xff" if n % 31 == 0 else b"\xfe" if n % 31 == 1 else w for n, w in _bytes(items)]
    number = items.column_names.index("word")
    odd = pa.array(words, pa.binary()).view(pa.string())
    pq.write_table(items.set_column(number, "word", odd), made / "items.parquet")
    return made


def _bytes(items: pa.Table) -> Iterator[tuple[int, bytes | None]]:
    for number, word in enumerate(items["word"].to_pylist()):
        yield number, None if word is None else word.encode()


@pytest.fixture
def shop(
    folder: Path,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    owner: SparkServerSession,
) -> Iterator[Path]:
    """A schema file with a dataset of its own, and so a sidecar of its own."""
    monkeypatch.setenv("DPSQL_STATE", str(tmp_path / "state"))
    path = tmp_path / "schema.yaml"
    _write(path, folder, f"{crc32(request.node.name.encode()):x}")
    yield path
    sidecar = server_sidecar(load_schema(path))
    assert sidecar is not None
    owner.run(f"DROP DATABASE IF EXISTS {sidecar.space} CASCADE")


def _write(path: Path, folder: Path, name: str, *, version: int = 1, limits: str = WIDE) -> None:
    path.write_text(
        SHOP.format(name=name, url=url(), folder=folder, version=version, limits=limits)
    )


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The releases' statements that Spark computes from now on."""
    texts: list[str] = []
    original = SparkServerSession.rows

    def noted(server: SparkServerSession, sql: str, *more: Mapping[str, str]) -> pa.Table:
        if "AS `s0`" in sql or "AS `g0`" in sql:
            texts.append(sql)
        return original(server, sql, *more)

    monkeypatch.setattr(SparkServerSession, "rows", noted)
    return texts


def prepared(run: Run, path: Path) -> str:
    """The name of the database that was made."""
    ended = run("prepare", path, "--as", url())
    assert ended.code == 0, ended.err
    sidecar = server_sidecar(load_schema(path))
    assert sidecar is not None
    assert f"prepared items, repairs in the database {sidecar.space}" in ended.out
    return sidecar.space


def answers(
    path: Path, statements: tuple[str, ...] = STATEMENTS
) -> list[tuple[tuple[str, ...], dict[str, pa.Table]]]:
    """Keys and integers of statements, in a session that begins now."""
    session = Session(load_schema(path))
    try:
        compiled = [session.compile(sql) for sql in statements]
        return [
            (tuple(release.key for release in ready.releases), exact(ready, session))
            for ready in compiled
        ]
    finally:
        session.close()


LIMITS: Final = {"narrow": NARROW, "wide": WIDE, "one": ONE}
PARTS: Final = 3


@pytest.mark.parametrize(
    ("limits", "statements"),
    in_turn(
        (
            (f"{name}-{turn}", (limits, STATEMENTS[turn::PARTS]))
            for name, limits in LIMITS.items()
            for turn in range(PARTS)
        ),
        len(LIMITS) * PARTS,
    ),
)
def test_stored_rows_give_the_same_integers_under_the_same_keys(
    run: Run, shop: Path, computed: list[str], limits: str, statements: tuple[str, ...]
) -> None:
    """Units whose limits bind are in the same groups: a hash of unit and group chooses them."""
    shop.write_text(shop.read_text().replace(WIDE, limits))
    before = answers(shop, statements)
    assert not any(" prepared`" in text for text in computed)
    computed.clear()
    prepared(run, shop)
    computed.clear()
    assert answers(shop, statements) == before
    of_stored = [text for text in computed if " prepared`" in text]
    assert len(of_stored) >= len(statements) - 1
    assert not any("`orders`" in text for text in of_stored if "`people`" not in text)


@pytest.mark.in_turn
def test_explain_and_check_tell_of_it(run: Run, shop: Path) -> None:
    explained = run("explain", shop, COUNT)
    assert "of what is prepared" not in explained.out
    space = prepared(run, shop)
    explained = run("explain", shop, COUNT)
    assert "of what is prepared" in explained.out
    schema = load_schema(shop)
    sidecar_path(schema).unlink()
    assert noted_sidecar(schema) is None
    assert f"prepared: items, repairs, in the database {space}" in run("check", shop).out
    assert noted_sidecar(schema) is not None


def relation(owner: SparkServerSession, path: Path, table: str = "items") -> str:
    """The name of the stored table."""
    sidecar = server_sidecar(load_schema(path))
    assert sidecar is not None
    recorded = read_record(owner, sidecar.space, sidecar.stamp)
    return f"{sidecar.space}.{recorded[table].relation}"


@pytest.mark.in_turn
def test_it_holds_the_rows_of_a_scan_with_counts_of_them(
    run: Run, shop: Path, owner: SparkServerSession, folder: Path
) -> None:
    """NULL and texts that are none are counted as one value."""
    prepared(run, shop)
    at = relation(owner, shop)
    rows = (
        f"SELECT i.*, o.person FROM parquet.`{folder}/items.parquet` AS i JOIN"
        f" parquet.`{folder}/orders.parquet` AS o ON i.`the order` = o.number"
        " WHERE o.person IS NOT NULL"
    )
    stored = "SELECT c0, c1, c2, c3, c4, c5, unit FROM " + at
    for one, other in ((rows, stored), (stored, rows)):
        left = f"SELECT id, `the order`, word, kind, paid, day, person FROM ({one})"
        left = left if one == rows else one
        right = f"SELECT id, `the order`, word, kind, paid, day, person FROM ({other})"
        right = right if other == rows else other
        assert owner.rows(f"{left} EXCEPT ALL {right}").num_rows == 0
    counted = (
        "SELECT unit_rows, COUNT(*) OVER (PARTITION BY unit) AS n, c8, COUNT(*) OVER (PARTITION BY"
        " unit, TRY_VALIDATE_UTF8(c2)) AS w, SUM(INT(c10)) OVER (PARTITION BY unit,"
        " TRY_VALIDATE_UTF8(c2)) AS marked"
    )
    wrong = f"SELECT * FROM ({counted} FROM {at}) WHERE unit_rows <> n OR c8 <> w OR marked <> 1"
    assert owner.rows(wrong).num_rows == 0


ALTERED: Final = {
    "dropped": ["DROP DATABASE {space} CASCADE"],
    "a table dropped": ["DROP TABLE {at}"],
    "the record dropped": ["DROP TABLE {space}.made_of"],
    "rows added": ["INSERT INTO {at} SELECT * FROM {at}"],
    "files replaced": [
        "CREATE TABLE {space}.copied USING parquet AS SELECT * FROM {at}",
        "INSERT OVERWRITE {at} SELECT * FROM {space}.copied",
    ],
    "replaced by a table without buckets": [
        "CREATE TABLE {space}.copied USING parquet AS SELECT * FROM {at}",
        "DROP TABLE {at}",
        "ALTER TABLE {space}.copied RENAME TO {at}",
    ],
    "replaced by a view": [
        "ALTER TABLE {at} RENAME TO {space}.other",
        "CREATE VIEW {at} AS SELECT * FROM {space}.other",
    ],
    "a column added": ["ALTER TABLE {at} ADD COLUMNS (more INT)"],
    "another record": [
        "ALTER TABLE {space}.made_of SET TBLPROPERTIES ('dpsql.record.0' = '5b5d')",
    ],
    "a record of another form": [
        "ALTER TABLE {space}.made_of SET TBLPROPERTIES ('dpsql.record.parts' = 'canary')",
    ],
}


@pytest.mark.parametrize("how", in_turn(((how, (how,)) for how in ALTERED), share=10))
def test_what_was_altered_is_not_read(
    how: str, run: Run, shop: Path, owner: SparkServerSession, computed: list[str]
) -> None:
    space = prepared(run, shop)
    of_rows = answers(shop, STATEMENTS[:1])
    assert any(" prepared`" in text for text in computed)
    at = relation(owner, shop)
    for each in ALTERED[how]:
        owner.run(each.format(space=space, at=at))
    computed.clear()
    assert answers(shop, STATEMENTS[:1]) == of_rows
    assert computed
    assert not any(" prepared`" in text for text in computed)
    noted = noted_sidecar(load_schema(shop))
    assert noted is not None
    assert "prepared: items" not in run("check", shop).out


DESCRIBED: Final = [
    ("c0", "bigint"),
    ("unit", "bigint"),
    ("", ""),
    ("# Detailed Table Information", ""),
    ("Type", "MANAGED"),
    ("Provider", "parquet"),
    ("Num Buckets", "4"),
    ("Bucket Columns", "[`unit`]"),
]


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("c0", "int"),
        ("Type", "EXTERNAL"),
        ("Provider", "csv"),
        ("Num Buckets", "2"),
        ("Bucket Columns", "[`c0`]"),
    ],
)
def test_it_is_in_buckets_as_the_catalog_tells(name: str, other: str) -> None:
    """A unit whose rows lie in two buckets would be limited in each of them."""
    columns = DESCRIBED[:2]
    assert is_bucketed(DESCRIBED, columns, 4)
    told = [(fact, other if fact == name else value) for fact, value in DESCRIBED]
    assert not is_bucketed(told, columns, 4)
    without = [(fact, value) for fact, value in DESCRIBED if fact != name]
    assert not is_bucketed(without, columns, 4)


@pytest.mark.in_turn
def test_a_record_that_is_sealed_otherwise_is_not_read(
    run: Run, shop: Path, owner: SparkServerSession, computed: list[str]
) -> None:
    space = prepared(run, shop)
    of_rows = answers(shop, STATEMENTS[:1])
    text = dict(owner.pairs(f"SHOW TBLPROPERTIES {space}.made_of"))["dpsql.record.0"]
    # The first digit of the seal, as JSON has it after a bracket and a quote.
    other = "31" if text[4:6] != "31" else "32"
    altered = f"{text[:4]}{other}{text[6:]}"
    owner.run(f"ALTER TABLE {space}.made_of SET TBLPROPERTIES ('dpsql.record.0' = '{altered}')")
    computed.clear()
    assert answers(shop, STATEMENTS[:1]) == of_rows
    assert not any(" prepared`" in sql for sql in computed)


@pytest.mark.in_turn
def test_another_version_reads_none(run: Run, shop: Path, computed: list[str]) -> None:
    prepared(run, shop)
    of_rows = answers(shop, STATEMENTS[:1])
    # A new version of the same rows has another key, and no other integers.
    shop.write_text(shop.read_text().replace("version: 1", "version: 2"))
    computed.clear()
    ((_, tables),) = answers(shop, STATEMENTS[:1])
    assert tables == of_rows[0][1]
    assert not any(" prepared`" in text for text in computed)


@pytest.mark.in_turn
def test_it_is_found_dropped_by_check(run: Run, shop: Path, owner: SparkServerSession) -> None:
    space = prepared(run, shop)
    owner.run(f"DROP DATABASE {space} CASCADE")
    assert "prepared: none" in run("check", shop).out
    assert noted_sidecar(load_schema(shop)) is None


@pytest.mark.in_turn
def test_preparing_again_leaves_one_set_of_tables(
    run: Run, shop: Path, owner: SparkServerSession
) -> None:
    space = prepared(run, shop)
    before = relation(owner, shop)
    prepared(run, shop)
    assert relation(owner, shop) != before
    tables = owner.pairs(f"SHOW TABLES IN {space}")
    assert len(tables) == 3


@pytest.mark.in_turn
def test_a_statement_that_reads_when_it_is_prepared_anew_fails_alike(
    run: Run,
    shop: Path,
    owner: SparkServerSession,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    prepared(run, shop)
    at = relation(owner, shop)
    with dpsql.connect(shop) as connection:
        connection.execute("SELECT count(*) AS n FROM people")
        capfd.readouterr()
        with monkeypatch.context() as patched:
            before_it_computes(patched, lambda _: owner.run(f"DROP TABLE {at}"))
            fails_alike(connection, COUNT, capfd)


@pytest.mark.in_turn
def test_files_that_change_while_it_is_read(
    run: Run,
    shop: Path,
    owner: SparkServerSession,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Files that are written in place, with other times: nothing else would tell of them."""
    prepared(run, shop)
    name = relation(owner, shop)
    files = [
        Path(str(path).removeprefix("file:"))
        for path in owner.rows(f"SELECT DISTINCT input_file_name() AS f FROM {name}")[
            "f"
        ].to_pylist()
    ]
    with dpsql.connect(shop) as connection:
        connection.execute("SELECT count(*) AS n FROM people")
        capfd.readouterr()
        with monkeypatch.context() as patched:
            before_it_computes(patched, lambda _: files[0].touch())
            fails_alike(connection, COUNT, capfd)


def test_who_can_not_prepare_is_told_what_to_do(
    run: Run, shop: Path, owner: SparkServerSession
) -> None:
    refused = run("prepare", shop)
    assert "--as sc://HOST:PORT" in refused.err
    unknown = run("prepare", shop, "--as", "postgresql://joe:canary-word@h/d")
    assert "write --as sc://HOST:PORT" in unknown.err
    sidecar = server_sidecar(load_schema(shop))
    assert sidecar is not None
    space = sidecar.space
    owner.run(f"CREATE DATABASE {space}")
    owner.run(f"CREATE TABLE {space}.mine USING parquet AS SELECT 1 AS one")
    taken = run("prepare", shop, "--as", url())
    assert "didn't write them" in taken.err
    assert owner.rows(f"SELECT * FROM {space}.mine").num_rows == 1
    for ended in (refused, unknown, taken):
        assert ended.code == 1
        assert "canary" not in ended.out + ended.err


@pytest.mark.in_turn
def test_a_table_whose_rows_lead_to_several_is_not_prepared(
    run: Run, shop: Path, folder: Path, tmp_path: Path
) -> None:
    """Two orders of one number would make two of each of its items."""
    for file in folder.glob("*.parquet"):
        (tmp_path / file.name).symlink_to(file)
    (tmp_path / "orders.parquet").unlink()
    duckdb.execute(
        f"COPY (FROM '{folder}/orders.parquet' UNION ALL FROM '{folder}/orders.parquet'"
        f" WHERE number = 5) TO '{tmp_path}/orders.parquet'"
    )
    shop.write_text(shop.read_text().replace(str(folder), str(tmp_path)))
    refused = run("prepare", shop, "--as", url())
    assert refused.code == 1
    assert "items can't be prepared: its rows would not be there once each" in refused.err
    assert noted_sidecar(load_schema(shop)) is None
