"""Domains of the columns of an operator's rows, from the schema and the plan, never from data."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import reduce
from typing import assert_never

from dpsql.analysis.domains.expression_domain import DAY, TRUTH, Environment, domain
from dpsql.analysis.domains.predicate_narrowing import Known, narrow
from dpsql.analysis.lineage.lineage import private_scans
from dpsql.plan.aggregate import AggregateCall, AggregateFunction, OpenFunction
from dpsql.plan.expression import Column, Scalar
from dpsql.plan.operator import (
    Aggregate,
    Filter,
    Join,
    Limit,
    MarkJoin,
    OuterJoin,
    OuterKind,
    Output,
    Plan,
    Project,
    PublicStatement,
    Release,
    Scan,
    SetOperation,
    Sort,
    Union,
    Values,
    Window,
    WindowCall,
)
from dpsql.plan.output_columns import output_columns
from dpsql.privacy.domain import UNKNOWN, Domain, Interval, coordinate, of_values
from dpsql.schema.model import Column as Declared
from dpsql.schema.sql_type import Boolean, Date, SqlType


def column_domains(plan: Plan) -> Environment:
    """The domain of each column of `plan`'s rows, by column id; a missing column has any value.

    A predicate also narrows expressions, which are keys of the mapping then.
    """
    match plan:
        case Scan(table=table, columns=columns, known=known):
            declared = _known((c, declared_domain(table.columns[c.name])) for c in columns)
            return {**declared, **dict(known)}
        case Filter(source=source, predicate=predicate):
            return narrow(predicate, column_domains(source))
        case Project(source=source, outputs=outputs):
            below = column_domains(source)
            return _known((o.column, _output(o, below)) for o in outputs)
        case Join(sources=sources, on=on):
            merged = {i: d for source in sources for i, d in column_domains(source).items()}
            for predicate in on:
                merged = dict(narrow(predicate, merged))
            return merged
        case OuterJoin(kind=kind, left=left, right=right):
            ours, theirs = column_domains(left), column_domains(right)
            if kind is OuterKind.FULL:
                ours = {i: d.as_nullable() for i, d in ours.items()}
            return {**ours, **{i: d.as_nullable() for i, d in theirs.items()}}
        case MarkJoin(source=source, column=column):
            return {**column_domains(source), column.id: Domain(values=TRUTH, nullable=False)}
        case Union(sources=sources, outputs=columns):
            return dict(zip((c.id for c in columns), _arms(sources), strict=True))
        case SetOperation(left=left, outputs=columns):
            return dict(zip((c.id for c in columns), _arms((left,)), strict=True))
        case Window(source=source, outputs=windows):
            below, max_rows = column_domains(source), _rows_per_unit(source)
            return {**below, **{w.column.id: _window(w.call, below, max_rows) for w in windows}}
        case Values(outputs=columns, rows=rows):
            return _known((c, _listed(rows, index)) for index, c in enumerate(columns))
        case Aggregate(source=source, keys=keys, aggregates=aggregates):
            below = column_domains(source)
            max_rows = _rows_per_unit(source)
            grouped = [(k.column, domain(k.expression, below)) for k in keys]
            return _known(
                [*grouped, *((a.column, per_unit(a.call, below, max_rows)) for a in aggregates)]
            )
        case Release() | PublicStatement():
            return _known((c, UNKNOWN) for c in output_columns(plan))
        case Sort(source=source) | Limit(source=source):
            return column_domains(source)
        case missing:
            assert_never(missing)


def _known(domains: Iterable[tuple[Column, Domain]]) -> Environment:
    known: dict[Known, Domain] = {}
    known.update((column.id, column_domain) for column, column_domain in domains)
    return known


def _output(output: Output, below: Environment) -> Domain:
    """The domain that a view's owner declares for a column, without NULL if no NULL is derived.

    A column without a declaration has the derived domain.
    """
    derived = domain(output.expression, below)
    if output.declared is None or derived.nullable:
        return output.declared or derived
    return output.declared.as_not_null()


def _listed(rows: tuple[tuple[Scalar, ...], ...], index: int) -> Domain:
    """The values of one column of a table that the statement lists."""
    distinct = dict.fromkeys(row[index] for row in rows)
    values = tuple(value for value in distinct if value is not None)
    return of_values(values, nullable=None in distinct) if distinct else UNKNOWN


def _arms(sources: tuple[Plan, ...]) -> list[Domain]:
    """The domain of each column of a set operation, by position: the union of its arms' domains."""
    arm_domains: list[list[Domain]] = []
    for source in sources:
        below = column_domains(source)
        arm_domains.append([below.get(c.id, UNKNOWN) for c in output_columns(source)])
    return [reduce(Domain.union, domains) for domains in zip(*arm_domains, strict=True)]


def _rows_per_unit(source: Plan) -> int:
    """The highest row limit of `source`'s private tables; aggregates of more rows are clamped."""
    limits = [scan.table.limits.rows for scan in private_scans(source)]
    return max(limits, default=0)


def per_unit(call: AggregateCall, below: Environment, rows: int) -> Domain:
    """The domain of an aggregate over at most `rows` rows of one unit; 0: no limit is known."""
    argument = domain(call.arguments[0], below) if call.arguments else UNKNOWN
    match call.function:
        case OpenFunction.BOOL_OR | OpenFunction.BOOL_AND:
            return Domain(values=TRUTH, nullable=True)
        case OpenFunction():
            return UNKNOWN
        case AggregateFunction.COUNT:
            bounds = Interval(Fraction(0), Fraction(rows)) if rows else None
            return Domain(bounds, nullable=False)
        case AggregateFunction.SUM:
            if not rows or argument.bounds is None:
                return UNKNOWN
            zero = Interval(Fraction(0), Fraction(0))
            return Domain((argument.bounds * Interval(Fraction(rows), Fraction(rows))).union(zero))
        case AggregateFunction.AVG:
            return Domain(argument.bounds)  # the mean of 1 and 3 is neither
        case AggregateFunction.QUANTILE_CONT:
            return _interpolated(call.arguments[0].type, argument)
        case (
            AggregateFunction.MIN
            | AggregateFunction.MAX
            | AggregateFunction.QUANTILE_DISC
            | AggregateFunction.MODE
            | AggregateFunction.ARG_MAX
            | AggregateFunction.ARG_MIN
        ):
            return argument.as_nullable()
        case (
            AggregateFunction.VAR_POP
            | AggregateFunction.VAR_SAMP
            | AggregateFunction.STDDEV_POP
            | AggregateFunction.STDDEV_SAMP
            | AggregateFunction.COVAR_POP
            | AggregateFunction.COVAR_SAMP
            | AggregateFunction.CORR
            | AggregateFunction.REGR_SLOPE
            | AggregateFunction.REGR_INTERCEPT
            | AggregateFunction.REGR_R2
            | AggregateFunction.WEIGHTED_MAJORITY
            | AggregateFunction.ABOVE_THRESHOLD
        ):
            return UNKNOWN
        case missing:
            assert_never(missing)


def _interpolated(kind: SqlType, values: Domain) -> Domain:
    """The domain of quantiles that lie between two values: between two dates lie timestamps."""
    if values.bounds is None or not isinstance(kind, Date):
        return Domain(values.bounds)
    return Domain(values.bounds * Interval(DAY, DAY))


def _window(call: WindowCall, below: Environment, rows: int) -> Domain:
    """The domain of a window function over at most `rows` rows of a unit; 0: no limit is known."""
    match call.function:
        case "count" | "row_number" | "rank" | "dense_rank" if rows:
            first = 0 if call.function == "count" else 1
            return Domain(Interval(Fraction(first), Fraction(rows)), nullable=False)
        case (
            "min"
            | "max"
            | "quantile_disc"
            | "lag"
            | "lead"
            | "first_value"
            | "last_value"
            | "nth_value"
        ):
            return domain(call.arguments[0], below).as_nullable()
        case "quantile_cont":
            return _interpolated(call.arguments[0].type, domain(call.arguments[0], below))
        case _:
            return UNKNOWN


def declared_domain(column: Declared) -> Domain:
    """The domain that the schema declares for a column: listed values, bounds, or any value."""
    if column.values is not None:
        return of_values(column.values, nullable=column.nullable)
    if isinstance(column.type, Boolean):
        return Domain(values=TRUTH, nullable=column.nullable)
    if column.bounds is not None:
        low, high = map(coordinate, column.bounds)
        if low is not None and high is not None:
            return Domain(Interval(low, high), nullable=column.nullable)
    return Domain(nullable=column.nullable, declared_length=column.max_length)
