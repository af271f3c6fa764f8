"""Lists, lengths of time and moments with a zone go out as PostgreSQL's types, in both formats."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

FIRST = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
ANSWERS: dict[str, tuple[int, object]] = {
    "SELECT array_agg(i ORDER BY id) FROM t": (1007, [7, -7, 10, 0, None]),
    "SELECT array_agg(n ORDER BY id) FROM t WHERE id < 3": (1016, [7, -7]),
    "SELECT array_agg(d ORDER BY id) FROM t WHERE id < 3": (
        1231,
        [Decimal("1.01"), Decimal("2.50")],
    ),
    "SELECT array_agg(f ORDER BY id) FROM t WHERE id > 2": (1022, [2.5, 1e20, None]),
    "SELECT array_agg(t ORDER BY id) FROM t": (
        1009,
        ["a_b", "axb", "Line\nTwo", "É w1", None],
    ),
    "SELECT array_agg(b ORDER BY id) FROM t WHERE id < 3": (1000, [True, False]),
    "SELECT array_agg(day ORDER BY id) FROM t WHERE id = 1": (1182, [dt.date(2024, 1, 2)]),
    "SELECT array_agg(ts ORDER BY id) FROM t WHERE id = 2": (
        1115,
        [dt.datetime.fromisoformat("2024-02-29 13:00:00")],
    ),
    "SELECT array_agg(date_trunc('year', day)) FROM t WHERE id = 1": (1185, [FIRST]),
    "SELECT array_agg(ARRAY[i, j] ORDER BY id) FROM t WHERE id < 3": (1007, [[7, 2], [-7, 2]]),
    "SELECT ARRAY[interval '1 day', NULL] AS x": (1187, [dt.timedelta(days=1), None]),
    "SELECT ARRAY['NULL', '', 'a\"b', 'a\\b', '{', NULL] AS x": (
        1009,
        ["NULL", "", 'a"b', "a\\b", "{", None],
    ),
    "SELECT ARRAY[]::int[] AS x": (1007, []),
    "SELECT '{1,NULL}'::bigint[] AS x": (1016, [1, None]),
    "SELECT string_to_array('a,b', ',') AS x": (1009, ["a", "b"]),
    "SELECT ts - timestamp '2024-01-01' FROM t WHERE id = 1": (
        1186,
        dt.timedelta(days=1, hours=3, minutes=4, seconds=5, milliseconds=678),
    ),
    "SELECT i * interval '1 hour' FROM t WHERE id = 2": (1186, dt.timedelta(hours=-7)),
    "SELECT date_trunc('month', day) FROM t WHERE id = 1": (1184, FIRST),
    "SELECT max(date_trunc('year', day)) FROM t": (1184, FIRST),
    "SELECT date_trunc('month', day) + interval '1 month' FROM t WHERE id = 3": (1184, FIRST),
    "SELECT coalesce(date_trunc('month', day), ts) FROM t WHERE id = 1": (1184, FIRST),
    "SELECT m FROM (SELECT date_trunc('month', day) AS m FROM t WHERE id = 1) AS q": (1184, FIRST),
    "SELECT date_trunc('month', ts) FROM t WHERE id = 1": (1114, FIRST.replace(tzinfo=None)),
    "SELECT extract(year FROM ts) FROM t WHERE id = 1": (1700, Decimal(2024)),
}


def told(connection: Any, sql: str, *, binary: bool) -> tuple[int, object]:
    cursor = connection.execute(sql, binary=binary)
    return cursor.description[0].type_code, cursor.fetchone()[0]


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("sql", ANSWERS)
def test_values_have_postgresqls_types(ours: Any, sql: str, binary: bool) -> None:
    assert told(ours, sql, binary=binary) == ANSWERS[sql]


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("sql", ANSWERS)
def test_postgresql_tells_the_same(theirs: Any, sql: str, binary: bool) -> None:
    assert told(theirs, sql, binary=binary) == ANSWERS[sql]


@pytest.mark.parametrize("binary", [False, True])
def test_lists_of_different_lengths_are_refused(ours: Any, binary: bool) -> None:
    psycopg = pytest.importorskip("psycopg")
    sql = "SELECT ARRAY[ARRAY[1], ARRAY[2, 3]] AS x, count(*) FROM t"
    with pytest.raises(psycopg.errors.ArraySubscriptError):
        ours.execute(sql, binary=binary)


def test_a_list_that_is_bound_is_unnested(ours: Any) -> None:
    sql = "SELECT x FROM unnest(%s::bigint[]) AS u(x) ORDER BY x"
    assert ours.execute(sql, ([3, 1, 2],)).fetchall() == [(1,), (2,), (3,)]


@pytest.mark.parametrize("binary", [False, True])
def test_a_function_is_a_name_as_text_and_an_oid_in_binary(ours: Any, binary: bool) -> None:
    sql = "SELECT typinput FROM pg_type WHERE typname = 'bool'"
    cursor = ours.execute(sql, binary=binary)
    assert cursor.pgresult.ftype(0) == 24
    assert cursor.pgresult.get_value(0, 0) == (b"\0\0\x04\xda" if binary else b"boolin")
