"""Whether clamps would change anything is asked of each row once."""

from __future__ import annotations

from fractions import Fraction

from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.emit.sql.clauses import select_of
from dpsql.emit.sql.identifier import reference
from dpsql.physical.modifier.clamp_elimination import (
    NoClampCondition,
    are_in_range,
    are_out_of_range,
)
from dpsql.plan.bounded_release.statistic import Discretized, Statistic, Sum
from dpsql.plan.expression import Arithmetic, ArithmeticOperator, Column
from dpsql.schema.sql_type import Decimal

MONEY = Decimal(15, 2)
PRICE = Column(1, "price", MONEY)
DOUBLED = Arithmetic(ArithmeticOperator.ADD, PRICE, PRICE, Decimal(16, 2))


def _sum_of(argument: Column | Arithmetic, high: int) -> Statistic:
    return Statistic(Sum(Discretized(argument, Fraction(1, 100), 0, 100 * high, 0)), None)


def test_a_column_that_is_summed_and_computed_of_is_asked_of_once() -> None:
    statistics = (_sum_of(PRICE, 50), _sum_of(DOUBLED, 100))
    condition = NoClampCondition((0, 1), ((PRICE, Fraction(0), Fraction(50)),), ())
    for condition_sql in (
        are_in_range(condition, statistics),
        are_out_of_range(condition, statistics),
    ):
        text = rendered(select_of([reference(PRICE)]).where(condition_sql))
        assert text.count("c1 BETWEEN 0.00 AND 50.00") == 1
        assert text.count(" BETWEEN ") == 2
