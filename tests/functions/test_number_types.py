"""Types of operators on numbers, over all pairs of them, are DuckDB's."""

from __future__ import annotations

import itertools
from random import Random

import pytest
from functions.calls import TYPES, bind, engine
from functions.samples import extreme, fill
from sqlglot import parse_one

from dpsql.analysis.domains.vectorized_evaluation import arithmetic
from dpsql.bind.expression.coercion import common_type
from dpsql.emit.dialect.duckdb.expression import emit_expression
from dpsql.errors import TypeFault
from dpsql.plan.expression import Arithmetic, ArithmeticOperator
from dpsql.plan.functions import evaluation
from dpsql.plan.numeric_types import is_number
from dpsql.schema.sql_type import Decimal, Double, Integer, SqlType

NUMBERS = tuple(kind for kind in TYPES if is_number(kind))
OPERATORS = ("+", "-", "*", "/", "//", "%", "&", "|", "<<", ">>")
TYPED = ("length('x')", "5::BIGINT", "7::HUGEINT", "year(DATE '2024-01-01')")
CONSTANTS = ("0", "1", "7", "127", "128", "1000", "100000", "3000000000", "(-1)", "(-200)")


def _type(sql: str, kinds: tuple[SqlType, ...]) -> str:
    row = ", ".join(f"NULL::{kind} AS {name}" for name, kind in zip("ab", kinds, strict=False))
    asked = f"SELECT column_type FROM (DESCRIBE SELECT {sql} FROM (SELECT {row}))"
    found = engine().execute(asked).fetchone()
    assert found is not None
    return str(found[0])


def _ours(sql: str, kinds: tuple[SqlType, ...]) -> str:
    try:
        found, _ = bind(parse_one(sql, dialect="duckdb"), dict(zip("ab", kinds, strict=False)))
    except TypeFault:
        return "-"
    return str(found.type)


@pytest.mark.parametrize("operator", OPERATORS)
def test_pairs(operator: str) -> None:
    sql = f"a {operator} b"
    for pair in itertools.product(NUMBERS, repeat=2):
        ours = _ours(sql, pair)
        if ours != "-":
            assert ours == _type(sql, pair), pair


@pytest.mark.parametrize("operator", ["+", "-", "*", "//", "%"])
def test_an_integer_constant_takes_the_type_beside_it_if_it_fits(operator: str) -> None:
    for kind, constant in itertools.product(NUMBERS, CONSTANTS):
        sql = f"a {operator} {constant}"
        assert _ours(sql, (kind,)) == _type(sql, (kind,)), (kind, constant)


@pytest.mark.parametrize("operator", ["+", "-", "*", "//", "%"])
@pytest.mark.parametrize("constant", TYPED)
def test_a_constant_of_another_type_keeps_it(operator: str, constant: str) -> None:
    """Of `tiny + length('x')` the engine computes 128, which no TINYINT is."""
    for kind in NUMBERS:
        for sql in (f"a {operator} {constant}", f"coalesce(a, {constant})"):
            ours = _ours(sql, (kind,))
            assert ours == "-" or ours == _type(sql, (kind,)), (sql, kind)


@pytest.mark.parametrize("operator", ["+", "-", "*", "%"])
def test_a_truth_value_is_no_number(operator: str) -> None:
    """The engine has no such operator: taken for one, it failed each statement after its charge."""
    for kind in NUMBERS:
        assert _ours(f"a {operator} true", (kind,)) == "-"


def test_decimals() -> None:
    random = Random("decimals")
    every = [Decimal(p, s) for p in range(1, 39) for s in range(p + 1)]
    for _ in range(300):
        pair = random.choice(every), random.choice(every)
        for operator in ("+", "*", "%"):
            sql = f"a {operator} b"
            ours = _ours(sql, pair)
            assert ours == "-" or ours == _type(sql, pair), (sql, pair)


def test_common_types() -> None:
    """DuckDB converts UHUGEINT beside a signed integer to a type that it doesn't fit in."""
    unsigned = Integer(128, signed=False)
    for pair in itertools.product(NUMBERS, repeat=2):
        if unsigned in pair and any(isinstance(k, Integer) and k.signed for k in pair):
            continue
        assert str(common_type(list(pair))) == _type("coalesce(a, b)", pair), pair


@pytest.mark.parametrize("constant", CONSTANTS)
def test_common_types_with_constants(constant: str) -> None:
    for kind in NUMBERS:
        for sql in (f"coalesce(a, {constant})", f"CASE WHEN a IS NULL THEN {constant} ELSE a END"):
            ours = _ours(sql, (kind,))
            assert ours == "-" or ours == _type(sql, (kind,)), (sql, kind)


@pytest.mark.parametrize("operator", ArithmeticOperator)
@pytest.mark.parametrize("kind", [Integer(8), Integer(64), Integer(32, signed=False), Double()])
def test_python_computes_as_the_engine(operator: ArithmeticOperator, kind: SqlType) -> None:
    """Integers and doubles of listed values aren't sent to the engine; they might as well be."""
    fill(engine(), "extreme", extreme)
    found, _ = bind(parse_one(f"a {operator.value} b"), {"a": kind, "b": kind})
    assert isinstance(found, Arithmetic)
    rows = f'(SELECT v AS c0 FROM "extreme {kind}"), (SELECT v AS c1 FROM "extreme {kind}")'
    emitted = f"CAST({emit_expression(found).sql(dialect='duckdb')} AS VARCHAR)"
    operands = "CAST(c0 AS VARCHAR), CAST(c1 AS VARCHAR)"
    found_rows = engine().execute(f"SELECT {operands}, {emitted} FROM {rows}").fetchall()
    for left, right, expected in found_rows:
        sides = [(None if t is None else evaluation._value(t, kind),) for t in (left, right)]
        value = None if expected is None else evaluation._value(expected, found.type)
        if not {left, right} & {"nan", "inf", "-inf"}:
            assert arithmetic(found, *sides) == (value,), (left, right)
