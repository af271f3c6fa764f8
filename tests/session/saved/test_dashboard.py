"""CREATE DASHBOARD: paid once, read freely; its charts add up, and their error is as told."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
import pytest
from privacy.seeded import SeededRandomness

from dpsql.dbapi.connection import Connection
from dpsql.errors import BadParameter, Error, NameTaken, Refused, SyntaxFault, TooComplex
from dpsql.privacy.mechanisms.residual_gaussian import MarginalNoise, Residual, ResidualGaussian
from dpsql.session.answer.column_errors import column_privacy
from dpsql.session.compile.loss_conversion import epsilon_of
from dpsql.session.options import QueryOptions
from dpsql.session.saved.dashboard_law import DashboardLaw, decode_law, encode_law
from dpsql.session.session import Session
from dpsql.sqltext.script import is_complete, parts
from dpsql.sqltext.split import split

CHARTS = """
  SELECT o_orderstatus, count(*), sum(o_totalprice) FROM orders GROUP BY o_orderstatus;
  SELECT o_orderpriority, o_orderstatus, count(*) FROM orders GROUP BY 1, 2;
  SELECT extract(year FROM o_orderdate) AS year, count(*) FROM orders GROUP BY year;
  SELECT count(*) FROM orders
"""
MADE = f"CREATE DASHBOARD board AS ({CHARTS}) WITH (epsilon = 1)"


MANY_CELLS = """CREATE DASHBOARD board AS (
  SELECT o_orderdate, count(*) FROM orders GROUP BY 1;
  SELECT o_orderstatus, o_orderpriority,
    CASE WHEN o_totalprice > 9 THEN 1 WHEN o_totalprice > 5 THEN 2 ELSE 3 END AS p, count(*)
  FROM orders GROUP BY 1, 2, 3
) WITH (epsilon = 1)"""


def opened(schema: Path, seed: str) -> Connection:
    return Connection(Session(schema, analyst="alice", randomness=SeededRandomness(seed)))


@pytest.fixture
def connection(tpch_schema: Path) -> Iterator[Connection]:
    with opened(tpch_schema, "dashboard") as found:
        yield found


def spent(connection: Connection) -> float:
    return float(connection.budget.dataset.epsilon_spent)


def test_it_is_paid_once_and_read_by_any_keys(connection: Connection) -> None:
    connection.execute(MADE)
    paid = spent(connection)
    assert paid == pytest.approx(1, rel=1e-3)
    for keys in ("o_orderstatus", "o_orderpriority, o_orderstatus", "year", "o_orderpriority"):
        rows = connection.execute(f"SELECT {keys}, sum(count) FROM board GROUP BY {keys}")
        assert len(rows.fetchall()) > 2
    assert spent(connection) == paid
    described = connection.execute("SELECT * FROM board").description
    assert described is not None
    names = [column[0] for column in described]
    values = ["count", "sum_o_totalprice"]
    assert names == ["o_orderstatus", "o_orderpriority", "year", *values]


def test_a_cap_on_sums_is_refused_with_what_makes_the_same_statement_run(
    connection: Connection,
) -> None:
    connection.execute("SET dpsql.unit_sum = 1500")
    with pytest.raises(Refused, match="no cap") as refused:
        connection.execute(MADE)
    assert spent(connection) == 0
    connection.execute(str(refused.value.hint))
    connection.execute(MADE)


def test_all_charts_add_up(connection: Connection) -> None:
    connection.execute(MADE)
    (whole,) = connection.execute("SELECT sum(count) FROM board").fetchone() or (None,)
    assert isinstance(whole, float)
    for key in ("o_orderstatus", "o_orderpriority", "year"):
        rows = connection.execute(f"SELECT {key}, sum(count) FROM board GROUP BY {key}").fetchall()
        assert math.fsum(float(str(count)) for _, count in rows) == pytest.approx(whole, rel=1e-9)


def test_it_is_listed_and_dropped(connection: Connection) -> None:
    connection.execute(MADE)
    (row,) = connection.execute("SHOW dpsql.releases").fetchall()
    assert row[0] == "board"
    assert any("CREATE DASHBOARD board" in str(value) for value in row)
    with pytest.raises(NameTaken):
        connection.execute(MADE)
    before = connection.execute("SELECT sum(count) FROM board")
    connection.execute("DROP DASHBOARD board")
    # Errors are told when they are asked for, by the law that the dashboard had.
    assert (before.half_widths or [None])[0] is not None
    with pytest.raises(Error, match="board"):
        connection.execute("SELECT sum(count) FROM board")
    connection.execute("DROP DASHBOARD IF EXISTS board")


def test_the_same_again_is_free(connection: Connection) -> None:
    connection.execute(MADE)
    paid = spent(connection)
    connection.execute(MADE.replace("CREATE", "CREATE OR REPLACE"))
    assert spent(connection) == paid


def test_each_chart_is_off_by_what_was_told(connection: Connection, tpch_folder: Path) -> None:
    """Of one row for each unit, so that limits drop nothing; the seed is fixed."""
    made = """CREATE DASHBOARD customers AS (
        SELECT c_mktsegment, sum(c_acctbal) FROM customer GROUP BY c_mktsegment;
        SELECT c_nationkey, c_mktsegment, count(*) FROM customer GROUP BY ALL
    ) WITH (epsilon = 1)"""
    made = made.replace("ALL", "c_nationkey, c_mktsegment")
    text = "\n".join(str(row[0]) for row in connection.execute(f"EXPLAIN PRIVACY {made}"))
    assert spent(connection) == 0
    connection.execute(made)
    for keys, value, told in (
        ("c_nationkey, c_mktsegment", "count", r"c_nationkey, c_mktsegment: count.* ± ([\d.]+) in"),
        ("c_mktsegment", "sum_c_acctbal", r"by c_mktsegment: sum.* ± ([\d.]+) in"),
    ):
        found = re.search(told, text)
        assert found is not None
        query = f"SELECT {keys}, sum({value}) FROM customers GROUP BY {keys}"
        estimates = {row[:-1]: float(str(row[-1])) for row in connection.execute(query).fetchall()}
        exact = {row[:-1]: float(str(row[-1])) for row in truth(tpch_folder, keys, value)}
        errors = np.array([estimates[key] - exact.get(key, 0) for key in estimates])
        deviation = float(found[1]) / 1.959964
        # A sample deviation of k normal errors is off by a share of 1/√2k, five of these at most.
        spread = 5 / math.sqrt(2 * errors.size)
        assert abs(np.sqrt(np.mean(np.square(errors))) / deviation - 1) <= spread


def test_eight_charts_have_less_error_than_apart_at_the_same_loss(connection: Connection) -> None:
    """As one and one by one, the same statements: of each cell, 1.25 times less in the mean."""
    columns = {
        "c_mktsegment": "c_mktsegment",
        "rich": "c_acctbal > 5000",
        "level": "CASE WHEN c_acctbal < 0 THEN 0 WHEN c_acctbal < 3000 THEN 1 ELSE 2 END",
        "nation": "CASE WHEN c_nationkey < 9 THEN 'a' WHEN c_nationkey < 17 THEN 'b' ELSE 'c' END",
    }
    pairs = [("c_mktsegment", "rich"), ("c_mktsegment", "nation"), ("rich", "level")]
    charts = [(name,) for name in columns] + [*pairs, ("level", "nation")]
    queries = [
        f"SELECT {', '.join(f'{columns[name]} AS {name}' for name in chart)}, count(*)"
        f" FROM customer GROUP BY {', '.join(chart)}"
        for chart in charts
    ]
    session, schema = connection._session, connection.schema
    board = f"CREATE DASHBOARD board AS ({';'.join(queries)}) WITH (epsilon = 1)"
    text = "\n".join(str(row[0]) for row in connection.execute(f"EXPLAIN PRIVACY {board}"))
    whole = re.search(r"rho = ([\d.]+)", text)
    assert whole is not None
    alone = epsilon_of(schema, Fraction(whole[1]) / len(charts))
    together = apart = 0.0
    for chart, query in zip(charts, queries, strict=True):
        found = re.search(rf"by {', '.join(chart)}: count\S* within ± ([\d.]+) in", text)
        assert found is not None, text
        compiled = session.compile(query, QueryOptions(alone))
        (noise,) = column_privacy(compiled)
        cells = math.prod(
            len(domain.cells) for domain in compiled.releases[0].step.bounded.contributions.domains
        )
        assert noise.half_width is not None
        together += cells * float(found[1]) ** 2
        apart += cells * noise.half_width**2
    assert math.sqrt(apart / together) >= 1.25


def half_widths(connection: Connection, sql: str) -> list[float | None]:
    privacy = connection.execute(sql).privacy
    assert privacy is not None
    return [None if one is None else one.half_width for one in privacy.shown_columns]


def test_what_is_read_has_the_error_that_was_told(connection: Connection) -> None:
    text = "\n".join(str(row[0]) for row in connection.execute(f"EXPLAIN PRIVACY {MADE}"))
    connection.execute(MADE)

    def told(keys: str, value: str = "count") -> float:
        found = re.search(rf"{keys}: {value}\S* within ± ([\d.]+) in", text)
        assert found is not None, text
        return float(found[1])

    by_status = half_widths(
        connection,
        "SELECT o_orderstatus AS s, sum(count) AS n, sum(sum_o_totalprice) FROM board"
        " GROUP BY o_orderstatus HAVING sum(count) > 0 ORDER BY n LIMIT 2",
    )
    assert by_status[0] is None
    assert by_status[1:] == pytest.approx(
        [told("by o_orderstatus"), told("by o_orderstatus", "sum")], rel=1e-3
    )
    (whole,) = half_widths(connection, "SELECT sum(count) FROM board")
    assert whole == pytest.approx(told("in all"), rel=1e-3)
    (one,) = half_widths(
        connection,
        "SELECT sum(count) FROM board WHERE o_orderstatus = 'O' AND o_orderpriority = '1-URGENT'",
    )
    assert one == pytest.approx(told("by o_orderpriority, o_orderstatus"), rel=1e-3)
    (filtered,) = half_widths(
        connection, "SELECT sum(count) FILTER (WHERE o_orderstatus = 'O') FROM board"
    )
    assert filtered == pytest.approx(told("by o_orderstatus"), rel=1e-3)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT o_orderstatus, year, sum(count) FROM board GROUP BY o_orderstatus, year",
        "SELECT sum(sum_o_totalprice) FROM board WHERE year = 1995",
        "SELECT sum(count) FROM board WHERE year < 1995",
        "SELECT sum(count) FROM board WHERE count = 3",
        "SELECT count, sum(count) FROM board GROUP BY count",
        "SELECT sum(count + 1) FROM board",
        "SELECT sum(DISTINCT count) FROM board",
        "SELECT sum(count) FILTER (WHERE year < 1995) FROM board",
        "SELECT avg(count) FROM board",
        "SELECT 2 * sum(count) FROM board",
        "SELECT count FROM board",
        "SELECT sum(a.count) FROM board AS a JOIN board AS b USING (year)",
        "SELECT o_orderstatus = 'O' AS o, sum(count) FROM board GROUP BY o",
        "SELECT sum(n) FROM (SELECT year, sum(count) AS n FROM board GROUP BY year)",
    ],
)
def test_of_what_no_chart_shows_no_error_is_told(connection: Connection, sql: str) -> None:
    connection.execute(MADE)
    assert half_widths(connection, sql)[-1] is None


def truth(folder: Path, keys: str, value: str) -> list[tuple[object, ...]]:
    call = "count(*)" if value == "count" else "sum(c_acctbal)"
    sql = f"SELECT {keys}, {call} FROM read_parquet('{folder}/customer.parquet') GROUP BY ALL"
    return duckdb.connect().execute(sql).fetchall()


@pytest.mark.parametrize(
    ("sql", "error"),
    [
        ("CREATE DASHBOARD b AS SELECT count(*) FROM orders WITH (epsilon = 1)", SyntaxFault),
        ("CREATE DASHBOARD b AS (SELECT count(*) FROM orders)", SyntaxFault),
        ("CREATE DASHBOARD b AS (SELECT count(*) FROM orders WITH (epsilon = 1)", SyntaxFault),
        ("CREATE DASHBOARD b AS (SELECT count(*) FROM orders) WITH (rows = 1)", SyntaxFault),
        ("CREATE DASHBOARD b AS () WITH (epsilon = 1)", Refused),
        (f"CREATE DASHBOARD b AS ({CHARTS}) WITH (epsilon = 1, rounds = 3)", BadParameter),
        (MANY_CELLS, TooComplex),
    ],
)
def test_what_isnt_one_is_refused_for_nothing(
    connection: Connection, sql: str, error: type[Error]
) -> None:
    with pytest.raises(error):
        connection.execute(sql)
    assert not spent(connection)


def test_an_error_has_its_place_in_its_chart(connection: Connection) -> None:
    sql = MADE.replace("SELECT count(*) FROM orders", "SELECT count(*) FROM order_s")
    with pytest.raises(Error) as raised:
        connection.execute(sql)
    at = raised.value.at
    assert at is not None
    assert sql[at.start : at.end] == "order_s"


def test_charts_stay_together_where_statements_are_split() -> None:
    text = f"SELECT 1; {MADE}; CREATE OR REPLACE dashboard x AS (SELECT ')'; SELECT (2)); SELECT 3"
    assert len(split(text)) == len(parts(text)) == 4
    assert not is_complete("CREATE DASHBOARD d AS (SELECT count(*) FROM t;")
    assert is_complete("CREATE DASHBOARD d AS (SELECT count(*) FROM t;) WITH (epsilon = 1);")
    for options in ("", "(SQL, FORMAT JSON) "):
        assert len(split(f"EXPLAIN PRIVACY {options}{MADE}; SELECT 1")) == 2
    assert len(split("SELECT (1; SELECT 2")) == 2


@pytest.mark.parametrize("is_rounded", [False, True])
def test_a_law_is_read_as_it_was_kept(*, is_rounded: bool) -> None:
    residuals = Residual((), Fraction(2)), Residual((0,), Fraction(5, 3))
    noise = MarginalNoise((ResidualGaussian((3,), residuals, is_rounded),))
    law = DashboardLaw((("ward",),), {"count": ((Fraction(1, 2), 0),)}, noise)
    kept = decode_law(json.loads(json.dumps(encode_law(law))))
    assert kept == law
    assert kept.variance("count", ["ward"]) == law.variance("count", ["ward"])
