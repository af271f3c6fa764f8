"""Exact aggregates and window functions: of public or released rows, or of one unit's."""

from __future__ import annotations

from functools import partial
from typing import assert_never

from sqlglot import exp

from dpsql.analysis.lineage.lineage import unit
from dpsql.emit.dialect.duckdb.expression import emit_expression
from dpsql.emit.dialect.duckdb.frame import emit_frame, ordered
from dpsql.emit.dialect.duckdb.function_call import try_cast, unknown
from dpsql.emit.dialect.duckdb.literal import emit_literal
from dpsql.emit.dialect.duckdb.total_aggregate import (
    ATTEMPTED,
    attempted,
    may_overflow,
    sum_or_mean,
)
from dpsql.emit.dialect.nodes import integer
from dpsql.emit.dialect.row_estimate import may_seem_empty
from dpsql.emit.dialect.sort_key import sort_key
from dpsql.emit.sql.identifier import column_ref, reference
from dpsql.plan.aggregate import AggregateCall, AggregateFunction
from dpsql.plan.expression import Column, Expression
from dpsql.plan.frame import FrameKind
from dpsql.plan.operator import Plan, WindowCall
from dpsql.plan.output_columns import output_columns
from dpsql.plan.total_form import (
    ROUNDED_TO,
    TotalForm,
    aggregate_form,
    rounded_type,
    window_form,
)
from dpsql.schema.sql_type import BIGINT, Date, Decimal, Double, Timestamp

_OF_ROWS: dict[str, type[exp.Func]] = {
    "lag": exp.Lag,
    "lead": exp.Lead,
    "first_value": exp.FirstValue,
    "last_value": exp.LastValue,
    "nth_value": exp.NthValue,
}

_OF_A_BAG = frozenset({"sum", "avg", "min", "max", "count", "quantile_cont", "quantile_disc"})
"""Window functions that are the same for all orders of the rows of their frame."""

_TOTALS = frozenset({"sum", "avg"})

_STEPS = 2**20
"""Doubles of one unit are summed as multiples of 2^-20."""


def emit_aggregate(
    call: AggregateCall, own: Column | None, *, guarded: bool, is_total: bool = False
) -> exp.Expr:
    """An exact aggregate; of one unit's rows (`own`) it can't raise nor depend on their order.

    Where rows may be taken for none, sums are `guarded` against what that lets DuckDB leave out.
    If it `is_total` it can't raise for any number that other rows have, either.
    """
    summed = call.function in (AggregateFunction.SUM, AggregateFunction.AVG)
    guarded = guarded and summed
    if own is not None and summed:
        return _sum_of_unit(call, call.arguments[0], guarded=guarded)
    if own is None and is_total and call.arguments:
        kind = call.arguments[0].type
        if may_overflow(call.function.value, kind):
            over = partial(_over_rows, call, guarded=guarded)
            value = emit_expression(call.arguments[0])
            return sum_or_mean(call.function.value, value, kind, call.type, over)
        if call.function.value in ATTEMPTED:
            values = _called("list", emit_expression(call.arguments[0]), distinct=call.distinct)
            return attempted(call.function.value, _filtered(values, call))
    arguments = [emit_expression(argument) for argument in call.arguments] or [exp.Star()]
    if own is not None and call.arguments:
        form = aggregate_form(call.function, call.arguments[0].type)
        arguments[0] = _in_form(form, call.arguments[0])
    elif is_total and _is_interpolated_day(call):
        arguments[0] = try_cast(arguments[0], Timestamp())
    if guarded:
        arguments[0] = unknown(arguments[0])
    if call.fraction is not None:
        # DuckDB counts from above what is below 0.
        fraction = call.fraction - 1 if call.from_above else call.fraction
        arguments.append(emit_literal(fraction, Double()))
    if call.distinct:
        arguments[0] = exp.Distinct(expressions=[arguments[0]])
    if call.order:
        terms = [sort_key(key) for key in call.order]
        arguments[-1] = exp.Order(this=arguments[-1], expressions=terms)
    aggregate = _filtered(exp.Anonymous(this=call.function.value, expressions=arguments), call)
    if call.function is AggregateFunction.COUNT and call.type != BIGINT:
        return try_cast(aggregate, call.type)  # count_if is a HUGEINT
    return aggregate


def _over_rows(call: AggregateCall, name: str, terms: list[exp.Expr], *, guarded: bool) -> exp.Expr:
    """The function called `name` of a term, over the rows of `call`."""
    (term,) = terms
    added = unknown(term) if guarded and name == "sum" else term
    return _filtered(_called(name, added, distinct=call.distinct), call)


def emit_window(call: WindowCall, source: Plan, *, is_total: bool = False) -> exp.Expr:
    """A window function; over private rows it is a function of the bag of one unit's rows.

    If it `is_total` it can't overflow over other rows, either.
    """
    own = unit(source)
    if own is None and is_total and call.arguments:
        kind = call.arguments[0].type
        if may_overflow(call.function, kind):
            over = partial(_over, call, source, is_total=True)
            return sum_or_mean(
                call.function, emit_expression(call.arguments[0]), kind, call.type, over
            )
    arguments = [emit_expression(a) for a in call.arguments]
    if own is not None and arguments:
        form = window_form(call.function, call.arguments[0].type)
        arguments[0] = _in_form(form, call.arguments[0])
    elif is_total and _is_interpolated_day(call):
        arguments[0] = try_cast(arguments[0], Timestamp())
    window = _over(call, source, call.function, arguments, is_total=is_total)
    is_coarser = own is not None and call.function == "sum" and _is_rounded(call.arguments[0])
    return try_cast(window, call.type) if is_coarser else window


def _over(
    call: WindowCall, source: Plan, name: str, arguments: list[exp.Expr], *, is_total: bool = False
) -> exp.Expr:
    """The function called `name` of `arguments`, over the window of `call`."""
    own = unit(source)
    partition = [emit_expression(p) for p in call.partition]
    order: list[exp.Expr] = [ordered(call.frame, key, is_total=is_total) for key in call.order]
    if own is not None:
        partition.append(reference(own))
        has_distance = call.frame is not None and call.frame.has_distance
        if not has_distance and not _treats_ties_alike(call):
            # Ties would fall as the engine pleases: the row's own values decide.
            tie = (
                exp.Ordered(this=reference(c), nulls_first=False) for c in output_columns(source)
            )
            order += tie
    if name in _TOTALS and may_seem_empty(source):
        arguments = [unknown(arguments[0])]
    if name == "count" and not arguments:
        arguments = [exp.Star()]
    if call.distinct:
        arguments = [exp.Distinct(expressions=arguments)]
    called: exp.Expr = exp.Anonymous(this=name, expressions=arguments)
    if call.ignore_nulls:
        # sqlglot writes IGNORE NULLS for functions that it knows only.
        value, *offset = arguments
        known = _OF_ROWS[name](this=value, **({"offset": offset[0]} if offset else {}))
        called = exp.IgnoreNulls(this=known)
    return exp.Window(
        this=called,
        partition_by=partition,
        order=exp.Order(expressions=order) if order else None,
        spec=call.frame and emit_frame(call.frame, call.order, is_total=is_total),
    )


def _is_interpolated_day(call: AggregateCall | WindowCall) -> bool:
    """Whether days become timestamps, as which they are interpolated; those that can't are NULL."""
    interpolated = AggregateFunction.QUANTILE_CONT
    name = call.function if isinstance(call, WindowCall) else call.function.value
    days = [argument for argument in call.arguments if isinstance(argument.type, Date)]
    return name == interpolated.value and bool(days)


def _treats_ties_alike(call: WindowCall) -> bool:
    """Rows that tie under ORDER BY get the same value, whichever of them comes first.

    The default frame ends with the last row that ties. `sum(x) OVER (ORDER BY day ROWS 1
    PRECEDING)` reads one of two rows of the day before, and row_number() counts them.
    """
    ranked = call.function in ("rank", "dense_rank", "percent_rank", "cume_dist")
    of_ties = call.frame is None or call.frame.kind is not FrameKind.ROWS
    return ranked or (of_ties and call.function in _OF_A_BAG)


def _sum_of_unit(call: AggregateCall, argument: Expression, *, guarded: bool) -> exp.Expr:
    form = aggregate_form(call.function, argument.type)
    if call.distinct and form is TotalForm.IN_STEPS:
        values = _filtered(_called("list", emit_expression(argument), distinct=True), call)
        total, count = _of_listed(values)
    else:
        narrow = _in_form(form, argument)
        if guarded:
            narrow = unknown(narrow)
        total, count = (
            _filtered(_called(name, narrow.copy(), distinct=call.distinct), call)
            for name in ("sum", "count")
        )
    if form is TotalForm.IN_STEPS:
        total = exp.Div(this=total, expression=emit_literal(_STEPS, Double()))
    if call.function is AggregateFunction.SUM:
        return try_cast(total, call.type) if _is_rounded(argument) else total
    return exp.Div(
        this=exp.Paren(this=total), expression=exp.Nullif(this=count, expression=integer(0))
    )


def _of_listed(values: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    """The sum of a list of distinct doubles, in steps, and how many of them are no NULL in steps.

    Two of them may have the same number of steps: both are added, as DISTINCT is of the values.
    """
    value = exp.Lambda(
        this=_in_steps(column_ref("v")), expressions=[exp.to_identifier("v")], colon=True
    )
    steps = exp.Anonymous(this="list_transform", expressions=[values, value])
    total = exp.Anonymous(this="list_sum", expressions=[steps])
    return total, exp.Anonymous(this="list_count", expressions=[steps.copy()])


def _in_form(form: TotalForm | None, argument: Expression) -> exp.Expr:
    """`argument` as an aggregate or window over one unit's rows takes it."""
    rendered = emit_expression(argument)
    match form, argument.type:
        case None, _:
            raise ValueError("what has no total form is refused")
        case TotalForm.AS_IS, _:
            return rendered
        case TotalForm.IN_STEPS, _:
            return _in_steps(rendered)
        case TotalForm.IN_64_BITS, _:
            return try_cast(rendered, BIGINT)
        case TotalForm.ROUNDED, Decimal(scale=scale):
            # 0.9 and 0.9 make no DECIMAL(38,38).
            return try_cast(rendered, rounded_type(scale))
        case TotalForm.ROUNDED, _:
            raise TypeError("only decimals are rounded")
        case TotalForm.AS_MOMENTS, _:
            return try_cast(rendered, Timestamp())
        case missing, _:
            assert_never(missing)


def _is_rounded(argument: Expression) -> bool:
    """The argument is rounded before it is summed; the sum is cast back to the type's digits."""
    return isinstance(argument.type, Decimal) and argument.type.scale > ROUNDED_TO


def _in_steps(double: exp.Expr) -> exp.Expr:
    """A double as an integer number of steps; NULL for NaN and where 64 bits don't hold it."""
    return try_cast(exp.Mul(this=double, expression=emit_literal(_STEPS, Double())), BIGINT)


def _called(name: str, argument: exp.Expr, *, distinct: bool) -> exp.Expr:
    if distinct:
        argument = exp.Distinct(expressions=[argument])
    return exp.Anonymous(this=name, expressions=[argument])


def _filtered(rendered: exp.Expr, call: AggregateCall) -> exp.Expr:
    if call.filter is None:
        return rendered
    return exp.Filter(this=rendered, expression=exp.Where(this=emit_expression(call.filter)))
