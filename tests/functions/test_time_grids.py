"""Truncated and bucketed moments are listed exactly: every one that DuckDB gives, and no other."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction

import pytest
from functions.calls import bind, engine
from sqlglot import parse_one

from dpsql.analysis.domains.expression_domain import domain
from dpsql.plan.duration import UNITS
from dpsql.plan.expression import Expression
from dpsql.plan.functions.date_trunc import MAX_TIMESTAMPS
from dpsql.plan.functions.domain_rules import listed
from dpsql.privacy.domain import Domain, Interval, coordinate
from dpsql.schema.sql_type import Date, Integer, SqlType, Timestamp

DAYS = (dt.date(2019, 12, 25), dt.date(2024, 3, 5))
MINUTES = tuple(map(dt.datetime.fromisoformat, ("2023-12-30 22:07:31", "2024-01-02 03:04:05.999")))


def _between(low: dt.date, high: dt.date) -> Domain:
    ends = coordinate(low), coordinate(high)
    return Domain(Interval(*ends), nullable=False)


def _bound(sql: str, kind: SqlType) -> Expression:
    return bind(parse_one(sql, dialect="duckdb"), {"t": kind})[0]


def _derived(sql: str, kind: SqlType, known: Domain) -> set[object]:
    expression = _bound(sql, kind)
    found = domain(expression, {0: known})
    assert not found.nullable
    values = listed(found, expression.type, MAX_TIMESTAMPS)
    assert values is not None
    assert len(set(values)) == len(values)
    return set(values)


def _of_days(sql: str) -> set[object]:
    """DuckDB's values over every day."""
    low, high = DAYS
    every = f"SELECT DATE '{low}' + CAST(n AS INTEGER) FROM range({(high - low).days + 1}) r(n)"
    return _canonical(engine().execute(f"SELECT DISTINCT {sql} FROM ({every}) q(t)").fetchall())


def _of_minutes(sql: str) -> set[object]:
    """DuckDB's values over the first moment, the last one, and every whole minute between."""
    low, high = MINUTES
    every = (
        f"SELECT unnest(generate_series(TIMESTAMP '{low:%Y-%m-%d %H:%M}' + INTERVAL 1 MINUTE,"
        f" TIMESTAMP '{high}', INTERVAL 1 MINUTE))"
        f" UNION ALL VALUES (TIMESTAMP '{low}'), (TIMESTAMP '{high}')"
    )
    return _canonical(engine().execute(f"SELECT DISTINCT {sql} FROM ({every}) q(t)").fetchall())


def _canonical(rows: list[tuple[object, ...]]) -> set[object]:
    return {Fraction(value) if isinstance(value, float) else value for (value,) in rows}


@pytest.mark.parametrize("unit", UNITS)
def test_units_of_days(unit: str) -> None:
    sql = f"date_trunc('{unit}', t)"
    assert _derived(sql, Date(), _between(*DAYS)) == _of_days(sql)


@pytest.mark.parametrize(
    "unit", [u for u in UNITS if u not in ("second", "millisecond", "microsecond")]
)
def test_units_of_moments(unit: str) -> None:
    sql = f"date_trunc('{unit}', t)"
    assert _derived(sql, Timestamp(), _between(*MINUTES)) == _of_minutes(sql)


@pytest.mark.parametrize(
    "width", ["1 day", "1 week", "3 days", "36 hours", "1 month", "5 months", "1 year", "12 hours"]
)
def test_buckets_of_days(width: str) -> None:
    sql = f"time_bucket(INTERVAL '{width}', t)"
    assert _derived(sql, Date(), _between(*DAYS)) == _of_days(sql)


TABLEAU_YEAR = (
    "(CAST(t AS DATE) + CAST(TRUNC(-1 * (EXTRACT(DAY FROM t) - 1)) AS INTEGER) * INTERVAL '1 DAY')"
    " + CAST(TRUNC(-1 * (EXTRACT(MONTH FROM t) - 1)) AS INTEGER) * INTERVAL '1 MONTH'"
)

GRAINS = {
    # As Superset, Grafana, Tableau, Power BI and Metabase write them.
    "floor(extract(epoch FROM t) / 900) * 900": True,
    "floor(epoch(t) / 3600) * 3600": True,
    "CAST(EXTRACT(epoch FROM t) / 900 AS BIGINT) * 900": True,
    "(epoch_ms(t) // 3600000) * 3600000": True,
    "time_bucket('300.000s', t)": True,
    "time_bucket(INTERVAL '15 minutes', t)": True,
    "time_bucket(INTERVAL '1 hour', t, INTERVAL '20 minutes')": True,
    "date_trunc('day', CAST(t AS TIMESTAMP))": True,
    "CAST(date_trunc('week', t) AS DATE)": True,
    "date_trunc('day', t + INTERVAL 3 HOUR)": True,
    "strftime(t, '%Y-%m-%d %H:00')": True,
    "strftime(t, '%G-W%V')": True,
    "last_day(t)": True,
    "CASE WHEN hour(t) < 12 THEN 'am' ELSE 'pm' END": True,
    # Parts are listed without regard to each other: the last hour has all its quarters.
    "date_trunc('hour', t) + INTERVAL '15 minutes' * FLOOR(EXTRACT(MINUTE FROM t) / 15)": False,
    "date_trunc('hour', t) + INTERVAL '30 minutes' * FLOOR(EXTRACT(MINUTE FROM t) / 30)": False,
    "hour(t) * 60 + minute(t)": False,
    "dayname(t)": False,
}


@pytest.mark.parametrize("sql", GRAINS)
def test_grains_of_moments(sql: str) -> None:
    derived, actual = _derived(sql, Timestamp(), _between(*MINUTES)), _of_minutes(sql)
    assert actual <= derived
    if GRAINS[sql]:
        assert derived == actual


@pytest.mark.parametrize(
    "sql",
    [
        "year(t) * 100 + month(t)",
        "CASE WHEN month(t) < 7 THEN year(t) ELSE year(t) + 1 END",
        "concat(year(t), '-Q', quarter(t))",
        "strftime(t, '%b %Y')",
        "monthname(t)",
        "last_day(t)",
        "yearweek(t)",
        "date_diff('week', DATE '2019-01-01', t)",
        "CAST(t AS VARCHAR)",
        "CAST(t AS TIMESTAMP)",
        "t - CAST(day(t) - 1 AS INTEGER)",
        TABLEAU_YEAR,
    ],
)
def test_expressions_of_days(sql: str) -> None:
    assert _derived(sql, Date(), _between(*DAYS)) >= _of_days(sql)
    if not sql.startswith("CASE"):
        assert _derived(sql, Date(), _between(*DAYS)) == _of_days(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "floor(t / 7) * 7",
        "t // 10 * 10",
        "t % 4",
        "CAST(floor(t / 10.0) AS INTEGER) * 10",
        "round(t, -1)",
        "CASE WHEN t < 0 THEN 'low' WHEN t < 20 THEN 'mid' ELSE 'high' END",
        "greatest(least(t, 10), -3)",
        "sign(t)",
        "lpad(CAST(t AS VARCHAR), 4, '0')",
        "t > 3 AND t % 2 = 0",
        "t IN (1, 2, t) OR t IS NULL",
    ],
)
def test_buckets_of_numbers(sql: str) -> None:
    known = Domain(Interval(Fraction(-25), Fraction(40)), nullable=False)
    every = f"SELECT DISTINCT {sql} FROM (SELECT CAST(n AS INTEGER) AS t FROM range(-25, 41) q(n))"
    actual = _canonical(engine().execute(every).fetchall())
    derived = domain(_bound(sql, Integer(32)), {0: known})
    assert derived.values is not None
    assert actual <= set(derived.values)


def test_a_nullable_column_has_null_in_every_grain() -> None:
    sql = "date_trunc('month', t)"
    found = domain(_bound(sql, Date()), {0: _between(*DAYS).as_nullable()})
    assert found.nullable


def test_grains_that_are_too_fine_are_bounded_only() -> None:
    known = _between(*map(dt.datetime.fromisoformat, ("1900-01-01", "2100-01-01")))
    found = domain(_bound("date_trunc('second', t)", Timestamp()), {0: known})
    assert found.values is None
    assert found.bounds is not None
