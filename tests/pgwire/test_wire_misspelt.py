"""Statements that PostgreSQL has an error for: the same SQLSTATE, and its words of names and types.

Where a server of it is named, it is asked, too, and misspelt statements are generated.
"""

from __future__ import annotations

import re
from collections import Counter
from random import Random
from typing import Any

import pytest
from fuzz.spoken import statement
from pgwire.asked_of_both import asked

ERRORS = {
    "SELECT to_char(nosuch, 'YYYY') FROM t": 'column "nosuch" does not exist',
    "SELECT num_nulls(nosuch) FROM t": 'column "nosuch" does not exist',
    "SELECT nosuch(nocol) FROM t": 'column "nocol" does not exist',
    "SELECT upper(x.t) FROM t": 'missing FROM-clause entry for table "x"',
    "SELECT upper(t.nosuch) FROM t": "column t.nosuch does not exist",
    "SELECT nosuch AT TIME ZONE 'UTC' FROM t": 'column "nosuch" does not exist',
    "SELECT (regexp_match(nosuch, 'a'))[1] FROM t": 'column "nosuch" does not exist',
    "SELECT pg_typeof(nosuch) FROM t": 'column "nosuch" does not exist',
    "SELECT nosuch / 2 FROM (SELECT i FROM t) AS q": 'column "nosuch" does not exist',
    "SELECT nosuch(i, 'a') FROM t": "function nosuch(integer, unknown) does not exist",
    "SELECT sum(i) FROM t WHERE nosuch(t) = 1": "function nosuch(text) does not exist",
    "SELECT i FROM nowhere": 'relation "nowhere" does not exist',
    "SELECT to_char(nosuch, 'YYYY') FROM nowhere": 'relation "nowhere" does not exist',
    "SELECT pg_catalog.nosuch(i) FROM t": None,
    "SELECT 1 / 0 FROM t": "division by zero",
    "SELECT i FROM t WHERE 7 % 0 = i": "division by zero",
    "SELECT nosuch.upper(t) FROM t": 'schema "nosuch" does not exist',
    "SELECT upper(i) FROM t": "function upper(integer) does not exist",
    "SELECT sum(t) FROM t": "function sum(text) does not exist",
    "SELECT extract(year FROM i) FROM t": (
        "function pg_catalog.extract(unknown, integer) does not exist"
    ),
    "SELECT i + t FROM t": "operator does not exist: integer + text",
    "SELECT -t FROM t": "operator does not exist: - text",
    "SELECT i LIKE 'a%' FROM t": "operator does not exist: integer ~~ unknown",
    "SELECT id FROM t WHERE day = 5": "operator does not exist: date = integer",
    "SELECT id FROM t WHERE t IN (1, 2)": "operator does not exist: text = integer",
    "SELECT i + 'a' FROM t": 'invalid input syntax for type integer: "a"',
    "SELECT coalesce(i, 'a') FROM t": 'invalid input syntax for type integer: "a"',
    "SELECT date_trunc('nosuch', ts) FROM t": (
        'unit "nosuch" not recognized for type timestamp without time zone'
    ),
    "SELECT extract(nosuch FROM day) FROM t": 'unit "nosuch" not recognized for type date',
    "SELECT i::nosuch FROM t": 'type "nosuch" does not exist',
    "SELECT i FROM t WHERE i IN ()": 'syntax error at or near ")"',
    "SELECT i FROM t WHERE i NOT IN ()": 'syntax error at or near ")"',
    "SELECT i FROM t WHERE i IN (1,)": 'syntax error at or near ")"',
    "SELECT count(*) FROM t,": "syntax error at end of input",
    "SELECT count(*) FROM t, WHERE i = 1": 'syntax error at or near "WHERE"',
    "SELECT i, from t": 'syntax error at or near "from"',
    "SELECT i, count(*) FROM t GROUP BY i, ORDER BY i": 'syntax error at or near "ORDER"',
    "SELECT i FROM t GROUP BY i, LIMIT 1": 'syntax error at or near "LIMIT"',
    "SELECT coalesce(i,) FROM t": 'syntax error at or near ")"',
    "WITH x AS (SELECT i FROM t), SELECT i FROM x": 'syntax error at or near "SELECT"',
}
"""PostgreSQL's messages; None where it has other words."""
STATES = {
    "division": "22012",
    "column": "42703",
    "relation": "42P01",
    "missing": "42P01",
    "function": "42883",
    "operator": "42883",
    "schema": "3F000",
    "invalid": "22P02",
    "unit": "22023",
    "type": "42704",
    "syntax": "42601",
}
NAMES = re.compile(r"\b(id|i|j|n|s|f|d|t|day|ts|b|upper|lower|abs|round|length|to_char|md5|sum)\b")
CHUNK = 150


def _error(connection: Any, sql: str) -> tuple[str, str] | None:
    """The SQLSTATE and the message; None if there is an answer."""
    psycopg = pytest.importorskip("psycopg")
    try:
        asked(connection, sql)
    except psycopg.Error as error:
        return error.sqlstate or "", error.diag.message_primary or ""
    return None


@pytest.mark.parametrize(("sql", "message"), ERRORS.items())
def test_an_error_has_postgresqls_state_and_words(ours: Any, sql: str, message: str | None) -> None:
    found = _error(ours, sql)
    assert found is not None
    if message is not None:
        assert found == (STATES[message.split()[0]], message)


def test_double_quotes_around_a_text_are_told(ours: Any) -> None:
    psycopg = pytest.importorskip("psycopg")
    with pytest.raises(psycopg.Error) as raised:
        asked(ours, 'SELECT count(*) FROM t WHERE t = "Q7"')
    assert raised.value.diag.message_hint == "double quotes are those of names: 'Q7' is a text"


@pytest.mark.parametrize("sql", ERRORS)
def test_postgresql_has_the_same_state(ours: Any, theirs: Any, sql: str) -> None:
    found, wanted = _error(ours, sql), _error(theirs, sql)
    assert found is not None
    assert wanted is not None
    assert found[0] == wanted[0]
    if ERRORS[sql] is not None:
        assert found == wanted


def test_a_misspelt_name_is_refused_as_by_postgresql(ours: Any, theirs: Any) -> None:
    """What has one wrong name has PostgreSQL's SQLSTATE, in nineteen of twenty statements."""
    random = Random("misspelt")
    seen: Counter[bool] = Counter()
    for _ in range(CHUNK):
        sql = statement(random)
        names = list(NAMES.finditer(sql))
        name = random.choice(names)
        misspelt = f"{sql[: name.start()]}{name[0]}_x{sql[name.end() :]}"
        wanted = _error(theirs, misspelt)
        if wanted is None or wanted[0] not in {"42703", "42883", "42P01"}:
            continue
        found = _error(ours, misspelt)
        assert found is not None, (misspelt, wanted)
        assert found[0] != "XX000", misspelt
        seen[found[0] == wanted[0]] += 1
    assert seen[True] > 19 * seen[False], seen
