"""Rows of a real server arrive as DuckDB's own values, whatever they are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from engine.postgres_world import Database, database

from dpsql.engine.opening import read_catalog
from dpsql.engine.postgres.engine import PostgresEngine
from dpsql.engine.source import PostgresSource, ServerTable
from dpsql.errors import ExecutionFailed, InternalError

# By the column's type: what is written, and what DuckDB says of it.
HOSTILE: dict[str, dict[str, str | None]] = {
    "smallint": {"32767": "32767", "-32768": "-32768"},
    "integer": {"2147483647": "2147483647", "-2147483648": "-2147483648"},
    "bigint": {"9223372036854775807": "9223372036854775807", "-9223372036854775808": None},
    "boolean": {"true": "true", "false": "false"},
    "numeric(12,2)": {
        "1.25": "1.25",
        "-0.00": "0.00",
        "9999999999.99": None,
        "-9999999999.99": None,
        "NaN": "NULL",
    },
    "numeric(18,0)": {"999999999999999999": None, "NaN": "NULL"},
    "numeric(19,19)": {
        "0.9999999999999999999": ".9999999999999999999",
        "-0.9999999999999999999": "-.9999999999999999999",
    },
    "numeric(38,10)": {"-9999999999999999999999999999.9999999999": None, "NaN": "NULL"},
    "numeric": {
        "1.5": "1.5",
        "NaN": "nan",
        "Infinity": "inf",
        "-Infinity": "-inf",
        "9" * 400: "inf",
        "9" * 131_072: "inf",
        "0." + "0" * 16_000 + "1": "0.0",
        "0.1": "0.1",
    },
    "real": {"1e-45": "1e-45", "NaN": "nan", "Infinity": "inf", "-Infinity": "-inf", "-0": "-0.0"},
    "double precision": {
        "5e-324": "5e-324",
        "1.7976931348623157e308": "1.7976931348623157e+308",
        "NaN": "nan",
        "Infinity": "inf",
        "-Infinity": "-inf",
        "-0": "-0.0",
    },
    "text": {
        "": "",
        " ": " ",
        "a\nb\t\\\x7f\u200d\ufeff": None,
        "👩‍👩‍👧": None,
        "\U0010ffff": None,
        "e\u0301": None,
        "'; DROP TABLE t; --": None,
        "é" * 3_000_000: None,
    },
    "character varying(5)": {"ab  ": "ab  ", "": ""},
    "character varying": {"\\N": "\\N"},
    "character(5)": {"ab  ": "ab", "": "", " a": " a"},
    "uuid": {
        "ffffffff-ffff-ffff-ffff-ffffffffffff": None,
        "00000000-0000-0000-0000-000000000000": None,
        "7c4b5c1a-0000-4000-8000-000000000001": None,
    },
    "date": {
        "infinity": "infinity",
        "-infinity": "-infinity",
        "4714-11-24 BC": "4714-11-24 (BC)",
        "0001-01-01": "0001-01-01",
        "1969-12-31": "1969-12-31",
        "5874897-12-31": "5874897-12-31",
    },
    "timestamp": {
        "infinity": "infinity",
        "-infinity": "-infinity",
        "4714-11-24 00:00:00 BC": "4714-11-24 (BC) 00:00:00",
        "1969-12-31 23:59:59.999999": None,
        "294246-12-31 23:59:59.999999": None,
        "294247-01-01": "NULL",
        "294276-12-31 23:59:59.999999": "NULL",
    },
    "timestamp(0)": {"2020-01-01 10:00:00": None},
    "timestamptz": {
        "infinity": "infinity",
        "-infinity": "-infinity",
        "4714-11-24 00:00:00+00 BC": "4714-11-24 (BC) 00:00:00",
        "2020-06-01 10:00:00.000001+02": "2020-06-01 08:00:00.000001",
        "294276-12-31 23:59:59.999999+00": "NULL",
    },
}
OFFERED = {
    "smallint": "SMALLINT",
    "integer": "INTEGER",
    "bigint": "BIGINT",
    "boolean": "BOOLEAN",
    "numeric": "DOUBLE",
    "real": "FLOAT",
    "double precision": "DOUBLE",
    "text": "VARCHAR",
    "character varying(5)": "VARCHAR",
    "character varying": "VARCHAR",
    "character(5)": "VARCHAR",
    "uuid": "UUID",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "timestamp(0)": "TIMESTAMP",
    "timestamptz": "TIMESTAMP WITH TIME ZONE",
}


@pytest.fixture(scope="module")
def world() -> Iterator[Database]:
    with database() as created:
        for number, (kind, values) in enumerate(HOSTILE.items()):
            created.run(f"CREATE TABLE t{number} (number integer, v {kind})")
            created.run(f"INSERT INTO t{number} VALUES (-1, NULL)")
            for index, text in enumerate(values):
                created.owner.execute(f"INSERT INTO t{number} VALUES ({index}, %s)", [text])
        created.run("CREATE TABLE empty (v text)", "CREATE TABLE bare ()")
        created.run("INSERT INTO bare DEFAULT VALUES", "INSERT INTO bare DEFAULT VALUES")
        created.run(
            "CREATE TABLE parts (k integer, v integer) PARTITION BY RANGE (k)",
            "CREATE TABLE low PARTITION OF parts FOR VALUES FROM (0) TO (10)",
            "CREATE TABLE high PARTITION OF parts FOR VALUES FROM (10) TO (20)"
            " PARTITION BY LIST (k)",
            "CREATE TABLE higher PARTITION OF high DEFAULT",
            "INSERT INTO parts SELECT n, n FROM generate_series(0, 19) AS n",
            'CREATE SCHEMA "Other Place"',
            'CREATE TABLE "Other Place"."Odd ""Name" ("a b" integer, "SELECT" text, "é" integer)',
            """INSERT INTO "Other Place"."Odd ""Name" VALUES (1, 'x', 2)""",
            "ANALYZE",
        )
        created.grant()
        yield created


def declared(kind: str) -> str:
    if kind.startswith("numeric("):
        return kind.replace("numeric", "DECIMAL")
    return OFFERED[kind].removesuffix(" WITH TIME ZONE")


@pytest.fixture(scope="module")
def hostile(world: Database) -> Iterator[PostgresEngine]:
    """An engine that reads all of them."""
    tables = (
        ServerTable(f"t{number}", (("number", "INTEGER"), ("v", declared(kind))))
        for number, kind in enumerate(HOSTILE)
    )
    with PostgresEngine(world.source(*tables)) as engine:
        yield engine


@pytest.mark.parametrize("kind", HOSTILE)
def test_each_value_is_duckdbs_own_or_null(hostile: PostgresEngine, kind: str) -> None:
    number = list(HOSTILE).index(kind)
    sql = f'SELECT CAST(v AS VARCHAR) AS v, typeof(v) AS k FROM "t{number}" ORDER BY number'
    read = hostile.execute(sql).table.to_pylist()
    wanted = [text if shown is None else shown for text, shown in HOSTILE[kind].items()]
    assert [row["v"] for row in read] == [None, *(None if v == "NULL" else v for v in wanted)]
    assert {row["k"] for row in read} == {declared(kind)}


CONVERTED = (
    ("bigint", "TINYINT"),
    ("bigint", "DECIMAL(5,1)"),
    ("integer", "UHUGEINT"),
    ("numeric", "DECIMAL(38,10)"),
    ("numeric", "HUGEINT"),
    ("numeric", "FLOAT"),
    ("numeric(12,2)", "DOUBLE"),
    ("numeric(38,10)", "INTEGER"),
    ("double precision", "BIGINT"),
    ("double precision", "DECIMAL(4,2)"),
    ("real", "SMALLINT"),
    ("date", "TIMESTAMP"),
    ("timestamp", "DATE"),
    ("timestamptz", "DATE"),
)


def test_a_value_that_its_declared_type_lacks_is_null(world: Database) -> None:
    declared_as: dict[str, list[str]] = {}
    for kind, to in CONVERTED:
        declared_as.setdefault(f"t{list(HOSTILE).index(kind)}", []).append(to)
    tables = (
        ServerTable(
            name,
            tuple((f"v{number}", to) for number, to in enumerate(types)),
            tuple((f"v{number}", "v") for number in range(len(types))),
        )
        for name, types in declared_as.items()
    )
    with PostgresEngine(world.source(*tables)) as engine:
        for name, types in declared_as.items():
            items = ", ".join(f"typeof(v{number})" for number in range(len(types)))
            kinds = engine.execute(f'SELECT DISTINCT {items} FROM "{name}"').table.to_pylist()
            assert [[*row.values()] for row in kinds] == [types]


def test_digits_of_a_numeric_without_scale_are_exact_where_a_decimal_is_declared(
    world: Database,
) -> None:
    world.run("CREATE TABLE IF NOT EXISTS exact AS SELECT 0.1234567890123456789012::numeric AS v")
    world.grant()
    with PostgresEngine(world.source(ServerTable("exact", (("v", "DECIMAL(38,22)"),)))) as engine:
        (read,) = engine.execute('SELECT CAST(v AS VARCHAR) FROM "exact"').table.column(0)
    assert read.as_py() == "0.1234567890123456789012"


def test_partitions_are_read_through_their_table(world: Database) -> None:
    table = ServerTable("parts", (("v", "INTEGER"),))
    with PostgresEngine(world.source(table)) as engine:
        (row,) = engine.execute('SELECT count(*) AS n, sum(v) AS s FROM "parts"').table.to_pylist()
        assert row == {"n": 20, "s": 190}
        assert engine.row_count_for_planning("parts") == 20


def test_names_are_quoted_and_rows_without_columns_are_counted(world: Database) -> None:
    odd = ServerTable(
        'Other Place.Odd "Name',
        (("a", "INTEGER"), ("word", "VARCHAR")),
        (("a", "a b"), ("word", "SELECT")),
    )
    bare, empty = ServerTable("bare", ()), ServerTable("empty", (("v", "VARCHAR"),))
    with PostgresEngine(world.source(odd, bare, empty)) as engine:
        read = engine.execute('SELECT a, word FROM "Other Place.Odd ""Name"').table
        assert read.to_pylist() == [{"a": 1, "word": "x"}]
        assert engine.execute('SELECT count(*) AS n FROM "bare"').table["n"][0].as_py() == 2
        assert engine.execute('SELECT count(v) AS n FROM "empty"').table["n"][0].as_py() == 0


def test_undeclared_tables_and_columns_are_not_there(world: Database) -> None:
    with PostgresEngine(world.source(ServerTable("t0", (("v", "SMALLINT"),)))) as engine:
        for sql in ('SELECT number FROM "t0"', 'SELECT 1 FROM "t1"'):
            with pytest.raises(ExecutionFailed):
                engine.execute(sql)


def test_only_one_select_runs_and_nothing_hides_a_table(world: Database) -> None:
    import pyarrow as pa

    with PostgresEngine(world.source(ServerTable("t0", (("v", "SMALLINT"),)))) as engine:
        for sql in ("SELECT 1; SELECT 2", "DROP TABLE t0", "SET threads = 9", ""):
            with pytest.raises(ExecutionFailed):
                engine.execute(sql)
        with pytest.raises(InternalError):
            engine.execute("SELECT 1", (), {"T0": pa.table({"v": [1]})})


def test_a_catalog_has_names_and_types_of_base_tables(world: Database) -> None:
    catalog = read_catalog(PostgresSource(world.url))
    assert catalog["parts"] == (("k", "INTEGER"), ("v", "INTEGER"))
    assert catalog['Other Place.Odd "Name'][0] == ("a b", "INTEGER")
    for number, kind in enumerate(HOSTILE):
        name = kind.replace("numeric(", "DECIMAL(")
        assert catalog[f"t{number}"][1] == ("v", OFFERED.get(kind, name)), kind


def test_a_snapshot_has_one_version_and_the_next_has_another(world: Database) -> None:
    world.run("DROP TABLE IF EXISTS moving", "CREATE TABLE moving (a integer, b integer)")
    world.run("INSERT INTO moving VALUES (1, 1)")
    world.grant()
    table = ServerTable("moving", (("a", "INTEGER"), ("b", "INTEGER")))
    count = 'SELECT count(a) AS n FROM "moving"'
    with PostgresEngine(world.source(table, ServerTable("t0", (("v", "SMALLINT"),)))) as engine:
        with engine.snapshot() as rows:
            rows.execute('SELECT count(*) FROM "t0"')
            world.run("INSERT INTO moving VALUES (2, 2)")
            assert rows.execute(count).table["n"][0].as_py() == 1
            world.run("INSERT INTO moving VALUES (3, 3)")
            # Another column has to be pulled, of the version that was begun with.
            assert rows.execute('SELECT sum(b) AS n FROM "moving"').table["n"][0].as_py() == 1
            assert rows.execute(count).table["n"][0].as_py() == 1
        assert engine.execute(count).table["n"][0].as_py() == 3
