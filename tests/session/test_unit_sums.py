"""Answers under caps on units' sums: what is cut, what is stored, and what is left as it was.

Answers are asked for with ε = 120, whose noise is beyond a fifth of a cap with a probability below
10^-9.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from data.database import attached
from notes.compiler import prepared
from privacy.seeded import SeededRandomness

import dpsql
from dpsql.bounding.options import ContributionLimits
from dpsql.dbapi.connection import Connection
from dpsql.errors import Refused
from dpsql.plan.bounded_release.estimator import LinearEstimator, OfSample
from dpsql.session.options import AnswerOptions, QueryOptions
from dpsql.session.session import Session

SCHEMA = """
dataset: shop
source: shop.duckdb
units: {customer: {table: customers, key: id}}
tables:
  customers:
    key: id
    unit: customer
    columns: {id: {type: bigint}, age: {type: integer, bounds: [0, 120]}}
  orders:
    unit: {column: customer, references: customers.id}
    limits: {groups: 2, rows_per_group: 5, rows: 10}
    columns:
      customer: {type: bigint}
      shop: {type: varchar, values: [a, b], nullable: false}
      part: {type: varchar, values: [x, y], nullable: false}
      price: {type: integer, bounds: [0, 1000], nullable: false}
      paid: {type: double, nullable: false}
      points: {type: bigint}
budget: {epsilon: 500, accounting: pure, allow_large_epsilon: true}
per_query: {epsilon: 120}
"""

ROWS = """
CREATE TABLE customers AS SELECT i AS id, 30 AS age FROM range(3) t(i);
CREATE TABLE orders AS SELECT * FROM (VALUES
  (0, 'a', 'x', 900, 900.0::DOUBLE, 9000000000000000000::BIGINT), (0, 'a', 'y', 900, 900, -5),
  (1, 'a', 'x', 100, 100, 7), (1, 'b', 'x', 50, 'inf', NULL), (2, 'b', 'y', 0, 'nan', 0)
) v(customer, shop, part, price, paid, points);
"""


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with attached(tmp_path / "shop.duckdb") as connection:
        connection.execute(ROWS)
    path = tmp_path / "schema.yaml"
    path.write_text(SCHEMA)
    session = Session(path, randomness=SeededRandomness("unit sums"))
    yield session
    session.close()


def capped(cap: int, *, reuse: bool = False, consistent: bool = False) -> QueryOptions:
    limits = ContributionLimits(unit_sum=Fraction(cap))
    return QueryOptions(limits=limits, answer=AnswerOptions(reuse, consistent))


def answered(session: Session, sql: str, cap: int) -> list[list[float]]:
    table = session.query(sql, options=capped(cap)).table
    return [[float(value) for value in column.to_pylist()] for column in table.columns]


def test_a_units_sum_is_cut_and_others_are_not(session: Session) -> None:
    sql = "SELECT sum(price) FILTER (WHERE shop = 'a'), sum(price) FROM orders"
    (of_a,), (of_all,) = answered(session, sql, 500)
    assert of_a == pytest.approx(500 + 100, abs=100)
    assert of_all == pytest.approx(500 + 150, abs=100)


def test_columns_without_bounds_are_summed_and_averaged(session: Session) -> None:
    (paid,), (points,) = answered(session, "SELECT sum(paid), sum(points) FROM orders", 200)
    # Infinity is the cap, NaN is nothing; points are 200 - 5, cut at 200 row by row, and 7.
    assert paid == pytest.approx(200 + 200, abs=40)
    assert points == pytest.approx(195 + 7, abs=40)
    with pytest.raises(Refused, match="needs bounds"):
        session.query("SELECT sum(points) FROM orders")
    with pytest.raises(Refused, match="needs bounds"):
        session.query("SELECT median(points) FROM orders", options=capped(200))


@pytest.mark.parametrize("cap", ["1e30", "1e-30", "1e18", "0.5"])
def test_any_cap_is_answered_of_any_column(session: Session, cap: str) -> None:
    options = QueryOptions(limits=ContributionLimits(unit_sum=Fraction(cap)))
    sql = "SELECT shop, sum(price), sum(paid), sum(points), avg(points) FROM orders GROUP BY shop"
    assert session.query(sql, options=options).table.num_rows == 2


def test_means_are_of_rows_within_their_own_bounds(session: Session) -> None:
    sql = "SELECT avg(price), avg(sqrt(price)), var_pop(price) FROM orders"
    usual = session.query(sql)
    again = session.query(sql, options=capped(10))
    assert again.table == usual.table
    assert again.privacy.stored


def test_parts_of_a_capped_sum_are_not_added_up(session: Session) -> None:
    # A unit's capped sums in two groups are more than its capped sum in both.
    fine = "SELECT shop, part, sum(price) FROM orders GROUP BY shop, part"
    session.query(fine, options=capped(50, reuse=True))
    coarse = session.query(
        "SELECT shop, sum(price) FROM orders GROUP BY shop", options=capped(50, reuse=True)
    )
    assert not coarse.privacy.summed
    assert coarse.privacy.loss is not None


def test_levels_of_capped_sums_are_not_made_to_add_up(session: Session) -> None:
    sql = "SELECT shop, sum(price) FROM orders GROUP BY ROLLUP (shop)"
    notes = str(session.explain(sql, options=capped(50, consistent=True)))
    assert "no noisy sum over rows is in all of them" in notes


def test_set_and_options_are_one_question(tmp_path: Path, session: Session) -> None:
    del session
    with dpsql.connect(tmp_path / "schema.yaml") as connection:
        assert isinstance(connection, Connection)
        sql = "SELECT sum(price) FROM orders"
        asked = connection.execute(f"{sql} OPTIONS (unit_sum = 500)").fetchall()
        connection.execute("SET dpsql.unit_sum = 500")
        again = connection.execute(sql)
        assert again.privacy is not None
        assert again.privacy.stored
        assert again.fetchall() == asked
        assert connection.execute("SHOW dpsql.unit_sum").fetchone() == ("500",)
        explained = str(connection.explain(sql))
        assert "price within ±500" in explained
        assert "500 of a unit at most" in explained
        assert "unit_sum = 500 of price: set for this session" in explained


def test_a_samples_error_is_that_of_units_up_to_the_cap() -> None:
    sql = "SELECT sum(amount) FROM gifts"
    found = []
    for cap in (None, Fraction(50)):
        limits = ContributionLimits(unit_sum=cap)
        (release,) = prepared(sql, "polls", frozenset(), None, limits).releases
        estimator = release.step.bounded.outputs[0].estimator
        assert isinstance(estimator, OfSample)
        assert isinstance(estimator.estimator, LinearEstimator)
        assert estimator.estimator.row_variance is not None
        found.append(estimator.estimator.row_variance.inside)
    # It is of c times the sum, where c is four rows of up to 100, or the cap.
    assert found[1] / found[0] == Fraction(50, 400)
