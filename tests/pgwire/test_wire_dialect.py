"""Statements mean what they mean in PostgreSQL, or are refused: answers are PostgreSQL's."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import Any

import pytest
from neighbor_search.share import in_turn
from pgwire.asked_of_both import asked, fill, recorded

RECORDED = recorded()
REFUSED = [
    "SELECT t::char(2) LIKE 'a%' FROM t",
    r"SELECT '\x6162'::bytea FROM t",
    "SELECT array_agg(i)::text FROM t",
    "SELECT a::text FROM (SELECT array_agg(i) AS a FROM t) AS q",
    "SELECT f::float4::numeric FROM t",
    "SELECT make_interval(days => i) FROM t",
    "SELECT date_bin(interval '15 minutes', ts, ts) FROM t",
    "SELECT string_to_array(t, t) FROM t",
    "SELECT concat(t::char(2), 'a') FROM t",
    "SELECT t::char(2) FROM t ORDER BY 1",
    "SELECT c FROM (SELECT t::char(2) AS c FROM t) AS q",
    "SELECT to_char(ts, 'J') FROM t",
    "SELECT to_char(ts, 'DDTH') FROM t",
    "SELECT to_char(f, '999') FROM t",
    "SELECT to_char(i, '9.99EEEE') FROM t",
    "SELECT to_char(i, 'L999') FROM t",
    "SELECT to_char(d, '.99') FROM t",
    "SELECT to_char(i, 'RN') FROM t",
    "SELECT to_char(i, 'FM999PR') FROM t",
    "SELECT to_char(i, 'S999MI') FROM t",
    "SELECT to_char(i, t) FROM t",
    "SELECT ts + interval '1 day 2' FROM t",
    "SELECT ts + interval '1 day ago' FROM t",
    "SELECT (i / 2.0)::text FROM t",
    "SELECT t::numeric FROM t",
    r"SELECT t ~ '(a)\1' FROM t",
    r"SELECT t ~ '\mab' FROM t",
    "SELECT t SIMILAR TO '[ab]%' FROM t",
    "SELECT regexp_replace(t, 'foo|foobar', 'x') FROM t",
    "SELECT regexp_count(t, 'a?(ab)?') FROM t",
    "SELECT regexp_replace(t, 'a+b*?', 'x') FROM t",
    "SELECT id FROM t WHERE regexp_matches(t, 'a')",
    "SELECT regexp_match(t, 'a') FROM t",
    "SELECT (regexp_match(t, 'a(x)?'))[1] FROM t",
    "SELECT (regexp_match(t, '(a)(.)'))[1] FROM t",
    "SELECT (regexp_match(t, 'a(.)'))[2] FROM t",
    "SELECT substring(t FROM 'foo|foobar') FROM t",
    "SELECT regexp_substr(t, 'a.', 2) FROM t",
    "SELECT t !~ ALL (ARRAY['^a']) FROM t",
    "SELECT t LIKE ANY (SELECT t FROM t) FROM t",
    "SELECT array_length(ARRAY[1], 2) FROM t",
    "SELECT split_part(t, '', 2) FROM t",
    r"SELECT E'\x41' || t FROM t",
    "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY i DESC) FROM t",
    "SELECT pg_typeof(avg(i)) FROM t",
    "SELECT (string_to_array(t, '_'))[1] FROM t",
    "SELECT (i, j) AS both FROM t",
    "SELECT i << j FROM t",
    "SELECT concat(round(d, 5)) FROM t",
    "SELECT ts AT TIME ZONE 'CET' FROM t",
    "SELECT ts AT TIME ZONE '+02:00' FROM t",
    "SELECT ts AT TIME ZONE INTERVAL '2 hours' FROM t",
    "SELECT ts AT TIME ZONE t FROM t",
    "SELECT ts::timestamptz(0) FROM t",
    "SELECT date_trunc('hour', ts, 'Europe/Berlin') FROM t",
]


@pytest.mark.parametrize("sql", in_turn(((sql, (sql,)) for sql in RECORDED), 2))
def test_an_answer_is_postgresqls(ours: Any, sql: str) -> None:
    told = asked(ours, sql)
    assert told.matches(RECORDED[sql]), (told, RECORDED[sql])


@pytest.mark.parametrize("sql", REFUSED)
def test_what_has_another_meaning_here_is_refused(ours: Any, sql: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    with pytest.raises(psycopg.errors.FeatureNotSupported) as raised:
        asked(ours, sql)
    assert raised.value.diag.message_hint


def test_distinct_on_is_ordered_by_its_keys_first(ours: Any) -> None:
    psycopg = pytest.importorskip("psycopg")
    for order in ("i, j", "t.i", "2"):
        with pytest.raises(psycopg.errors.SyntaxError, match="must match initial ORDER BY"):
            asked(ours, f"SELECT DISTINCT ON (j) j, i FROM t ORDER BY {order}")


@pytest.mark.parametrize(
    ("compared", "answer"),
    [
        ("(1, j) = (1, 2)", None),
        ("(1, j) = (2, 2)", "f"),
        ("(1, j) <> (1, 2)", None),
        ("(1, j) <> (2, 2)", "t"),
        ("(1, j) < (2, 0)", "t"),
        ("(j, 1) < (2, 0)", None),
        ("(1, j) >= (1, 0)", None),
        ("(1, j) IN ((1, 2), (2, 2))", None),
        ("(1, j) NOT IN ((2, 2), (3, 3))", "t"),
        ("ROW(1, 2) <= ROW(1, 2)", "t"),
        ("(1, 2) BETWEEN (1, 1) AND (1, 3)", "t"),
        ("(1, j) IN (SELECT 1, 2)", None),
    ],
)
def test_a_null_in_a_row_leaves_a_comparison_unknown(
    ours: Any, compared: str, answer: str | None
) -> None:
    told = asked(ours, f"SELECT {compared} AS c FROM (SELECT NULL::integer AS j) AS n")
    assert told.rows == ((answer,),)


def test_whether_rows_exist_is_refused_in_favour_of_their_count(ours: Any) -> None:
    psycopg = pytest.importorskip("psycopg")
    with pytest.raises(psycopg.Error) as raised:
        asked(ours, "SELECT 1 AS a FROM people WHERE id = 7 LIMIT 1")
    assert "count(*)" in raised.value.diag.message_hint


def test_recorded_answers_are_those_of_postgresql() -> None:
    psycopg = pytest.importorskip("psycopg")
    if not os.environ.get("DPSQL_POSTGRES"):
        pytest.skip("DPSQL_POSTGRES names no server")
    with psycopg.connect(os.environ["DPSQL_POSTGRES"], autocommit=True) as found:
        fill(found)
        differ = [sql for sql, told in RECORDED.items() if not asked(found, sql).matches(told)]
    assert differ == []


@pytest.mark.parametrize(
    ("items", "types"),
    [
        ("d / 3, i / 2.0, avg(i) OVER (), stddev(d) OVER ()", [1700] * 4),
        ("f / 3, avg(f) OVER (), i ^ 2, sqrt(i * i)", [701] * 4),
        ("extract(epoch FROM ts), extract(hour FROM ts), date_part('hour', ts)", [1700, 1700, 701]),
        ("f::numeric, d::numeric, ln(2.0), power(d, 2)", [1700] * 4),
        ("regexp_instr(t, 'b'), bit_length(t), cardinality(ARRAY[i])", [23] * 3),
        ("ts AT TIME ZONE 'UTC', ts AT TIME ZONE 'UTC' AT TIME ZONE 'UTC'", [1184, 1114]),
        ("ARRAY[d / 3], to_char(d, '999')", [1231, 25]),
    ],
)
def test_columns_have_postgresqls_types(ours: Any, items: str, types: list[int]) -> None:
    psycopg = pytest.importorskip("psycopg")
    sql = f"SELECT {items} FROM t"
    servers = [ours]
    with ExitStack() as stack:
        if os.environ.get("DPSQL_POSTGRES"):
            theirs = psycopg.connect(os.environ["DPSQL_POSTGRES"], autocommit=True)
            servers.append(stack.enter_context(theirs))
            fill(theirs)
        for server in servers:
            for is_binary in (False, True):
                cursor = server.cursor(binary=is_binary).execute(sql)
                assert [column.type_code for column in cursor.description] == types
        values = [server.cursor(binary=True).execute(sql).fetchone() for server in servers]
    assert values[0] is not None
    assert [type(value) for value in values[0]] == [type(value) for value in values[-1]]
