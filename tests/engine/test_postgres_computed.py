"""What a server computes: of columns as they are declared, by claims that hold for any role."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pyarrow as pa
import pytest
from engine.postgres_world import Database, database

from dpsql.engine.opening import supported
from dpsql.engine.postgres import semantics
from dpsql.engine.postgres.connection import transaction
from dpsql.engine.postgres.engine import PostgresEngine
from dpsql.engine.postgres.pushed_columns import pushed_reading, storage_type
from dpsql.engine.source import DuckDBSource, ServerTable
from dpsql.engine.supported import ServerSelect
from dpsql.errors import InternalError, SourceFault


@pytest.fixture(scope="module")
def world() -> Iterator[Database]:
    with database() as created:
        yield created


@pytest.fixture
def empty(world: Database) -> Database:
    world.run("DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
    return world


def select_of(sql: str, names: str, columns: tuple[tuple[str, str], ...]) -> ServerSelect:
    return ServerSelect(sql, frozenset({"t"}), frozenset(names.split()), columns)


def test_all_claims_hold_and_each_function_has_one(world: Database) -> None:
    with transaction(world.source()) as server:
        assert semantics.first_false_claim(server) is None
    claims = (*semantics.OF_ROWS, *semantics.OF_GROUPS)
    texts = " ".join(claim.expression for claim in claims) + semantics._RANKS
    for name in semantics.SUPPORTED.functions:
        assert f"{name}(" in texts, name


def test_what_is_supported_is_known_without_opening(empty: Database) -> None:
    with PostgresEngine(empty.source()) as engine:
        assert engine.supports is supported(empty.source()) is semantics.SUPPORTED
        assert engine.supports.dialect == "PostgreSQL"
    assert supported(DuckDBSource()) is None


SETTINGS = (
    "extra_float_digits = -15",
    "datestyle = 'SQL, DMY'",
    "intervalstyle = 'sql_standard'",
    "timezone = 'Asia/Tokyo'",
    "standard_conforming_strings = off",
    "transform_null_equals = on",
    "search_path = hostile, pg_catalog",
    "work_mem = '512MB'",
    "jit = on",
)


def test_nothing_that_a_role_sets_changes_what_is_computed(empty: Database) -> None:
    """Neither do relations, functions and operators of others, which its path would find first."""
    empty.run(
        "CREATE TABLE t (k integer, v text)",
        "INSERT INTO t VALUES (1, 'a'), (2, 'A'), (3, E'\\\\')",
        "CREATE SCHEMA hostile",
        "CREATE TABLE hostile.t (k integer, v text)",
        "CREATE FUNCTION hostile.length(text) RETURNS integer LANGUAGE sql AS 'SELECT 1 / 0'",
        "CREATE FUNCTION hostile.same(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
        "CREATE OPERATOR hostile.= (LEFTARG = text, RIGHTARG = text, FUNCTION = hostile.same)",
    )
    empty.grant()
    for setting in SETTINGS:
        empty.run(f"ALTER ROLE {empty.role} SET {setting}")
    table = ServerTable("t", (("k", "INTEGER"), ("v", "VARCHAR")))
    select = select_of(
        'SELECT SUM("k") AS "s", SUM(LENGTH("v")) AS "l" FROM "t" WHERE "v" = \'a\' OR "k" = 3',
        "k v s l",
        (("s", "HUGEINT"), ("l", "HUGEINT")),
    )
    try:
        with PostgresEngine(empty.source(table)) as engine, engine.snapshot() as rows:
            assert rows.computes([select])
            assert rows.compute(select, ()).table.to_pylist() == [{"s": 4, "l": 2}]
            assert rows._server is not None
            assert rows._server.rows("SELECT current_setting('work_mem')") == [("512MB",)]
    finally:
        empty.run(f"ALTER ROLE {empty.role} RESET ALL")


def test_a_server_that_breaks_a_claim_is_read_from(
    empty: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    empty.run("CREATE TABLE t (k integer)", "INSERT INTO t VALUES (1), (2)")
    empty.grant()
    table = ServerTable("t", (("k", "INTEGER"),))
    select = select_of('SELECT SUM("k") AS "s" FROM "t"', "k s", (("s", "HUGEINT"),))
    for claim in (
        semantics.ServerClaim("integers divide to a double", "seven / 2", "3.5"),
        semantics.ServerClaim("nothing raises", "seven / (seven - 7)", "1"),
        semantics.ServerClaim("a function is there", "no_such_function(seven)", "1"),
    ):
        monkeypatch.setattr(semantics, "OF_ROWS", (claim,))
        with (
            caplog.at_level(logging.WARNING, "dpsql.engine"),
            PostgresEngine(empty.source(table)) as engine,
            engine.snapshot() as rows,
        ):
            assert not rows.computes([select])
            with pytest.raises(InternalError):
                rows.compute(select, ())
            pulled = rows.execute('SELECT sum(k) AS s FROM "t"').table
            assert pulled.to_pylist() == [{"s": 3}]
    assert "rows are pulled" in caplog.text


_MOMENTS = [
    *("infinity", "-infinity", "2024-02-29 23:59:59.123456", "0044-03-15 00:00:00 BC"),
    *("294246-12-31 23:59:59.999999", "294247-01-01 00:00:00", "294276-12-31 23:59:59"),
    *("1970-01-01 00:00:00", "4713-01-01 00:00:00 BC"),
]
_WHOLE = ["0", "1", "-1", "127", "128", "255", "256", "-128", "-129", "32767", "-32768"]
_LONG = ["2147483647", "2147483648", "-2147483649", str(2**63 - 1), str(-(2**63))]
_TEXTS = ["", "a", "A", "a ", " a", "é", "\\", "\\N", "'", '"', "x" * 4, "\n\t", "NaN", "🎈"]
_DOUBLES = ["0", "-0", "NaN", "Infinity", "-Infinity", "5e-324", "1e308", "0.1", "-2.5"]

VALUES = {
    ("smallint", "SMALLINT"): _WHOLE,
    ("smallint", "BIGINT"): _WHOLE,
    ("smallint", "UTINYINT"): _WHOLE,
    ("integer", "TINYINT"): _WHOLE,
    ("integer", "INTEGER"): [*_WHOLE, _LONG[0]],
    ("bigint", "BIGINT"): [*_WHOLE, *_LONG],
    ("bigint", "INTEGER"): [*_WHOLE, *_LONG],
    ("bigint", "UINTEGER"): [*_WHOLE, *_LONG],
    ("bigint", "HUGEINT"): [*_WHOLE, *_LONG],
    ("numeric(20,0)", "UBIGINT"): [*_WHOLE, *_LONG, str(2**64 - 1), str(2**64), "NaN"],
    ("numeric(12,2)", "DECIMAL(12,2)"): ["0", "-0.01", "9999999999.99", "NaN", "1.5"],
    ("numeric(12,2)", "DECIMAL(18,4)"): ["0", "-0.01", "9999999999.99", "NaN", "1.5"],
    ("numeric(38,0)", "DECIMAL(38,0)"): ["9" * 38, "-1", "NaN"],
    ("numeric(38,38)", "DECIMAL(38,38)"): ["0." + "9" * 38, "-0." + "0" * 37 + "1", "NaN"],
    ("real", "DOUBLE"): ["0", "-0", "NaN", "Infinity", "1e-45", "3e38", "0.1"],
    ("double precision", "DOUBLE"): _DOUBLES,
    ("text", "VARCHAR"): [*_TEXTS, "x" * 100_000],
    ("character varying(9)", "VARCHAR"): _TEXTS,
    ("character(5)", "VARCHAR"): _TEXTS,
    ("boolean", "BOOLEAN"): ["true", "false"],
    ("date", "DATE"): ["infinity", "-infinity", "5874897-12-31", "2024-02-29", "4713-01-01 BC"],
    ("timestamp without time zone", "TIMESTAMP"): _MOMENTS,
    ("timestamp(3) without time zone", "TIMESTAMP"): _MOMENTS,
    ("timestamp with time zone", "TIMESTAMP"): [*_MOMENTS, "2024-01-01 12:00:00+05:30"],
}


def test_what_a_sidecar_stores_of_a_column_is_read_as_the_column_is(empty: Database) -> None:
    """To the last digit and sign; a decimal may have more zeros at its end."""
    for number, ((kind, declared), values) in enumerate(VALUES.items()):
        own, stored = storage_type(declared), pushed_reading(kind, declared)
        assert own is not None
        assert stored is not None
        read = pushed_reading(own, declared)
        assert read is not None
        empty.run(f"CREATE TABLE t{number} (k integer, v {kind})")
        for k, value in enumerate([*values, None]):
            into = f"INSERT INTO t{number} VALUES (%s, CAST(%s::text AS {kind}))"
            empty.owner.execute(into, [k, value])
        empty.run(
            f"CREATE TABLE s{number} (k integer, v {own})",
            f"INSERT INTO s{number} SELECT k, {stored.format('v')} FROM t{number}",
        )
        # A day may be one that Python has none for.
        shown = "{}" if declared.startswith("DECIMAL") else "CAST({} AS text)"
        before, after = (
            empty.owner.execute(
                f"SELECT k, {shown.format(reading.format('v'))} FROM {table}{number} ORDER BY k"
            ).fetchall()
            for table, reading in (("t", stored), ("s", read))
        )
        assert after == before, (kind, declared)
        types = empty.owner.execute(
            "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attname = 'v'"
            f" AND attrelid = 's{number}'::regclass"
        ).fetchall()
        assert types == [(own,)]


def test_columns_are_computed_with_as_they_are_pulled(empty: Database) -> None:
    tables, selects, pulls = [], [], []
    for number, ((kind, declared), values) in enumerate(VALUES.items()):
        name = f"t{number}"
        empty.run(f"CREATE TABLE {name} (k integer, v {kind})")
        for k, value in enumerate([*values, None]):
            into = f"INSERT INTO {name} VALUES (%s, CAST(%s::text AS {kind}))"
            empty.owner.execute(into, [k, value])
        tables.append(ServerTable(name, (("k", "INTEGER"), ("v", declared))))
        # What is beyond all days isn't sent, and is told apart from NULL.
        ends = ("infinity", "-infinity") if declared in ("DATE", "TIMESTAMP") else ()
        shown = '"v"'
        for end in ends:
            shown = f"NULLIF({shown}, CAST('{end}' AS {declared}))"
        columns = (("k", "INTEGER"), ("v", declared), ("n", "BOOLEAN"))
        sql = f'SELECT "k" AS "k", {shown} AS "v", "v" IS NULL AS "n" FROM "{name}"'
        selects.append(ServerSelect(sql, frozenset({name}), frozenset("kvn"), columns))
        pulls.append(sql)
    empty.grant()
    with PostgresEngine(empty.source(*tables)) as engine, engine.snapshot() as rows:
        assert rows.computes(selects)
        for case, select, pull in zip(VALUES, selects, pulls, strict=True):
            there, pulled = rows.compute(select, ()).table, rows.execute(pull).table
            assert lines(there) == lines(pulled), case
            assert there.schema.field("v").type == pulled.schema.field("v").type


def lines(found: pa.Table) -> list[str]:
    """Its rows, in some order; days and moments as numbers, since Python has fewer of them."""
    for index, field in enumerate(found.schema):
        if pa.types.is_temporal(field.type):
            kind = pa.int32() if pa.types.is_date32(field.type) else pa.int64()
            found = found.set_column(index, field.name, found.column(index).cast(kind))
    return sorted(map(repr, found.to_pylist()))


@pytest.mark.parametrize(
    ("kind", "declared"),
    [
        *(("numeric", "DOUBLE"), ("numeric", "DECIMAL(12,2)"), ("uuid", "UUID")),
        *(("numeric(12,2)", "DECIMAL(12,1)"), ("numeric(12,2)", "DECIMAL(10,2)")),
        *(("numeric(12,2)", "INTEGER"), ("numeric(12,2)", "DOUBLE"), ("date", "TIMESTAMP")),
        *(("timestamp without time zone", "DATE"), ("integer", "DOUBLE"), ("real", "FLOAT")),
        *(("numeric(39,0)", "HUGEINT"), ("json", "VARCHAR"), ("double precision", "FLOAT")),
    ],
)
def test_what_may_read_otherwise_is_pulled(kind: str, declared: str) -> None:
    if (kind, declared) != ("numeric(39,0)", "HUGEINT"):  # which isn't pulled either
        assert pushed_reading(kind, declared) is None


def test_a_table_of_another_type_than_was_planned_is_pulled(empty: Database) -> None:
    empty.run("CREATE TABLE t (k integer)", "INSERT INTO t VALUES (1), (2)")
    empty.grant()
    table = ServerTable("t", (("k", "INTEGER"),))
    select = select_of('SELECT SUM("k") AS "s" FROM "t"', "k s", (("s", "HUGEINT"),))
    other = ServerSelect(select.sql, frozenset({"t", "u"}), select.names, select.columns)
    with PostgresEngine(empty.source(table)) as engine:
        with engine.snapshot() as rows:
            assert rows.computes([select])
            assert not rows.computes([select, other])
        empty.run("ALTER TABLE t ALTER k TYPE numeric")
        with engine.snapshot() as rows:
            assert not rows.computes([select])
            assert rows.execute('SELECT sum(k) AS s FROM "t"').table.to_pylist() == [{"s": 3}]


def test_no_relation_is_reached_that_is_not_declared(empty: Database) -> None:
    empty.run("CREATE TABLE t (k integer)", "CREATE TABLE other (k integer)")
    empty.grant()
    table = ServerTable("t", (("k", "INTEGER"),))
    for name in ('"other"', '"pg_class"'):
        select = select_of(f'SELECT COUNT(*) AS "s" FROM "t", {name}', "s", (("s", "HUGEINT"),))
        with PostgresEngine(empty.source(table)) as engine, engine.snapshot() as rows:
            rows.computes([select])
            if name == '"other"':
                with pytest.raises(SourceFault):
                    rows.compute(select, ())
