"""Rows whose values are bounded together: those that sums and means read are scaled into a ball.

sum(x), avg(y)   with norm: {columns: [x, y], l2: 5}

(3, 4) counts as it is, (30, 40) as (3, 4): a row changes both sums by a vector of length 5, and not
by one of length 5·√2, as two columns within [-5, 5] do.

The scaled columns are expressions of doubles. Each operation of theirs is off by 2^-53 of its
result at most, so that all together are off by less than 2^-40, by which the ball that rows are
scaled into is smaller. Dividing by a power of two is exact, and what is rounded toward 0 is no
further from 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import reduce
from math import ceil
from typing import Final

from dpsql.analysis.row_norms import NormOfColumn
from dpsql.bounding.statistics.discretization import Grid, power_of_two
from dpsql.plan.aggregate import AggregateCall, AggregateFunction
from dpsql.plan.bounded_release.statistic import BallMember, Discretized, NormBall
from dpsql.plan.expression import (
    And,
    Arithmetic,
    ArithmeticOperator,
    Call,
    Case,
    Cast,
    Column,
    Compare,
    Comparison,
    Expression,
    Literal,
    When,
    double,
)
from dpsql.plan.operator import Scan
from dpsql.schema.row_norm import RowNorm
from dpsql.schema.sql_type import Double

_STEPS: Final = 2**30
"""The radius has about so many steps: what is rounded off is far below any noise."""

_SHORTER: Final = 1 - Fraction(1, 2**40)
_FARTHEST: Final = Fraction(2**400)
"""Values beyond, also infinite ones and NaN, are missing: their squares may be infinite."""

_SCALED: Final = frozenset({AggregateFunction.SUM, AggregateFunction.AVG})


class BallGrid(Grid, frozen=True):
    """The integers of one column of `ball`, whose middle is 0."""

    ball: NormBall

    def centered(self, argument: Expression, center: int) -> Discretized:
        """`argument` scaled into the ball, which is about 0."""
        if center != 0 or not isinstance(argument, Column):
            raise ValueError("the columns of a ball are scaled toward 0")
        scaled = _scaled(argument, self.ball, self.step)
        return Discretized(
            scaled, self.step, self.low, self.high, 0, BallMember(argument, self.ball)
        )


def ball_grids(
    norms: NormOfColumn,
    calls: Iterable[AggregateCall],
    alone: Callable[[Expression, AggregateCall], Grid],
) -> dict[Expression, BallGrid]:
    """The grids of columns that `calls` sum and that are better scaled together.

    `alone` is the grid of a column that isn't scaled. A row's sums change by less if the radius is
    less than the norm of what the columns can be on their own: of one column it isn't, nor where a
    condition leaves each little.
    """
    summed: dict[tuple[Scan, RowNorm], dict[Column, Fraction]] = {}
    for call in calls:
        if call.function in _SCALED and not call.distinct:
            (argument,) = call.arguments
            if isinstance(argument, Column) and argument.id in norms:
                columns = summed.setdefault(norms[argument.id], {})
                farthest = _farthest(alone(argument, call), call)
                columns[argument] = max(farthest, columns.get(argument, farthest))
    balls = [
        NormBall(tuple(sorted(columns, key=_by_id)), norm.radius, norm.order)
        for (_, norm), columns in summed.items()
        if norm.radius**norm.order < sum(far**norm.order for far in columns.values())
    ]
    return {column: _grid(ball) for ball in balls for column in ball.columns}


def _farthest(grid: Grid, call: AggregateCall) -> Fraction:
    """The distance of a column's values from where they are centred: means count their rows."""
    if call.function is AggregateFunction.AVG:
        return (grid.high - grid.low) * grid.step / 2
    return max(abs(grid.low), abs(grid.high)) * grid.step


def _by_id(column: Column) -> int:
    return column.id


def _grid(ball: NormBall) -> BallGrid:
    step = power_of_two(ball.radius / _STEPS)
    steps = ceil(ball.radius / step)
    return BallGrid(-steps, steps, step, ball)


def _scaled(column: Column, ball: NormBall, step: Fraction) -> Expression:
    """`column` times what brings its row into `ball`, in whole `step`s; NULL where it has none."""
    radius = double(_double_below(ball.radius * _SHORTER))
    norm = _norm([_finite(c, otherwise=double(Fraction(0))) for c in ball.columns], ball.order)
    beyond = When(Compare(Comparison.GREATER, norm, radius), _divided(radius, norm))
    factor = Case((beyond,), double(Fraction(1)), Double())
    scaled = _times(_finite(column, otherwise=Literal(None, Double())), factor)
    steps = Call("trunc", (_times(scaled, double(1 / step)),), Double())
    return _times(steps, double(step))


def _finite(column: Column, *, otherwise: Literal) -> Expression:
    """The column as a double whose square is finite; `otherwise` where it is none.

    NaN is greater than every number, in all engines.
    """
    number = column if column.type == Double() else Cast(column, Double())
    low = Compare(Comparison.GREATER_EQUAL, number, double(-_FARTHEST))
    high = Compare(Comparison.LESS_EQUAL, number, double(_FARTHEST))
    return Case((When(And((low, high)), number),), otherwise, Double())


def _norm(numbers: list[Expression], order: int) -> Expression:
    if order == 1:
        return _sum([Call("abs", (number,), Double()) for number in numbers])
    return Call("sqrt", (_sum([_times(number, number) for number in numbers]),), Double())


def _sum(numbers: Sequence[Expression]) -> Expression:
    return reduce(_plus, numbers)


def _plus(left: Expression, right: Expression) -> Expression:
    return Arithmetic(ArithmeticOperator.ADD, left, right, Double())


def _times(left: Expression, right: Expression) -> Expression:
    return Arithmetic(ArithmeticOperator.MULTIPLY, left, right, Double())


def _divided(left: Expression, right: Expression) -> Expression:
    return Arithmetic(ArithmeticOperator.DIVIDE, left, right, Double())


def _double_below(number: Fraction) -> Fraction:
    """The largest multiple of 2^-52 of its magnitude that isn't above `number`, a double."""
    step = power_of_two(number) / 2**53
    return number // step * step
