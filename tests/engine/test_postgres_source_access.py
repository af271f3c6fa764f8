"""What a server's source is refused for, with what to write instead."""

from __future__ import annotations

import re
from collections.abc import Iterator

import psycopg
import pytest
from engine.postgres_world import PASSWORD, Database, database

from dpsql.engine.opening import read_catalog
from dpsql.engine.postgres.access import check_source
from dpsql.engine.postgres.connection import ServerConnection, transaction
from dpsql.engine.postgres.engine import PostgresEngine
from dpsql.engine.source import PostgresSource, ServerTable
from dpsql.errors import SourceFault
from dpsql.structs import replace

T = ServerTable("t", (("id", "INTEGER"), ("word", "VARCHAR")), key=("id",))


@pytest.fixture(scope="module")
def shared() -> Iterator[Database]:
    with database() as created:
        yield created


@pytest.fixture
def world(shared: Database) -> Database:
    """The database with one table, as if it were new."""
    shared.run(
        "DROP SCHEMA IF EXISTS evil CASCADE",
        "DROP EXTENSION IF EXISTS file_fdw CASCADE",
        "DROP SCHEMA public CASCADE",
        "CREATE SCHEMA public",
        f"ALTER ROLE {shared.role} NOSUPERUSER NOBYPASSRLS NOCREATEROLE INHERIT",
        f"ALTER ROLE {shared.role} RESET ALL",
        f"REVOKE dpsql, pg_write_all_data FROM {shared.role}",
        "CREATE TABLE t (id integer PRIMARY KEY, word text)",
        "INSERT INTO t VALUES (1, 'canary-word')",
    )
    shared.grant()
    return shared


def refused(world: Database, *tables: ServerTable, url: str = "") -> SourceFault:
    source = replace(world.source(*tables), url=url or world.url)
    with pytest.raises(SourceFault) as raised:
        PostgresEngine(source).close()
    fault = raised.value
    # Neither a row, nor a password, nor what the server said.
    for text in (str(fault), repr(fault), repr(source), str(source)):
        assert "canary" not in text
        assert PASSWORD not in text
        assert "ERROR" not in text
    assert fault.__cause__ is None
    assert fault.__context__ is None
    return fault


def checked(server: ServerConnection, table: ServerTable) -> SourceFault:
    """Why a table is refused, by a connection that is open."""
    with pytest.raises(SourceFault) as raised:
        check_source(server, (table,))
    return raised.value


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("ALTER ROLE {role} SUPERUSER", "is a superuser"),
        ("ALTER ROLE {role} BYPASSRLS", "has BYPASSRLS"),
        ("ALTER ROLE {role} CREATEROLE", "has CREATEROLE"),
        ("GRANT pg_write_all_data TO {role}", "may act as pg_write_all_data"),
        ("GRANT dpsql TO {role}", "may act as dpsql"),
        ("GRANT INSERT ON t TO {role}", "may write to t"),
        ("GRANT UPDATE (word) ON t TO {role}", "may write to t"),
        ("GRANT DELETE ON t TO PUBLIC", "may write to t"),
        ("GRANT TRUNCATE ON t TO {role}", "may write to t"),
        ("GRANT TRIGGER ON t TO {role}", "may write to t"),
        ("ALTER TABLE t OWNER TO {role}", "may write to t"),
        ("GRANT CREATE ON SCHEMA public TO {role}", "may create tables in the schema public"),
        ("GRANT CREATE ON SCHEMA public TO PUBLIC", "may create tables in the schema public"),
        ("ALTER SCHEMA public OWNER TO {role}", "may create tables in the schema public"),
        ("REVOKE SELECT ON t FROM {role}", "may not read t"),
        ("REVOKE USAGE ON SCHEMA public FROM {role}, PUBLIC", "may not read t"),
    ],
)
def test_a_role_may_read_and_nothing_else(world: Database, statement: str, message: str) -> None:
    world.run(statement.format(role=world.role))
    assert message in refused(world, T).message


def test_a_role_that_may_only_read_is_taken(world: Database) -> None:
    with PostgresEngine(world.source(T)):
        pass


def test_a_role_without_rights_of_its_own_may_still_act_as_one_that_has_them(
    world: Database,
) -> None:
    group = f"{world.role}_group"
    world.run(f"CREATE ROLE {group}", f"ALTER ROLE {world.role} NOINHERIT")
    try:
        world.run(f"GRANT {group} TO {world.role}", f"ALTER TABLE t OWNER TO {group}")
        assert "may write to t" in refused(world, T).message
    finally:
        world.run(f"DROP OWNED BY {group} CASCADE", f"DROP ROLE {group}")


def test_who_logs_in_as_another_role_may_act_as_that_one(world: Database) -> None:
    url = f"{world.url_of('dpsql')}&options=-c%20role%3D{world.role}"
    fault = refused(world, T, url=url)
    assert fault.message.startswith(f"the role {world.role} may act as dpsql")


def test_what_a_refusal_says_to_write_makes_a_role_that_is_taken(world: Database) -> None:
    fault = refused(world, T, url=world.url_of("dpsql"))
    assert "the role dpsql is a superuser" in fault.message
    name = f"{world.role}_new"
    statements = re.findall(r"(?:CREATE ROLE|GRANT) [^;]*;", fault.hint)
    assert len(statements) == 3
    try:
        world.run(*(s.replace("dpsql_reader", name).replace("…", "word") for s in statements))
        with PostgresEngine(replace(world.source(T), url=world.url_of(name, "word"))) as engine:
            assert engine.execute('SELECT count(*) AS n FROM "t"').table["n"][0].as_py() == 1
    finally:
        world.run(f"DROP OWNED BY {name}", f"DROP ROLE {name}")


_PARTED = (
    "CREATE TABLE x (id integer) PARTITION BY LIST (id);"
    "CREATE TABLE x1 PARTITION OF x FOR VALUES IN (1) PARTITION BY LIST (id);"
    "CREATE FOREIGN TABLE x2 PARTITION OF x1 DEFAULT SERVER other"
)
RELATIONS = {
    "a view": ("CREATE VIEW x AS SELECT * FROM t", "x is a view"),
    "materialized": (
        "CREATE MATERIALIZED VIEW x AS SELECT * FROM t",
        "x is a materialized view",
    ),
    "foreign": ("CREATE FOREIGN TABLE x (id integer) SERVER other", "x is a foreign table"),
    "a sequence": ("CREATE SEQUENCE x", "x is a sequence"),
    "foreign partition": (
        _PARTED,
        "x has a partition that is a foreign table",
    ),
    "row security": (
        "CREATE TABLE x (id integer); ALTER TABLE x ENABLE ROW LEVEL SECURITY",
        "x has row security",
    ),
    "parent": (
        "CREATE TABLE x (id integer); CREATE TABLE y () INHERITS (x)",
        "other tables inherit from x",
    ),
    "missing": ("SELECT", "the source has no table x"),
}


@pytest.mark.parametrize("case", RELATIONS)
def test_only_tables_whose_rows_are_their_own_are_read(world: Database, case: str) -> None:
    statements, message = RELATIONS[case]
    if "foreign" in case:
        available = world.owner.execute(
            "SELECT 1 FROM pg_available_extensions WHERE name = 'file_fdw'"
        ).fetchone()
        if available is None:
            pytest.skip("the server has no file_fdw")
        world.run("CREATE EXTENSION file_fdw")
        world.run("CREATE SERVER other FOREIGN DATA WRAPPER file_fdw")
        statements = statements.replace(
            "SERVER other", "SERVER other OPTIONS (filename '/dev/null')"
        )
    world.run(*statements.split(";"))
    world.grant()
    x = ServerTable("x", (("id", "INTEGER"),))
    assert message in refused(world, x).message
    if case != "missing":
        with pytest.raises(SourceFault, match=re.escape(message)):
            read_catalog(world.source(ServerTable("x")))
    # What isn't named is not in the way.
    with PostgresEngine(world.source(T)):
        assert "x" not in read_catalog(PostgresSource(world.url)) or case in {
            "foreign partition",
            "row security",
        }


UNREAD = (
    ("jsonb", "column v of table {x} is PostgreSQL jsonb, which is not read"),
    ("json", "PostgreSQL json, which"),
    ("bytea", "PostgreSQL bytea, which"),
    ("integer[]", r"PostgreSQL integer[], which"),
    ("interval", "PostgreSQL interval, which"),
    ("time", "PostgreSQL time without time zone, which"),
    ("money", "PostgreSQL money, which"),
    ("bit(3)", "PostgreSQL bit(3), which"),
    ('"char"', 'PostgreSQL "char", which'),
    ("name", "PostgreSQL name, which"),
    ("oid", "PostgreSQL oid, which"),
    ("numeric(40,2)", "PostgreSQL numeric(40,2), which"),
    ("mood", "PostgreSQL public.mood, which"),
    ("age", "PostgreSQL public.age, which"),
    ('"integer"', 'PostgreSQL public."integer", which'),
    ("text", "column v of table {x} is VARCHAR, and is declared as INTEGER"),
    ("boolean", "column v of table {x} is BOOLEAN, and is declared as INTEGER"),
    ("date", "column v of table {x} is DATE, and is declared as INTEGER"),
)


def test_types_are_those_of_a_list(world: Database) -> None:
    world.run(
        "CREATE TYPE mood AS ENUM ('ok')",
        "CREATE DOMAIN age AS integer",
        'CREATE DOMAIN "integer" AS text',
        *(f"CREATE TABLE x{n} (v {kind})" for n, (kind, _) in enumerate(UNREAD)),
    )
    world.grant()
    with transaction(world.source()) as server:
        for number, (_, message) in enumerate(UNREAD):
            table = ServerTable(f"x{number}", (("v", "INTEGER"),))
            assert message.format(x=table.name) in checked(server, table).message


def test_a_declared_column_is_there(world: Database) -> None:
    lacking = ServerTable("t", (("nothing", "INTEGER"),))
    assert refused(world, lacking).message == "the source has no column nothing of table t"


_FILLED = "ALTER TABLE x ALTER a SET NOT NULL"
KEYS: dict[str, tuple[bool, str, *tuple[str, ...]]] = {
    "primary": (True, "PRIMARY KEY (a)"),
    "unique, not null": (True, "UNIQUE (a)", _FILLED),
    "an index": (True, "CHECK (true)", "CREATE UNIQUE INDEX ON x (a) INCLUDE (b)", _FILLED),
    "nothing": (False, "CHECK (true)"),
    "may be NULL": (False, "UNIQUE (a)"),
    "deferrable": (False, "PRIMARY KEY (a) DEFERRABLE"),
    "partial": (False, "CHECK (true)", "CREATE UNIQUE INDEX ON x (a) WHERE b > 0", _FILLED),
    "an expression": (False, "CHECK (true)", "CREATE UNIQUE INDEX ON x ((a + 0))", _FILLED),
    "not unique": (False, "CHECK (true)", "CREATE INDEX ON x (a)", _FILLED),
    "of more columns": (False, "PRIMARY KEY (a, b)"),
    "of another column": (False, "PRIMARY KEY (b)"),
}


def test_a_declared_key_has_a_constraint_on_the_server(world: Database) -> None:
    for number, (_, first, *others) in enumerate(KEYS.values()):
        name = f"x{number}"
        world.run(f"CREATE TABLE {name} (a integer, b integer NOT NULL, {first})")
        world.run(*(statement.replace(" x ", f" {name} ") for statement in others))
    world.grant()
    with transaction(world.source()) as server:
        for number, (case, (keeps, *_)) in enumerate(KEYS.items()):
            columns = ("a", "INTEGER"), ("b", "INTEGER")
            x = ServerTable(f"x{number}", columns, key=("a",))
            if not keeps:
                assert f"the key of {x.name}" in checked(server, x).message, case
                continue
            # More columns than those that are unique are, too.
            wide = replace(x, columns=(("a", "BIGINT"), ("b", "INTEGER")))
            for table in (x, replace(x, key=("a", "b")), wide):
                check_source(server, (table,))
            narrow = replace(x, columns=(("a", "SMALLINT"), ("b", "INTEGER")))
            assert "is declared as SMALLINT" in checked(server, narrow).message


def test_what_a_refusal_says_to_write_makes_a_key(world: Database) -> None:
    world.run("CREATE TABLE x (a integer)")
    world.grant()
    x = ServerTable("x", (("a", "INTEGER"),), key=("a",))
    world.run(refused(world, x).hint.partition(";")[0])
    with PostgresEngine(world.source(x)):
        pass


def test_an_invalid_index_keeps_nothing(world: Database) -> None:
    world.run("CREATE TABLE x (a integer NOT NULL)", "INSERT INTO x VALUES (1), (1)")
    with pytest.raises(psycopg.errors.UniqueViolation):
        world.run("CREATE UNIQUE INDEX CONCURRENTLY ON x (a)")
    world.grant()
    assert (
        "nothing on the server keeps"
        in refused(world, ServerTable("x", (("a", "INTEGER"),), key=("a",))).message
    )


@pytest.mark.parametrize("kind", ["timestamp", "double precision", "numeric"])
def test_a_key_reads_no_two_values_alike(world: Database, kind: str) -> None:
    world.run(f"CREATE TABLE x (a {kind} PRIMARY KEY)")
    world.grant()
    declared = "TIMESTAMP" if kind == "timestamp" else "DOUBLE"
    x = ServerTable("x", (("a", declared),), key=("a",))
    assert "a key is declared" in refused(world, x).hint


def test_what_identifies_rows_has_a_deterministic_collation(world: Database) -> None:
    world.run(
        "CREATE COLLATION nocase"
        " (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
        "CREATE TABLE x (a text COLLATE nocase PRIMARY KEY, b text COLLATE nocase)",
    )
    world.grant()
    x = ServerTable("x", (("a", "VARCHAR"), ("b", "VARCHAR")))
    with PostgresEngine(world.source(x)):
        pass
    for table in (replace(x, key=("a",)), replace(x, identifying=frozenset({"b"}))):
        assert "takes different texts for equal" in refused(world, table).message


def test_a_server_that_is_not_there_is_named_without_its_password() -> None:
    source = PostgresSource("postgresql://joe:canary-password@127.0.0.1:1/shop", "1", (T,))
    with pytest.raises(SourceFault) as raised:
        PostgresEngine(source)
    assert raised.value.message == "postgresql://127.0.0.1:1/shop can't be reached"
    assert "canary" not in repr(source) + str(raised.value)
    assert raised.value.__context__ is None


def test_without_the_driver_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "adbc_driver_postgresql", None)
    with pytest.raises(SourceFault) as raised:
        PostgresEngine(PostgresSource("postgresql://h/d", "1", (T,)))
    assert "[postgres]'" in raised.value.hint


def test_a_transaction_reads_only_and_looks_nothing_up_elsewhere(world: Database) -> None:
    with transaction(world.source(T)) as server:
        names = (
            "transaction_read_only",
            "default_transaction_read_only",
            "transaction_isolation",
            "search_path",
            "row_security",
            "statement_timeout",
            "lock_timeout",
            "client_encoding",
            "standard_conforming_strings",
            "TimeZone",
        )
        ((*settings,),) = server.rows(
            "SELECT " + ", ".join(f"current_setting('{name}')" for name in names)
        )
        assert settings == [
            *("on", "on", "repeatable read", "pg_catalog, pg_temp", "off"),
            *("1h", "5s", "UTF8", "on", "UTC"),
        ]
        with pytest.raises(SourceFault, match="ended a statement") as raised:
            server.rows("CREATE TEMP TABLE x AS SELECT 1")
        assert raised.value.__context__ is None


def test_settings_of_the_role_and_of_the_address_are_overridden(world: Database) -> None:
    world.run(
        "CREATE SCHEMA evil",
        "CREATE FUNCTION evil.format_type(oid, integer) RETURNS text LANGUAGE sql AS"
        " $$SELECT 'integer'$$",
        f"ALTER ROLE {world.role} SET search_path = evil, pg_catalog",
        f"ALTER ROLE {world.role} SET default_transaction_read_only = off",
        f"ALTER ROLE {world.role} SET statement_timeout = '30s'",
        f"ALTER ROLE {world.role} SET standard_conforming_strings = off",
        "CREATE TABLE x (v jsonb)",
    )
    world.grant()
    x = ServerTable("x", (("v", "INTEGER"),))
    assert "jsonb" in refused(world, x).message
    server = ServerConnection(world.source(T))
    assert server.rows("SELECT current_setting('statement_timeout')") == [("1h",)]
    server.close()


def test_a_database_of_another_encoding_is_refused(world: Database) -> None:
    name = f"{world.role}_ascii"
    world.run(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C'")
    try:
        url = re.sub(r"/source_\w+\?", f"/{name}?", world.url)
        assert "encoding is SQL_ASCII" in refused(world, T, url=url).message
    finally:
        world.run(f"DROP DATABASE {name} WITH (FORCE)")
