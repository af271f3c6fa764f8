"""What a dashboard's charts show is read of it when it is asked for alone, for nothing."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from privacy.seeded import SeededRandomness

from dpsql.dbapi.connection import Connection
from dpsql.session.session import Session

BY_SEGMENT = "SELECT c_mktsegment, count(*) AS n, sum(c_acctbal) AS s FROM customer GROUP BY 1"
BY_BOTH = "SELECT c_nationkey, c_mktsegment, count(*) AS n FROM customer GROUP BY 1, 2"
BY_NATION = "SELECT c_nationkey, count(*) FROM customer GROUP BY c_nationkey"
MADE = f"CREATE DASHBOARD customers AS ({BY_SEGMENT}; {BY_BOTH}) WITH (epsilon = 1)"


def opened(schema: Path, analyst: str = "alice") -> Connection:
    return Connection(
        Session(schema, analyst=analyst, epsilon="0.5", randomness=SeededRandomness("charts"))
    )


@pytest.fixture
def connection(tpch_schema: Path) -> Iterator[Connection]:
    with opened(tpch_schema) as found:
        found.execute(MADE)
        yield found


def is_free(connection: Connection, sql: str) -> bool:
    before = connection.budget.dataset.epsilon_spent
    connection.execute(sql)
    return connection.budget.dataset.epsilon_spent == before


def test_a_chart_is_what_the_dashboard_has_of_it(connection: Connection) -> None:
    cursor = connection.execute(BY_SEGMENT)
    privacy = cursor.privacy
    assert privacy is not None
    assert (privacy.loss, privacy.stored, privacy.summed) == (None, True, 0)
    assert "read of the dashboard customers, for nothing" in privacy.notes[0]
    read = connection.execute(
        "SELECT c_mktsegment, sum(n), sum(s) FROM customers GROUP BY 1 ORDER BY 1"
    ).fetchall()
    for (segment, count, balance), (key, *kept) in zip(cursor.fetchall(), read, strict=True):
        assert segment == key
        assert isinstance(count, int)
        assert count == round(float(str(kept[0])))
        assert float(str(balance)) == pytest.approx(float(str(kept[1])), abs=0.006)


def test_its_error_is_the_dashboards_and_what_rounding_adds(connection: Connection) -> None:
    own = connection.execute(BY_SEGMENT).privacy
    kept = connection.execute(
        "SELECT c_mktsegment, sum(n), sum(s) FROM customers GROUP BY 1"
    ).privacy
    assert own is not None
    assert kept is not None
    for mine, told, unit in zip(
        own.shown_columns[1:], kept.shown_columns[1:], (1, 0.01), strict=True
    ):
        assert mine is not None
        assert told is not None
        assert told.half_width is not None
        assert mine.half_width == pytest.approx(told.half_width + unit / 2)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) AS n, c_mktsegment AS s FROM customer GROUP BY s ORDER BY n DESC LIMIT 2",
        "WITH c AS (SELECT c_mktsegment AS m FROM customer) SELECT m, count(*) FROM c GROUP BY m",
        BY_NATION,
        "SELECT sum(c_acctbal), count(*) FROM customer",
        "SELECT c_nationkey, c_mktsegment, count(*) FROM customer GROUP BY ROLLUP (1, 2)",
        f"CREATE RELEASE kept AS {BY_NATION}",
    ],
)
def test_however_it_is_written_and_by_fewer_keys_it_is_free(
    connection: Connection, sql: str
) -> None:
    assert is_free(connection, sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT c_mktsegment, count(*) FROM customer WHERE c_acctbal > 0 GROUP BY 1",
        "SELECT c_mktsegment, count(DISTINCT c_nationkey) FROM customer GROUP BY 1",
        "SELECT c_mktsegment, c_acctbal > 0 AS rich, count(*) FROM customer GROUP BY 1, 2",
        "SELECT c_nationkey, c_mktsegment, sum(c_acctbal) FROM customer GROUP BY 1, 2",
        "SELECT c_mktsegment, avg(c_acctbal) FROM customer GROUP BY 1",
        f"{BY_NATION} OPTIONS (min_units = 3)",
        f"{BY_NATION} OPTIONS (nonnegative = on)",
        f"{BY_NATION} OPTIONS (groups = 1)",
        f"{BY_NATION} OPTIONS (max_error = 9)",
    ],
)
def test_what_it_lacks_or_what_is_to_be_otherwise_is_charged(
    connection: Connection, sql: str
) -> None:
    assert not is_free(connection, sql)


def test_who_asks_for_more_than_the_dashboard_had_pays_for_it(tpch_schema: Path) -> None:
    with opened(tpch_schema) as connection:
        connection.execute(MADE.replace("epsilon = 1", "epsilon = 0.4"))
        assert not is_free(connection, BY_SEGMENT)
        assert is_free(connection, f"{BY_NATION} OPTIONS (epsilon = 0.4)")
        assert is_free(connection, f"{BY_NATION} OPTIONS (max_error = 1000)")


def test_another_session_reads_it_and_what_was_dropped_is_charged(connection: Connection) -> None:
    path = connection.schema.path
    assert path is not None
    with opened(path) as other:
        assert is_free(other, BY_NATION)
        connection.execute("DROP DASHBOARD customers")
        assert not is_free(other, BY_SEGMENT)


def test_whose_own_cap_would_pay_for_a_look_is_charged_for_the_query_alone(
    tpch_schema: Path,
) -> None:
    with tpch_schema.open("a", encoding="utf-8") as schema:
        schema.write("analysts: {bob: {epsilon: 2}}\n")
    with opened(tpch_schema) as alice, opened(tpch_schema, "bob") as bob:
        alice.execute(MADE)
        assert not is_free(bob, BY_NATION)
        assert float(bob.budget.own.epsilon_spent) == pytest.approx(0.5, rel=1e-2)
        bob.execute("SELECT * FROM customers")
        assert is_free(bob, BY_SEGMENT)


def test_of_another_version_of_the_data_it_is_charged(tpch_schema: Path) -> None:
    text = tpch_schema.read_text(encoding="utf-8")
    tpch_schema.write_text(f"{text}\nversion: one\n", encoding="utf-8")
    with opened(tpch_schema) as connection:
        connection.execute(MADE)
        assert is_free(connection, BY_SEGMENT)
    tpch_schema.write_text(f"{text}\nversion: two\n", encoding="utf-8")
    with opened(tpch_schema) as connection:
        assert not is_free(connection, BY_SEGMENT)


def test_some_keys_of_a_shared_domain_are_as_far_off_as_the_most_cells(
    connection: Connection,
) -> None:
    """Of years and quarters of the same days, a year is four cells, and 1992 has all of them."""
    year, quarter = "extract(year FROM o_orderdate)", "extract(quarter FROM o_orderdate)"
    chart = f"SELECT {year} AS y, {quarter} AS q, count(*) FROM orders GROUP BY y, q"
    by_year = f"SELECT {year} AS y, count(*) FROM orders GROUP BY y"
    made = f"CREATE DASHBOARD calendar AS ({chart}; {by_year}) WITH (epsilon = 1)"
    text = "\n".join(str(row[0]) for row in connection.execute(f"EXPLAIN PRIVACY {made}"))
    connection.execute(made)
    assert is_free(connection, by_year)
    privacy = connection.execute(by_year).privacy
    assert privacy is not None
    half_width = privacy.columns[0].half_width
    assert half_width is not None
    found = re.search(r"by y: count within ± (?:[\d.]+ to ± )?([\d.]+) in", text)
    assert found is not None, text
    assert half_width - 0.5 == pytest.approx(float(found[1]), rel=1e-3)


def test_explain_says_that_it_is_free_and_how_far_off(connection: Connection) -> None:
    text = "\n".join(str(row[0]) for row in connection.execute(f"EXPLAIN PRIVACY {BY_NATION}"))
    assert "read of the dashboard customers, for nothing" in text
    (privacy,) = (connection.execute(BY_NATION).privacy,)
    assert privacy is not None
    (column,) = privacy.columns
    assert column.half_width is not None
    assert f"± {column.half_width:.4g} (95 %)" in text
    assert math.isfinite(column.half_width)
