"""width_bucket() is PostgreSQL's: the bins that its documentation has, of every kind of number."""

from __future__ import annotations

from fractions import Fraction

import duckdb
import pytest
from sqlglot import parse_one

from dpsql.bind.expression.expression import ExpressionBinder
from dpsql.bind.scope import Relation, Scope
from dpsql.emit.sql.expression import emit_expression
from dpsql.errors import Refused
from dpsql.plan.expression import Column, Expression
from dpsql.schema.sql_type import Decimal, Double, Integer, SqlType


def bucket(x: Fraction, low: Fraction, high: Fraction, count: int) -> int:
    """0 before the first end, count + 1 from the second one on, whichever is larger."""
    if low > high:
        x, low, high = -x, -low, -high
    if x < low:
        return 0
    return count + 1 if x >= high else int((x - low) * count // (high - low)) + 1


def bound(sql: str, kind: SqlType) -> Expression:
    column = Column(1, "x", kind)
    scope = Scope([Relation("t", {"x": column}, ("x",))])
    return ExpressionBinder(scope, lambda _: None).bind(parse_one(sql, dialect="duckdb"))


@pytest.mark.parametrize("kind", [Integer(32), Integer(64), Decimal(10, 2), Double()], ids=str)
@pytest.mark.parametrize(
    ("low", "high", "count"),
    [("0", "100", 10), ("100", "0", 10), ("-7", "8", 3), ("0.5", "2.5", 8), ("10", "-10", 7)],
)
def test_bins_are_postgresqls(kind: SqlType, low: str, high: str, count: int) -> None:
    number = emit_expression(bound(f"width_bucket(x, {low}, {high}, {count})", kind))
    whole = isinstance(kind, Integer)
    values = [Fraction(n, 1 if whole else 4) for n in range(-450, 451)]
    listed = ", ".join(f"(CAST({float(v)} AS {kind}))" for v in values)
    sql = f"SELECT {number.sql(dialect='duckdb')} FROM (VALUES {listed}) t(c1)"
    found = [row[0] for row in duckdb.execute(sql).fetchall()]
    assert found == [bucket(v, Fraction(low), Fraction(high), count) for v in values]


@pytest.mark.parametrize(
    "sql",
    [
        "width_bucket(x, 1, 1, 5)",
        "width_bucket(x, 0, 1, 0)",
        "width_bucket(x, 0, 1, 2.5)",
        "width_bucket(x, 0, 1, 1000000)",
        "width_bucket(x, 0, x, 5)",
        "width_bucket(x, 0, NULL, 5)",
    ],
)
def test_what_makes_no_bins_is_refused(sql: str) -> None:
    with pytest.raises(Refused, match="two different ends"):
        bound(sql, Integer(32))
