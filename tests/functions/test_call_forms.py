"""Which forms of calls are calls of which function, and which are refused, with what to write."""

from __future__ import annotations

import datetime as dt
import re

import pytest
from functions.calls import MORE, bind, cases, usages
from sqlglot import exp, parse_one

from dpsql.bind.expression.current_time import constant_now
from dpsql.bind.function.function_nodes import FUNCTION_NODES
from dpsql.bind.syntax.parse import parse_query
from dpsql.emit.dialect.duckdb.expression import emit_expression
from dpsql.errors import Error, Refused, TooComplex
from dpsql.plan.expression import Call, Expression, Literal
from dpsql.plan.functions import ALIASES, FUNCTIONS, find
from dpsql.plan.traversal import subexpressions
from dpsql.schema.sql_type import (
    BIGINT,
    Boolean,
    Date,
    Double,
    Integer,
    SqlType,
    Timestamp,
    Varchar,
)

COLUMNS: dict[str, SqlType] = {
    "text": Varchar(),
    "x": Double(),
    "n": Integer(32),
    "wide": BIGINT,
    "day": Date(),
    "moment": Timestamp(),
    "flag": Boolean(),
}


def _bound(sql: str) -> Expression:
    return bind(parse_one(sql, dialect="duckdb"), COLUMNS)[0]


def _calls(expression: Expression) -> set[str]:
    return {part.function for part in subexpressions(expression) if isinstance(part, Call)}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_call_is_of_its_function(name: str) -> None:
    for case in cases(name):
        found = case.expression
        folded = isinstance(found, Literal)
        arithmetic = name in ("+", "-") and case.columns[0].type != Date()
        assert folded or arithmetic or name in _calls(found), case.name


@pytest.mark.parametrize("alias", ALIASES)
def test_an_alias_is_its_function(alias: str) -> None:
    entry = find(alias.upper())
    assert entry is not None
    assert entry.name == ALIASES[alias]
    if alias.isidentifier() and alias != "position":
        sql = re.sub(rf"\b{entry.name}\b", alias, entry.usage) if alias != "mod" else "mod(x, 7)"
        sql = sql.replace("(a, b)", "(day, moment)").replace("'day', a, b", "'day', day, moment")
        if alias == "substr":
            sql = "substr(text, 1, 2)"
        assert entry.name in _calls(_bound(sql)), sql


def test_every_class_of_syntax_node_is_reached() -> None:
    """What the parser gives a class of its own is mapped back to the function it was."""
    sql = [usage for entry in FUNCTIONS.values() for usage in usages(entry)]
    sql += ["weekofyear(day)", "day % 3", "dayofmonth(day)", "regexp_like(text, 'a')"]
    seen = {type(node) for usage in sql for node in parse_one(usage, dialect="duckdb").walk()}
    assert set(FUNCTION_NODES) - seen == set()
    assert set(MORE) <= set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_emitted_call_is_read_back(name: str) -> None:
    """The SQL that the engine gets is a call of the function, whatever sqlglot names it."""
    for case in {case.sql: case for case in cases(name)}.values():
        tree = parse_one(emit_expression(case.expression).sql(dialect="duckdb"), dialect="duckdb")
        assert tree.sql(dialect="duckdb")


REFUSED = {
    # Volatile, or about the session.
    "random()": "42883",
    "uuid()": "42883",
    "setseed(0.5)": "42883",
    "nextval('s')": "42883",
    "current_setting('threads')": "42883",
    "getvariable('v')": "42883",
    "current_user": "42883",
    "current_time": "42883",
    # About the data, or about files.
    "stats(x)": "42883",
    "hash(x)": "42883",
    "read_text('/etc/passwd')": "42883",
    "getenv('HOME')": "42883",
    "sleep_ms(wide)": "42883",
    "error(text)": "42883",
    # Without a total form, or without an end.
    "repeat(text, 1000000000)": "42883",
    "format('{}', text)": "42883",
    "printf('%d', n)": "42883",
    "to_base(n, 2)": "42883",
    "factorial(n)": "42883",
    "levenshtein(text, text)": "42883",
    "age(moment, moment)": "42883",
    "bar(x, 0, 1)": "42883",
    "text::JSON": "0A000",
    "text[n]": "0A000",
    "text[-1]": "0A000",
    "text[1:n]": "0A000",
    "[x]": "0A000",
    "moment AT TIME ZONE 'UTC'": "0A000",
    "moment AT TIME ZONE 'UTC' AT TIME ZONE text": "0A000",
    "convert_timezone('UTC', 'CET', moment)": "0A000",
    "convert_timezone('UTC', text, moment)": "0A000",
    "convert_timezone('Europe/Berlin', moment)": "0A000",
    "day::TIMESTAMPTZ": "0A000",
    "text COLLATE NOCASE": "0A000",
    "text LIKE 'a!' ESCAPE '!'": "0A000",
    "text LIKE 'a!%' ESCAPE '!!'": "0A000",
    "text GLOB 'a!%' ESCAPE '!'": "0A000",
    "n BETWEEN SYMMETRIC 1 AND 2": "0A000",
    "'a' 'b'": "0A000",
    "~n + 1": "0A000",
    "text ^@ 'a' || 'b'": "0A000",
    "INTERVAL 1 DAY": "0A000",
    "INTERVAL 1 DAY * 2 * n": "0A000",
    # Arguments that have to be constants, of a size.
    "text LIKE text": "0A000",
    "regexp_matches(text, text)": "0A000",
    "regexp_matches(text, '(')": "0A000",
    "regexp_matches(text, 'a', 'q')": "0A000",
    "regexp_matches(text, 'a{2000}')": "0A000",
    "regexp_extract(text, '(a)', 7 - n)": "0A000",
    "regexp_replace(text, 'a', '\\2')": "0A000",
    "regexp_replace(text, 'a', text)": "0A000",
    "substring(text FROM n)": "0A000",
    "substring(text FROM 3000000000)": "0A000",
    "left(text, n)": "0A000",
    "lpad(text, 100000, 'x')": "0A000",
    "lpad(text, 5, '')": "0A000",
    "rpad(text, n, ' ')": "0A000",
    "replace(text, 'a', text)": "0A000",
    f"replace(text, 'a', '{'b' * 1001}')": "0A000",
    f"replace(replace(text, 'a', '{'b' * 999}'), 'b', '{'c' * 999}')": "0A000",
    "split_part(text, '-', n)": "0A000",
    "round(x, n)": "0A000",
    "round(x, 400)": "0A000",
    "date_trunc('fortnight', day)": "0A000",
    "date_trunc(text, day)": "0A000",
    "extract(fortnight FROM day)": "0A000",
    "date_diff(text, day, day)": "0A000",
    "strftime(day, text)": "0A000",
    "strftime(day, '%Q')": "0A000",
    "strptime(text, '%z')": "0A000",
    "time_bucket(INTERVAL '1 month 1 day', day)": "0A000",
    "time_bucket(INTERVAL '-1 day', day)": "0A000",
    # Types that a function doesn't take.
    "lower(n)": "42804",
    "sqrt(text)": "42804",
    "year(text)": "42804",
    "length(x)": "42804",
    "day + wide": "42804",
    "day + x": "42804",
    "day * 2": "42804",
    "moment - moment": "42804",
    "text + INTERVAL 1 DAY": "42804",
    "day + to_days(x)": "42804",
    "x & 1": "42804",
    "greatest(day, n)": "42804",
    "date_diff('day', n, n)": "42804",
    "CAST(day AS INTEGER)": "42804",
    "CAST(n AS DATE)": "42804",
    "-text": "42804",
}


@pytest.mark.parametrize("sql", REFUSED)
def test_refused_forms(sql: str) -> None:
    with pytest.raises(Error) as caught:
        _bound(sql)
    assert caught.value.sqlstate == REFUSED[sql], caught.value


@pytest.mark.parametrize("sql", [s for s in REFUSED if s.split("(")[0] in FUNCTIONS])
def test_a_refused_argument_comes_with_a_usage(sql: str) -> None:
    with pytest.raises(Error) as caught:
        _bound(sql)
    entry = FUNCTIONS[sql.split("(", maxsplit=1)[0]]
    # Arguments that have to be alike are told of first.
    assert entry.usage in caught.value.hint or entry.unify
    assert caught.value.hint


def test_an_unknown_pattern_of_a_moment_is_refused() -> None:
    with pytest.raises(Refused, match="pattern"):
        _bound("to_timestamp(text, 'YYYY Mon')")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_usage_is_accepted(name: str) -> None:
    assert cases(name)


CLOCK = dt.datetime.fromisoformat("2024-02-29 12:34:56.789")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("current_date", "CAST('2024-02-29' AS DATE)"),
        ("today()", "CAST('2024-02-29' AS DATE)"),
        ("now()", "CAST('2024-02-29 12:34:00' AS TIMESTAMP)"),
        ("current_timestamp", "CAST('2024-02-29 12:34:00' AS TIMESTAMP)"),
        ("localtimestamp", "CAST('2024-02-29 12:34:00' AS TIMESTAMP)"),
        ("get_current_timestamp()", "CAST('2024-02-29 12:34:00' AS TIMESTAMP)"),
    ],
)
def test_now_is_a_constant(sql: str, expected: str) -> None:
    for query in (f"SELECT {sql}", f"SELECT 1 FROM t WHERE a IN (SELECT {sql})"):
        tree = parse_query(query, lambda: CLOCK)
        assert tree.sql(dialect="duckdb") == query.replace(sql, expected)


def test_now_with_arguments_is_left_alone() -> None:
    written = parse_one("SELECT current_timestamp(3), now(1)", dialect="duckdb")
    assert isinstance(written, exp.Query)
    tree = constant_now(written, lambda: CLOCK)
    assert list(tree.find_all(exp.CurrentTimestamp))


NESTED = {
    "coalesce": "coalesce({}, 0)",
    "nullif": "nullif({}, 0)",
    "between": "CASE WHEN ({}) BETWEEN 0 AND 1 THEN 1 ELSE 0 END",
    "divide": "1 / ({})",
    "case": "CASE ({}) WHEN 1 THEN 2 WHEN 2 THEN 3 ELSE 4 END",
    "sqrt": "sqrt({})",
    "greatest": "greatest({}, 1)",
}


@pytest.mark.parametrize("form", NESTED)
def test_nests_are_small_or_refused(form: str) -> None:
    sql = "x"
    for _ in range(18):
        sql = NESTED[form].format(sql)
    try:
        emitted = emit_expression(_bound(sql)).sql(dialect="duckdb")
    except TooComplex:
        emitted = ""
    assert len(emitted) < 10**7
