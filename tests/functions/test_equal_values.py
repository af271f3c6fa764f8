"""What compares equal is the same to all that may be computed of it.

A proof takes a column that equals a determined one for determined, and with it every function of
it. That holds only if equality is a congruence: of equal arguments, every function, operator, cast,
aggregate and window has equal results. Only doubles have equal values of different bits: two zeros,
and NaNs of either sign.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import duckdb
import pytest
from functions.calls import TYPES, bind, cases, engine
from functions.samples import extreme, fill
from sqlglot import parse_one

from dpsql.bind.expression.cast import castable
from dpsql.emit.dialect.duckdb.aggregate import emit_aggregate
from dpsql.emit.dialect.duckdb.expression import emit_expression
from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.errors import TypeFault
from dpsql.plan.aggregate import QUANTILES, AggregateCall, AggregateFunction, OpenFunction
from dpsql.plan.expression import (
    Cast,
    Column,
    Compare,
    Comparison,
    Expression,
    InList,
    Literal,
)
from dpsql.plan.functions import FUNCTIONS
from dpsql.plan.numeric_types import is_number
from dpsql.plan.total_form import aggregate_form
from dpsql.schema.sql_type import BIGINT, Boolean, Double, SqlType

_EQUAL = (("0.0", "-0.0"), ("nan", "-nan"))
"""Texts of equal doubles that differ."""

_TOGETHER = 40

_BOOLEAN = (OpenFunction.BOOL_OR, OpenFunction.BOOL_AND)

_OF_ONE_UNIT = [
    function
    for function in (*AggregateFunction, *OpenFunction)
    if aggregate_form(function, Boolean() if function in _BOOLEAN else Double()) is not None
]

_OPERATORS = ("+", "-", "*", "/", "//", "%")


@dataclass(frozen=True)
class _Computed:
    """An expression over columns c0, c1 … of given types."""

    name: str
    columns: tuple[Column, ...]
    sql: str


@pytest.fixture(scope="module")
def filled() -> duckdb.DuckDBPyConnection:
    """Extreme values of each type, and of doubles those that equal another, in two columns."""
    fill(engine(), "extreme", extreme)
    for kind in (Double(32), Double(64)):
        engine().execute(f'CREATE OR REPLACE TABLE "equal {kind}" (one {kind}, other {kind})')
        for pair in _EQUAL:
            engine().execute(f'INSERT INTO "equal {kind}" VALUES (?, ?)', pair)
    return engine()


def _as_computed(name: str, expression: Expression, columns: tuple[Column, ...]) -> _Computed:
    return _Computed(name, columns, emit_expression(expression).sql(dialect="duckdb"))


def _functions() -> Iterator[_Computed]:
    for name in FUNCTIONS:
        for case in cases(name):
            yield _as_computed(case.name, case.expression, case.columns)


def _casts() -> Iterator[_Computed]:
    for source, target in itertools.permutations(TYPES, 2):
        if isinstance(source, Double) and castable(source, target):
            column = Column(0, "x", source)
            yield _as_computed(f"{source} as {target}", Cast(column, target), (column,))


def _operators() -> Iterator[_Computed]:
    numbers = [kind for kind in TYPES if is_number(kind)]
    for pair in itertools.product(numbers, repeat=2):
        kinds = dict(zip("ab", pair, strict=True))
        for operator in _OPERATORS:
            try:
                expression, columns = bind(parse_one(f"a {operator} b", dialect="duckdb"), kinds)
            except TypeFault:
                continue
            assert not isinstance(expression, Literal)
            yield _as_computed(f"{pair[0]} {operator} {pair[1]}", expression, columns)


def _conditions() -> Iterator[_Computed]:
    for kind in (Double(32), Double(64)):
        one, other = Column(0, "a", kind), Column(1, "b", kind)
        for comparison in Comparison:
            compared = Compare(comparison, one, other)
            yield _as_computed(f"{comparison.value} {kind}", compared, (one, other))
        listed = tuple(Literal(value, kind) for value in (0, 1))
        yield _as_computed(f"IN {kind}", InList(one, listed), (one,))


def _of_alike(found: Iterator[_Computed]) -> Iterator[list[_Computed]]:
    def kinds(each: _Computed) -> tuple[str, ...]:
        return tuple(str(column.type) for column in each.columns)

    with_doubles = (e for e in found if any(isinstance(c.type, Double) for c in e.columns))
    for _, group in itertools.groupby(sorted(with_doubles, key=kinds), kinds):
        some = list(group)
        yield from (some[n : n + _TOGETHER] for n in range(0, len(some), _TOGETHER))


@pytest.mark.parametrize(
    "found", [_functions, _casts, _operators, _conditions], ids=lambda found: found.__name__
)
def test_no_expression_tells_equal_values_apart(
    found: object, filled: duckdb.DuckDBPyConnection
) -> None:
    assert callable(found)
    wrong: list[str] = []
    for group in _of_alike(found()):
        for place, column in enumerate(group[0].columns):
            if isinstance(column.type, Double):
                wrong += _told_apart(filled, group, place)
    assert wrong == []


@pytest.mark.parametrize("kind", [k for k in TYPES if not isinstance(k, Double)], ids=str)
def test_equal_values_of_other_types_are_the_same(
    kind: SqlType, filled: duckdb.DuckDBPyConnection
) -> None:
    """Whatever is printed of them, and hashed, is equal."""
    same = "one.v::VARCHAR = other.v::VARCHAR AND hash(one.v) = hash(other.v)"
    pairs = f'"extreme {kind}" AS one JOIN "extreme {kind}" AS other ON one.v = other.v'
    row = filled.execute(f"SELECT bool_and({same}), count(*) FROM {pairs}").fetchone()
    assert row is not None
    assert row[0]
    assert row[1] >= len(set(extreme(kind)))


@pytest.mark.parametrize("function", _OF_ONE_UNIT, ids=lambda function: function.value)
@pytest.mark.parametrize("distinct", [False, True], ids=["all", "distinct"])
@pytest.mark.parametrize("kind", [Double(32), Double(64)], ids=str)
def test_no_aggregate_tells_equal_values_apart(
    function: AggregateFunction | OpenFunction,
    kind: SqlType,
    filled: duckdb.DuckDBPyConnection,
    *,
    distinct: bool,
) -> None:
    column, unit = Column(0, "x", kind), Column(1, "unit", BIGINT)
    argument = (
        Compare(Comparison.GREATER, column, Literal(0, kind)) if function in _BOOLEAN else column
    )
    fraction = Fraction(1, 2) if function in QUANTILES else None
    call = AggregateCall(function, (argument,), distinct, None, BIGINT, fraction)
    sql = rendered(emit_aggregate(call, unit, guarded=False))
    sides = [
        f'SELECT one, other, {side} AS c0 FROM "equal {kind}" UNION ALL '
        f'SELECT one, other, v FROM "equal {kind}", "extreme {kind}"'
        for side in ("one", "other")
    ]
    one, other = (
        f"(SELECT row_number() OVER (ORDER BY one) AS row, {sql} AS a FROM ({rows}) GROUP BY one)"
        for rows in sides
    )
    differ = "bool_or(one.a IS DISTINCT FROM other.a)"
    row = filled.execute(
        f"SELECT {differ} FROM {one} AS one JOIN {other} AS other USING (row)"
    ).fetchone()
    assert row == (False,)


def test_a_hash_doesnt_tell_equal_values_apart(filled: duckdb.DuckDBPyConnection) -> None:
    """Groups are chosen by hashes of their keys."""
    for kind in (Double(32), Double(64)):
        same = f'SELECT bool_and(hash(one) = hash(other)) FROM "equal {kind}"'
        assert filled.execute(same).fetchone() == (True,)


def _told_apart(
    connection: duckdb.DuckDBPyConnection, group: Sequence[_Computed], place: int
) -> list[str]:
    """Those of `group` that differ for two equal values of the column at `place`."""
    columns = group[0].columns
    tables = ", ".join(
        f'"{"equal" if p == place else "extreme"} {c.type}" AS t{p}' for p, c in enumerate(columns)
    )
    given = [
        ", ".join(f"t{p}.{side if p == place else 'v'} AS c{c.id}" for p, c in enumerate(columns))
        for side in ("one", "other")
    ]
    computed = ", ".join(f"{each.sql} AS e{n}" for n, each in enumerate(group))
    one, other = (
        f"(SELECT row_number() OVER () AS row, {computed} FROM (SELECT {items} FROM {tables}))"
        for items in given
    )
    differ = ", ".join(f"bool_or(one.e{n} IS DISTINCT FROM other.e{n})" for n in range(len(group)))
    asked = f"SELECT {differ} FROM {one} AS one JOIN {other} AS other USING (row)"
    row = connection.execute(asked).fetchone()
    assert row is not None
    return [each.name for each, differs in zip(group, row, strict=True) if differs]
