"""Which aggregate a node of the parser is: its function, arguments, and a quantile's fraction."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from msgspec import Struct
from sqlglot import exp

from dpsql.bind.aggregate.derived_aggregate import DERIVED_NAMES, is_derived
from dpsql.bind.syntax.allowlist import require_args, unsupported
from dpsql.bind.syntax.parse import span
from dpsql.errors import Refused
from dpsql.plan.aggregate import (
    NO_FUNCTION_OF_SQL,
    AggregateFunction,
    OpenFunction,
    OutputKind,
)
from dpsql.schema.sql_type import HUGEINT, Integer, SqlType

_PLAIN: dict[type[exp.Expr], AggregateFunction] = {
    exp.Count: AggregateFunction.COUNT,
    exp.Sum: AggregateFunction.SUM,
    exp.Avg: AggregateFunction.AVG,
    exp.Min: AggregateFunction.MIN,
    exp.Max: AggregateFunction.MAX,
    exp.VariancePop: AggregateFunction.VAR_POP,
    exp.Variance: AggregateFunction.VAR_SAMP,
    exp.StddevPop: AggregateFunction.STDDEV_POP,
    exp.Stddev: AggregateFunction.STDDEV_SAMP,
    exp.StddevSamp: AggregateFunction.STDDEV_SAMP,
    exp.CovarPop: AggregateFunction.COVAR_POP,
    exp.CovarSamp: AggregateFunction.COVAR_SAMP,
    exp.Corr: AggregateFunction.CORR,
    exp.RegrSlope: AggregateFunction.REGR_SLOPE,
    exp.RegrIntercept: AggregateFunction.REGR_INTERCEPT,
    exp.RegrR2: AggregateFunction.REGR_R2,
    exp.Mode: AggregateFunction.MODE,
    exp.ArgMax: AggregateFunction.ARG_MAX,
    exp.ArgMin: AggregateFunction.ARG_MIN,
}

_BY_NAME: dict[str, AggregateFunction | OpenFunction] = {
    "mean": AggregateFunction.AVG,
    "arbitrary": OpenFunction.ANY_VALUE,
    "every": OpenFunction.BOOL_AND,
    "product": OpenFunction.PRODUCT,
    "entropy": OpenFunction.ENTROPY,
    "mad": OpenFunction.MAD,
    "kurtosis_pop": OpenFunction.KURTOSIS_POP,
    "favg": AggregateFunction.AVG,
    "var": AggregateFunction.VAR_SAMP,
    "count_star": AggregateFunction.COUNT,
}
"""Functions that the parser has no node for."""

_OF_DOUBLES = frozenset({"fsum", "kahan_sum", "sumkahan"})
"""Sums that DuckDB computes in doubles with error correction; here they are exact, as all sums."""

_OPEN: dict[type[exp.Expr], OpenFunction] = {
    exp.LogicalOr: OpenFunction.BOOL_OR,
    exp.LogicalAnd: OpenFunction.BOOL_AND,
    exp.AnyValue: OpenFunction.ANY_VALUE,
    exp.First: OpenFunction.FIRST,
    exp.Last: OpenFunction.LAST,
    exp.GroupConcat: OpenFunction.STRING_AGG,
    exp.Kurtosis: OpenFunction.KURTOSIS,
    exp.BitwiseAndAgg: OpenFunction.BIT_AND,
    exp.BitwiseOrAgg: OpenFunction.BIT_OR,
    exp.BitwiseXorAgg: OpenFunction.BIT_XOR,
    exp.Skewness: OpenFunction.SKEWNESS,
}

_NOISE_PROPERTIES = frozenset(kind.value for kind in OutputKind if kind is not OutputKind.VALUE)


class AggregateSyntax(Struct, frozen=True):
    """An aggregate as the statement writes it, without FILTER.

    `condition` restricts the rows where the function itself does: count_if(c), regr_count(y, x).
    `fraction` is a quantile's, counted from the greatest value down if `descending`. `type` is the
    type in DuckDB, None where it is the usual one of `function`. `order` is the call's ORDER BY.
    """

    function: AggregateFunction | OpenFunction
    arguments: tuple[exp.Expr, ...]
    distinct: bool = False
    condition: exp.Expr | None = None
    fraction: exp.Expr | None = None
    descending: bool = False
    type: SqlType | None = None
    order: exp.Order | None = None


def parse(node: exp.Expr) -> AggregateSyntax | None:
    """The aggregate that `node` calls; None if it has no rule or is no aggregate."""
    reader = _READERS.get(type(node))
    if reader is not None:
        _check_complete(node)
        return reader(node)
    name = node.name.lower() if isinstance(node, exp.Anonymous) else ""
    if name in _OF_DOUBLES and len(node.expressions) == 1:
        return AggregateSyntax(AggregateFunction.SUM, (exp.cast(node.expressions[0], "DOUBLE"),))
    if name in _BY_NAME:
        return AggregateSyntax(_BY_NAME[name], tuple(node.expressions))
    return None


def is_aggregate(node: exp.Expr) -> bool:
    """Whether `node` calls an aggregate function, be there a rule for it or not."""
    if isinstance(node, exp.AggFunc | exp.WithinGroup) or is_derived(node):
        return True
    return (
        isinstance(node, exp.Anonymous)
        and node.name.lower() in _BY_NAME.keys() | _OF_DOUBLES | _NOISE_PROPERTIES
    )


def _check_complete(node: exp.Expr) -> None:
    """Refuse a call that lacks an argument: the parser reads regr_count(, x) without complaint."""
    needed = {name for name, is_needed in type(node).arg_types.items() if is_needed}
    if isinstance(node, exp.RegrCount | exp.RegrAvgx | exp.RegrAvgy):
        needed |= {"this", "expression"}
    if any(node.args.get(name) is None for name in needed):
        raise _without_argument(node)


def _plain(node: exp.Expr) -> AggregateSyntax:
    """An aggregate of `_PLAIN`, with DISTINCT or ORDER BY in its parentheses if it has them."""
    require_args(node, "this", "expression", "big_int")
    value, order = node.this, None
    if isinstance(value, exp.Order) and not isinstance(node, exp.Mode):
        value, order = value.this, value
    parts = [p for p in (value, node.args.get("expression")) if p is not None]
    if isinstance(value, exp.Distinct):
        require_args(value, "expressions")
        if len(value.expressions) != 1:
            raise _several_distinct(node, value)
        arguments = (*value.expressions, *parts[1:])
        return AggregateSyntax(_PLAIN[type(node)], arguments, distinct=True, order=order)
    if len(parts) == 1 and isinstance(parts[0], exp.Star):
        parts = []
    return AggregateSyntax(_PLAIN[type(node)], tuple(parts), order=order)


_PERCENTILE = "percentile_cont(0.5) WITHIN GROUP (ORDER BY x), or median(x)"


def _without_argument(node: exp.Expr) -> Refused:
    name = node.sql_name().lower() if isinstance(node, exp.Func) else node.key
    hint = f"{name}(y, x)" if "expression" in type(node).arg_types else f"{name}(x)"
    return unsupported(node, f"{name}() without an argument", hint)


def _several_distinct(node: exp.Expr, distinct: exp.Expr) -> Refused:
    name = node.sql_name() if isinstance(node, exp.Func) else node.key
    inside = ", ".join(part.sql(dialect="duckdb") for part in distinct.expressions)
    return Refused(
        f"{name.lower()}(DISTINCT {inside}) is of several columns",
        at=span(node),
        hint=f"count distinct rows: count(DISTINCT ({inside}))",
        note="row_values",
    )


def _open(node: exp.Expr) -> AggregateSyntax:
    """An aggregate of `_OPEN`; string_agg's second argument is its separator."""
    require_args(node, "this", "separator")
    value, order = node.this, None
    if isinstance(value, exp.Order):
        value, order = value.this, value
    distinct = isinstance(value, exp.Distinct)
    if distinct:
        require_args(value, "expressions")
        if len(value.expressions) != 1:
            raise _several_distinct(node, value)
        (value,) = value.expressions
    if value is None:
        raise _without_argument(node)
    arguments: tuple[exp.Expr, ...] = (value,)
    if isinstance(node, exp.GroupConcat):
        arguments = (value, node.args.get("separator") or exp.Literal.string(","))
    return AggregateSyntax(_OPEN[type(node)], arguments, distinct, order=order)


def _approximate(node: exp.Expr) -> AggregateSyntax:
    require_args(node, "this")
    return AggregateSyntax(AggregateFunction.COUNT, (node.this,), distinct=True)


def _count_if(node: exp.Expr) -> AggregateSyntax:
    require_args(node, "this")
    return AggregateSyntax(AggregateFunction.COUNT, (), condition=node.this, type=HUGEINT)


def _regr_count(node: exp.Expr) -> AggregateSyntax:
    require_args(node, "this", "expression")
    both = _none_is_null(node.this, node.expression)
    kind = Integer(32, signed=False)
    return AggregateSyntax(AggregateFunction.COUNT, (), condition=both, type=kind)


def _regr_avg(node: exp.Expr) -> AggregateSyntax:
    require_args(node, "this", "expression")
    mean, other = (node.expression, node.this)
    if isinstance(node, exp.RegrAvgy):
        mean, other = other, mean
    return AggregateSyntax(AggregateFunction.AVG, (mean,), condition=_none_is_null(mean, other))


def _none_is_null(*nodes: exp.Expr) -> exp.Expr:
    return exp.and_(*(exp.Not(this=exp.Is(this=n, expression=exp.null())) for n in nodes))


def _median(node: exp.Expr) -> AggregateSyntax:
    require_args(node, "this")
    return AggregateSyntax(
        AggregateFunction.QUANTILE_CONT, (node.this,), fraction=exp.Literal.number("0.5")
    )


def _quantile(node: exp.Expr) -> AggregateSyntax:
    require_args(node, "this", "quantile")
    return AggregateSyntax(
        AggregateFunction.QUANTILE_DISC, (node.this,), fraction=node.args["quantile"]
    )


def _percentile(node: exp.Expr) -> AggregateSyntax:
    require_args(node, "this", "expression")
    fraction = node.args.get("expression")
    if fraction is None:
        raise unsupported(node, "a percentile without WITHIN GROUP", _PERCENTILE)
    return AggregateSyntax(_quantile_of(node), (node.this,), fraction=fraction)


def _within_group(node: exp.Expr) -> AggregateSyntax:
    """An aggregate whose argument stands in WITHIN GROUP (ORDER BY x)."""
    require_args(node, "this", "expression")
    call, order = node.this, node.expression
    if not isinstance(order, exp.Order) or len(order.expressions) != 1:
        raise unsupported(node, "WITHIN GROUP of several columns", _PERCENTILE)
    (term,) = order.expressions
    if isinstance(call, exp.Mode):
        return AggregateSyntax(AggregateFunction.MODE, (term.this,))
    if not isinstance(call, exp.PercentileCont | exp.PercentileDisc):
        raise unsupported(node, "WITHIN GROUP of this aggregate", _PERCENTILE)
    require_args(call, "this")
    return AggregateSyntax(
        _quantile_of(call), (term.this,), fraction=call.this, descending=bool(term.args.get("desc"))
    )


def _quantile_of(node: exp.Expr) -> AggregateFunction:
    if isinstance(node, exp.PercentileCont):
        return AggregateFunction.QUANTILE_CONT
    return AggregateFunction.QUANTILE_DISC


_READERS: dict[type[exp.Expr], Callable[[exp.Expr], AggregateSyntax]] = {
    **dict.fromkeys(_PLAIN, _plain),
    **dict.fromkeys(_OPEN, _open),
    exp.ApproxDistinct: _approximate,
    exp.CountIf: _count_if,
    exp.RegrCount: _regr_count,
    exp.RegrAvgx: _regr_avg,
    exp.RegrAvgy: _regr_avg,
    exp.Median: _median,
    exp.Quantile: _quantile,
    exp.ApproxQuantile: _quantile,
    exp.PercentileCont: _percentile,
    exp.PercentileDisc: _percentile,
    exp.WithinGroup: _within_group,
}


@cache
def aggregate_names() -> frozenset[str]:
    """What aggregates of private rows are called, in lowercase."""
    kinds = [kind for kind in _READERS if kind not in _OPEN and issubclass(kind, exp.Func)]
    named = {name.lower() for kind in kinds for name in kind.sql_names()}
    written = {name for name, one in _BY_NAME.items() if isinstance(one, AggregateFunction)}
    functions = {one.value for one in AggregateFunction if one not in NO_FUNCTION_OF_SQL}
    return frozenset(named | written | functions | DERIVED_NAMES)
