"""JSON has the text that PostgreSQL writes, or is refused."""

from __future__ import annotations

from typing import Any

import pytest
from pgwire.asked_of_both import asked

ROW = "FROM pg_class WHERE relname = 'pg_type'"
WRITTEN = {
    f"SELECT json_build_object('name', relname, 'n', NULL) {ROW}": (
        '{"name" : "pg_type", "n" : null}'
    ),
    f"SELECT jsonb_build_object('name', relname, 'k', relkind) {ROW}": (
        '{"k": "r", "name": "pg_type"}'
    ),
    f"SELECT json_agg(relname ORDER BY relname) {ROW}": '["pg_type"]',
    f"SELECT json_agg(json_build_object('n', relnatts)) {ROW}": '[{"n" : 32}]',
    f"SELECT coalesce(json_agg(relname), '[]') {ROW} AND false": "[]",
    f"SELECT json_build_object(relname, 1, relname, 2) {ROW}": '{"pg_type" : 1, "pg_type" : 2}',
    f"SELECT to_json(relname) {ROW}": '"pg_type"',
    "SELECT json_build_object('a', 1, 'b', 'x\"y')": '{"a" : 1, "b" : "x\\"y"}',
    "SELECT jsonb_build_array(1, 'a', NULL)": '[1, "a", null]',
    "SELECT '{\"a\": 1.50}'::json ->> 'a'": "1.50",
    "SELECT '{\"a\": 1e2}'::jsonb ->> 'a'": "100",
    'SELECT \'{"a": [1, {"b": "c"}]}\'::jsonb #>> \'{a,1,b}\'': "c",
    "SELECT '{\"a\": \"x\"}'::json -> 'a'": '"x"',
    "SELECT '{\"0\": 5}'::jsonb ->> 0": None,
}
"""Values that PostgreSQL 15 gave."""
REFUSED = (
    "SELECT json_object_agg(id, t) FROM t",
    "SELECT json_agg(i) FROM t",
    "SELECT row_to_json(q) FROM (SELECT i FROM t) AS q",
    'SELECT \'{"b":1,"a":2}\'::jsonb',
    "SELECT t::jsonb FROM t",
    "SELECT '{\"a\": {\"b\": 2}}'::json ->> 'a'",
    "SELECT t::json ->> 'a' FROM t",
    "SELECT json_agg(id) FROM people",
    "SELECT json_build_object('n', count(*)) FROM people",
    f"SELECT json_object_agg(relname, oid) {ROW}",
    f"SELECT jsonb_build_object(relname, 1) {ROW}",
)


@pytest.mark.parametrize(("sql", "value"), WRITTEN.items())
def test_json_is_written_as_postgresql_writes_it(ours: Any, sql: str, value: str | None) -> None:
    assert asked(ours, sql).rows == ((value,),)


@pytest.mark.parametrize("sql", REFUSED)
def test_other_json_is_refused_with_what_to_write(ours: Any, sql: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    before = ours.execute("SHOW dpsql.budget").fetchall()
    with pytest.raises(psycopg.errors.FeatureNotSupported) as refused:
        asked(ours, sql)
    assert refused.value.diag.message_hint
    assert ours.execute("SHOW dpsql.budget").fetchall() == before


def test_a_text_is_read_by_the_hint(ours: Any) -> None:
    assert asked(ours, "SELECT t ->> '$.a' AS a FROM t WHERE id = 5").rows == ((None,),)
    psycopg = pytest.importorskip("psycopg")
    with pytest.raises(psycopg.errors.InvalidTextRepresentation):
        asked(ours, "SELECT '{bad'::json ->> 'a'")
