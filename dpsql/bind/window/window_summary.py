"""The call of a window function; quantiles, variances and standard deviations over windows."""

from __future__ import annotations

from msgspec import Struct
from sqlglot import exp

from dpsql.bind.aggregate.quantile_rank import fraction_of
from dpsql.bind.aggregate.result_type import result_type
from dpsql.bind.aggregate.syntax import parse
from dpsql.bind.expression.expression import ExpressionBinder
from dpsql.bind.syntax.allowlist import unlisted
from dpsql.bind.syntax.parse import span
from dpsql.errors import TypeFault
from dpsql.plan.aggregate import QUANTILES, SPREADS, AggregateFunction
from dpsql.plan.expression import Case, Expression, Literal, When
from dpsql.schema.sql_type import Double, SqlType

SUMMARIES = (
    exp.Median,
    exp.Quantile,
    exp.PercentileCont,
    exp.PercentileDisc,
    exp.WithinGroup,
    exp.Stddev,
    exp.StddevPop,
    exp.StddevSamp,
    exp.Variance,
    exp.VariancePop,
)


class Called(Struct, frozen=True):
    """The function that is computed over a window's rows, with its bound arguments."""

    name: str
    arguments: tuple[Expression, ...]
    type: SqlType
    ignores_nulls: bool = False
    distinct: bool = False


def of_those(condition: Expression, value: Expression) -> Case:
    """`value` in the rows that satisfy `condition`, NULL in the others."""
    return Case((When(condition, value),), Literal(None, value.type), value.type)


def summary(call: exp.Expr, binder: ExpressionBinder, condition: Expression | None) -> Called:
    """A quantile, variance or standard deviation of the rows that satisfy `condition`."""
    written = parse(call)
    if written is None or written.distinct or written.function not in QUANTILES | SPREADS:
        raise unlisted(call)
    value, at = binder.bind(written.arguments[0]), span(call)
    kind = result_type(written.function, [value.type])
    if kind is None:
        raise TypeFault(f"{written.function.value}({value.type}) has no rule", at=at)
    arguments = [value if condition is None else of_those(condition, value)]
    if written.fraction is not None:
        fraction = fraction_of(written.fraction, binder, at, descending=written.descending)
        if written.descending and written.function is AggregateFunction.QUANTILE_DISC:
            fraction -= 1  # DuckDB counts a negative fraction from the greatest value down
        arguments.append(Literal(fraction, Double()))
    return Called(written.function.value, tuple(arguments), kind)
