"""Constants have the types and values that DuckDB gives them; calls of them are computed."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction

import pytest
from functions.calls import bind, engine
from sqlglot import parse_one

from dpsql.bind.expression.interval_literal import length, read
from dpsql.emit.dialect.duckdb.expression import emit_expression
from dpsql.errors import DataError, Error
from dpsql.plan.duration import DAY, Duration, unit_named
from dpsql.plan.expression import Expression, Literal
from dpsql.plan.functions.date_part import part_named
from dpsql.schema.sql_type import Date, Timestamp


def _constant(sql: str) -> Literal:
    found = _bound(sql)
    assert isinstance(found, Literal), found
    return found


def _bound(sql: str) -> Expression:
    return bind(parse_one(sql, dialect="duckdb"), {"d": Date(), "t": Timestamp()})[0]


# sqlglot reads .06 as 0.06, which has one digit more.
WRITTEN = (
    *("1", "-1", "0", "127", "2147483647", "2147483648", "9223372036854775808"),
    *("0.06", "00.5", "10.0", "-0.5", "1e5", "1.5e-3", "123456789012345678901234567890.5"),
)

UNITS = (
    "m",
    "mon",
    "mins",
    "qtr",
    "q",
    "weeks",
    "w",
    "y",
    "yrs",
    "dec",
    "c",
    "mil",
    "ms",
    "us",
    "h",
)
PARTS = (
    *("dow", "doy", "weekday", "isodow", "week", "weekofyear", "yrs", "mons", "d", "hr", "min"),
    *("sec", "ms", "us", "epoch", "julian"),
)

PRECEDENCE = (
    *("1 + 2 & 3", "1 << 2 + 1", "8 >> 1 + 1", "7 & 3 + 1", "1 | 2 & 3", "xor(1, 2) | 4"),
    *("2 ^ 3 ^ 2", "2 ** 3 ** 2", "-2 ^ 2", "-2 ** 2", "2 + 3 * 4 ^ 2", "- 2 ^ 2 + 1"),
    *("7 // 2 * 2", "2 * 7 % 4", "7 % 4 * 2", "-7 // 2", "- 7 % 4", "6 / 2 // 2", "5 % 3 // 1"),
    *("1 || 2 + 3", "10 - 2 || 'x'", "2::VARCHAR || 1", "-1::INTEGER", "7 - 2 - 1", "2 * -3"),
)

COMPUTED = (
    "1 + 10",
    "0.06 - 0.01",
    "7 / 2",
    "7 // 2",
    "-7 % 4",
    "2 ** 10",
    "-2 ^ 2",
    "5 & 3 | 8",
    "1 << 4",
    "CAST(2.5 AS INTEGER)",
    "CAST(2.5e0 AS INTEGER)",
    "CAST(-2.5e0 AS INTEGER)",
    "CAST('2.5' AS DECIMAL(5, 1))",
    "CAST('1e3' AS BIGINT)",
    "CAST(' 12 ' AS INTEGER)",
    "CAST('yes' AS BOOLEAN)",
    "CAST(1 AS BOOLEAN)",
    "CAST(true AS INTEGER)",
    "CAST(1.50 AS VARCHAR)",
    "CAST(1e20 AS VARCHAR)",
    "CAST(DATE '2024-02-29' AS VARCHAR)",
    "CAST(TIMESTAMP '2024-02-29 12:00:00.5' AS VARCHAR)",
    "CAST(TIMESTAMP '2024-02-29 23:00:00' AS DATE)",
    "CAST('2024-02-29T12:00:00Z' AS TIMESTAMP)",
    "CAST('2024-02-29 12:00:00+02' AS TIMESTAMP)",
    "CAST('2024-2-9' AS DATE)",
    "DATE '2024-01-31' + INTERVAL 1 MONTH",
    "DATE '2024-01-31' + INTERVAL '1 month 2 days 3 hours'",
    "TIMESTAMP '2024-03-31 10:00:00' - INTERVAL '1 month'",
    "DATE '2024-01-31' + 30",
    "DATE '2024-03-01' - DATE '2024-02-01'",
    "date_trunc('month', DATE '2024-05-17' + INTERVAL '-12 month')",
    "make_date(2024, 2, 29)",
    "make_timestamp(2024, 2, 29, 12, 30, 15.25)",
    "epoch(TIMESTAMP '2024-02-29 12:30:15.25')",
    "strftime(DATE '2024-02-29', '%d/%m/%Y')",
    "strptime('29/02/2024', '%d/%m/%Y')",
    "last_day(DATE '2024-02-03')",
    "lower('ÀB') || 'c' || 1",
    "concat('a', NULL, 2.50, true)",
    "regexp_replace('abc', '(b)', '[\\1]')",
    "substring('duckdb' FROM -2)",
    "greatest(1, 2.5, 2)",
    "round(2.345, 2)",
    "pi()",
    "date_diff('week', DATE '2024-01-01', DATE '2024-12-31')",
)


@pytest.mark.parametrize("sql", [*WRITTEN, *PRECEDENCE, *COMPUTED])
def test_constants_are_duckdbs(sql: str) -> None:
    found = emit_expression(_constant(sql)).sql(dialect="duckdb")
    asked = f"SELECT typeof({sql}), typeof({found}), ({sql}) IS NOT DISTINCT FROM ({found})"
    row = engine().execute(asked).fetchone()
    assert row is not None
    written, computed, same = row
    assert (written, same) == (computed, True)
    assert str(_constant(sql).type) == written


@pytest.mark.parametrize(
    "sql",
    [
        "CAST('abc' AS INTEGER)",
        "CAST('1/2' AS INTEGER)",
        "CAST(300 AS TINYINT)",
        "CAST('2024-02-30' AS DATE)",
        "CAST('infinity' AS DATE)",
        "CAST('nan' AS DOUBLE)",
        "make_date(2024, 13, 1)",
        "sqrt(-1)",
        "ln(0)",
        "chr(-1)",
        "DATE '9999-12-31' + 1",
        "1e400",
    ],
)
def test_constants_without_a_value_are_refused(sql: str) -> None:
    with pytest.raises(DataError):
        _bound(sql)


def test_a_constant_that_cannot_be_cast_is_null_if_tried() -> None:
    assert _constant("TRY_CAST('abc' AS INTEGER)").value is None


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (
            "to_timestamp('2024-01-02 03:04:05.678901', 'YYYY-MM-DD HH24:MI:SS.US')",
            "03:04:05.678901",
        ),
        ("to_timestamp('2024-01-02', 'YYYY-MM-DD')", "00:00:00"),
        ("to_timestamp('2024-01-02T03:04', 'YYYY-MM-DDTHH24:MI')", "03:04:00"),
        ("TIMESTAMPTZ '2024-01-02 05:04:05+02'", "03:04:05"),
        ("to_timestamp(1704164645)", "03:04:05"),
        ("CAST('2024-01-02 03:04:05' AS TIMESTAMP WITH TIME ZONE)", "03:04:05"),
    ],
)
def test_moments_with_a_zone_are_kept_in_utc(sql: str, expected: str) -> None:
    moment = dt.datetime.combine(dt.date(2024, 1, 2), dt.time.fromisoformat(expected))
    assert _constant(sql) == Literal(moment, Timestamp())


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("INTERVAL 3 MONTH", Duration(months=3)),
        ("INTERVAL '3' MONTH", Duration(months=3)),
        ("INTERVAL '-12 month'", Duration(months=-12)),
        ("INTERVAL (-3) DAY", Duration(days=-3)),
        ("INTERVAL '1 year 2 mons -3 days 04:05:06.789'", Duration(14, -3, 14_706_789_000)),
        ("INTERVAL '300.000s'", Duration(microseconds=300_000_000)),
        ("INTERVAL '1.5 days'", Duration(days=1, microseconds=DAY // 2)),
        ("INTERVAL 2 QUARTER", Duration(months=6)),
        ("INTERVAL 2 WEEKS", Duration(days=14)),
        ("3 * INTERVAL '90 minutes'", Duration(microseconds=16_200_000_000)),
        ("-(INTERVAL '1 month' - INTERVAL 2 DAY)", Duration(months=-1, days=2)),
        ("to_days(5)", Duration(days=5)),
        ("to_seconds(-90)", Duration(microseconds=-90_000_000)),
    ],
)
def test_lengths_of_time(sql: str, expected: Duration) -> None:
    found = length(parse_one(sql, dialect="duckdb"))
    assert found is not None
    assert (found.duration, found.count) == (expected, None)


@pytest.mark.parametrize(
    "duration",
    [
        Duration(),
        Duration(12, 0, 0),
        Duration(15, -1, 3_600_000_000),
        Duration(-1, 31, -1),
        Duration(0, 0, DAY),
        Duration(0, 1, 900_000_000),
    ],
)
def test_a_described_length_reads_back(duration: Duration) -> None:
    assert read(duration.describe()) == duration
    assert read(str(duration)) == duration
    assert Duration.read(str(duration)) == duration


@pytest.mark.parametrize("name", UNITS)
def test_units_are_those_of_duckdb(name: str) -> None:
    unit = unit_named(name)
    moment = "TIMESTAMP '1987-08-13 14:15:16.171819'"
    asked = f"SELECT date_trunc('{name}', {moment}) = date_trunc('{unit}', {moment})"
    if unit is None:
        with pytest.raises(Exception, match="not recognized"):
            engine().execute(asked)
    else:
        assert engine().execute(asked).fetchone() == (True,)


@pytest.mark.parametrize("name", PARTS)
def test_parts_are_those_of_duckdb(name: str) -> None:
    part = part_named(name)
    moment = "TIMESTAMP '1987-08-13 14:15:16.171819'"
    asked = f"SELECT date_part('{name}', {moment}) = {part}({moment})"
    assert engine().execute(asked).fetchone() == (True,)


def test_a_date_compared_with_a_midnight_is_compared_with_the_day() -> None:
    for sql in ("d >= TIMESTAMP '2024-01-01'", "d >= DATE '2023-12-31' + INTERVAL 1 DAY"):
        assert _bound(sql) == _bound("d >= DATE '2024-01-01'")
    assert _bound("d >= TIMESTAMP '2024-01-01 12:00:00'") != _bound("d >= DATE '2024-01-01'")


def test_numbers_are_exact() -> None:
    assert _constant("0.1").value == Fraction(1, 10)
    assert _constant("1e-1").value == Fraction(0.1)


def test_faults_have_a_place() -> None:
    with pytest.raises(Error) as caught:
        _bound("CAST('abc' AS INTEGER)")
    assert caught.value.at is not None
