"""Days and moments that are infinite or far away are on servers what they are on DuckDB.

An infinite one is neither NULL nor in the cell that a list of months has for NULL.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from types import ModuleType
from typing import Final

import duckdb
import pytest
from data.database import attached
from differential import world
from differential.world import World
from emit import postgres_server, spark_server
from emit.test_postgres_nodes import values
from notes.exact import exact_table, raw_groups
from sqlglot import exp

from dpsql.emit.dialect.duckdb.render import rendered as duckdb_text
from dpsql.emit.dialect.nodes import scalar
from dpsql.emit.sql.identifier import column_ref, schema_name, with_alias
from dpsql.engine.duckdb.lockdown import configure
from dpsql.engine.spark.semantics import SUPPORTED as ON_SPARK
from dpsql.physical.push_down import push_down
from dpsql.plan.bounded_release.server_query import ServerQuery
from dpsql.plan.expression import Call, Cast, Column, Compare, Comparison, Expression, Literal
from dpsql.schema.sql_type import BIGINT, Date, SqlType, Timestamp, Varchar
from dpsql.session.compile.compiled import compile_sql
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.compile.loss_conversion import query_loss

DAYS: Final = (
    *("infinity", "-infinity", "4713-01-01 (BC)", "4712-12-31 (BC)", "0044-03-15 (BC)"),
    *("0001-01-01", "1582-10-10", "2024-02-29", "9999-12-31", "10000-01-01", "200000-01-02"),
    *("294246-12-31", "294247-01-01"),
)
MOMENTS: Final = (
    *("infinity", "-infinity", "4713-01-01 (BC) 00:00:00", "0044-03-15 (BC) 23:59:59.999999"),
    *("0001-01-01 00:00:00", "2024-02-29 12:00:00", "294246-12-31 23:59:59.999999"),
)
UNITS: Final = ("year", "quarter", "month", "week", "day")
PARTS: Final = ("year", "quarter", "month", "day", "isodow", "hour", "minute")


def _expressions(kind: SqlType) -> list[tuple[str, Expression]]:
    """All of one moment that PostgreSQL computes, but its text, each compared with the moment."""
    moment = Column(1, "x", kind)
    values: list[Expression] = [Cast(moment, other) for other in (Date(), Timestamp())]
    values += [Call("date_trunc", (Literal(u, Varchar()), moment), Timestamp()) for u in UNITS]
    parts: list[tuple[str, Expression]] = [(p, Call(p, (moment,), BIGINT)) for p in PARTS]
    compared = [
        (f"{value} {op.value} x", Compare(op, value, moment))
        for value in values
        for op in (Comparison.LESS, Comparison.EQUAL)
    ]
    return [*parts, *((str(name), value) for name, value in compared)]


@pytest.mark.parametrize(
    ("kind", "texts"), [(Date(), DAYS), (Timestamp(), MOMENTS)], ids=["days", "moments"]
)
def test_what_is_computed_of_a_moment_is_what_duckdb_computes(
    kind: SqlType, texts: tuple[str, ...]
) -> None:
    own = [postgres_server._written(text) for text in texts]
    with duckdb.connect(config={"threads": 1}) as connection:
        configure(connection)
        connection.execute(f"CREATE TABLE t (n INTEGER, x {kind})")
        connection.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(texts)))
        for name, expression in _expressions(kind):
            table = exp.Table(this=schema_name("t"))
            renamed = exp.select(with_alias(column_ref("x"), "c1"), column_ref("n")).from_(table)
            node = scalar(expression)
            tree = exp.select(with_alias(node, "v")).from_(renamed.subquery("t")).order_by("n")
            expected = [v for (v,) in connection.execute(duckdb_text(tree)).fetchall()]
            assert values(node, str(kind).lower(), own, read_as="c1") == expected, name


def test_the_first_day_of_all_fails_nothing() -> None:
    """Its week begins before it, and PostgreSQL has no such day."""
    for kind in (Date(), Timestamp()):
        for name, expression in _expressions(kind):
            column = str(kind).lower()
            (value,) = values(scalar(expression), column, ["4714-11-24 BC"], read_as="c1")
            assert (value is None) == ("date_trunc" in name), name


def test_an_infinite_moment_has_duckdbs_text() -> None:
    for kind in (Date(), Timestamp()):
        node = scalar(Cast(Column(1, "x", kind), Varchar()))
        own = ["infinity", "-infinity", "2024-02-29", None]
        found = values(node, str(kind).lower(), own, read_as="c1")
        with attached() as connection:
            listed = ", ".join("NULL" if t is None else f"'{t}'::{kind}" for t in own)
            expected = connection.execute(f"SELECT unnest([{listed}])::VARCHAR").fetchall()
        assert found == [text for (text,) in expected]


SQL: Final = (
    "SELECT date_trunc('month', visit_date) AS m, count(*) FROM visits GROUP BY m",
    "SELECT date_trunc('year', visit_date)::DATE AS y, count(*) FROM visits GROUP BY y",
    "SELECT visit_date AS d, count(*) FROM visits GROUP BY d",
    "SELECT month(visit_date) AS m, count(*) FROM visits GROUP BY m",
    "SELECT count(*) FROM visits WHERE CAST(visit_date AS TIMESTAMP) > TIMESTAMP '2024-01-01'",
    "SELECT count(*) FROM visits WHERE date_trunc('week', visit_date) IS NULL",
    "SELECT CAST(visit_date AS VARCHAR) AS t, count(*) FROM visits GROUP BY t",
    "SELECT ward, max(visit_date), median(visit_date), count(visit_date) FROM visits GROUP BY ward",
)


@contextmanager
def _released(
    sql: str, days: Sequence[str | None]
) -> Iterator[tuple[duckdb.DuckDBPyConnection, World, CompiledRelease]]:
    """A statement about visits of `days`, one of each unit, with the tables that DuckDB reads."""
    roomy = world.generated("clinic")
    rows = ", ".join(
        f"({n}, {n}, {'NULL' if day is None else f'DATE {day!r}'})" for n, day in enumerate(days)
    )
    with duckdb.connect(config={"threads": 1}) as connection:
        configure(connection)
        for table in roomy.schema.tables.values():
            columns = ", ".join(f'"{c.name}" {c.type}' for c in table.columns.values())
            connection.execute(f'CREATE TABLE "{table.name}" ({columns})')
        connection.execute(f"INSERT INTO visits (visit_id, patient_id, visit_date) VALUES {rows}")
        loss = query_loss(roomy.schema, Fraction(1))
        (release,) = compile_sql(sql, roomy.schema, roomy.facts, loss, "data").releases
        exact_table(connection, release, {})
        yield connection, roomy, release


def _agree(
    server: ModuleType,
    query: ServerQuery,
    name: str,
    connection: duckdb.DuckDBPyConnection,
    release: CompiledRelease,
) -> None:
    count = len(release.step.bounded.contributions.statistics)
    raw = raw_groups(connection, release, "1")
    expected = spark_server.groups(spark_server.tuples(raw.totals), count)
    assert server.totals(query, name, count) == expected
    for cells, table in zip(server.histograms(query, name), raw.histograms, strict=True):
        counted = {(*key, c): n for key, own in cells.items() for c, n in own.items()}
        assert counted == {tuple(row[:-1]): row[-1] for row in spark_server.tuples(table)}


@pytest.mark.parametrize("sql", SQL)
def test_an_infinite_day_is_in_the_same_group_on_postgresql(sql: str) -> None:
    days = [*DAYS[:2], None, "2024-02-29", "2023-12-31"]
    with _released(sql, days) as (connection, roomy, release):
        name = f"infinite {SQL.index(sql)}"
        postgres_server.create_like(name, roomy.schema, connection)
        _agree(postgres_server, push_down(release.choice).query, name, connection, release)


@pytest.mark.parametrize("sql", [sql for sql in SQL if " AS VARCHAR" not in sql])
def test_a_far_day_is_in_the_same_group_on_spark(sql: str) -> None:
    days = ["10000-01-01", "294246-12-31", "4713-01-01 (BC)", None, "2024-02-29", "2023-12-31"]
    with _released(sql, days) as (connection, roomy, release):
        spark_server.create_like("far days", roomy.schema, connection)
        query = push_down(release.choice, ON_SPARK).query
        _agree(spark_server, query, "far days", connection, release)
