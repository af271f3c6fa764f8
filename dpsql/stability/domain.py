"""Domains of expressions and of operators' columns, by interval arithmetic and finite sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import reduce
from typing import assert_never

from dpsql.plan.aggregate import AggregateCall, AggregateFunction
from dpsql.plan.columns import output_columns
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
    InList,
    IsNull,
    Literal,
    Not,
    Or,
)
from dpsql.plan.operator import (
    Aggregate,
    Filter,
    Join,
    Limit,
    Mark,
    Nothing,
    OuterJoin,
    OuterKind,
    Plan,
    Project,
    Release,
    Scan,
    SetOperation,
    Sort,
    Union,
    Window,
    WindowCall,
)
from dpsql.privacy.domain import UNKNOWN, Domain, Interval, coordinate, of_values
from dpsql.schema.model import Column as Declared
from dpsql.schema.type import Boolean, Date, Decimal, Double, Integer, SqlType, Timestamp
from dpsql.stability.finite import applied, combined, converted, enumerated
from dpsql.stability.lineage import private_scans
from dpsql.stability.narrowing import Known, narrow

Environment = Mapping[Known, Domain]
"""Domains of the columns in scope by id, and of expressions that a predicate told something of."""

_TRUTH = (False, True)
_DAY = Fraction(86_400_000_000)
_HALF = Fraction(1, 2)


def environment(plan: Plan) -> Environment:
    """The domain of each column that `plan` hands on."""
    match plan:
        case Scan(table=table, columns=columns):
            return _known((c, declared_domain(table.columns[c.name])) for c in columns)
        case Filter(source=source, predicate=predicate):
            return narrow(predicate, environment(source))
        case Project(source=source, outputs=outputs):
            below = environment(source)
            return _known((o.column, domain(o.expression, below)) for o in outputs)
        case Join(sources=sources, on=on):
            merged = {i: d for source in sources for i, d in environment(source).items()}
            for predicate in on:
                merged = dict(narrow(predicate, merged))
            return merged
        case OuterJoin(kind=kind, left=left, right=right):
            ours, theirs = environment(left), environment(right)
            if kind is OuterKind.FULL:
                ours = {i: d.as_nullable() for i, d in ours.items()}
            return {**ours, **{i: d.as_nullable() for i, d in theirs.items()}}
        case Mark(source=source, column=column):
            return {**environment(source), column.id: Domain(values=_TRUTH, nullable=False)}
        case Union(sources=sources, outputs=columns):
            return dict(zip((c.id for c in columns), _arms(sources), strict=True))
        case SetOperation(left=left, outputs=columns):
            return dict(zip((c.id for c in columns), _arms((left,)), strict=True))
        case Window(source=source, outputs=windows):
            below, most = environment(source), _rows_per_unit(source)
            return {**below, **{w.column.id: _window(w.call, below, most) for w in windows}}
        case Nothing(outputs=columns):
            return {c.id: UNKNOWN for c in columns}
        case Aggregate(source=source, keys=keys, aggregates=aggregates):
            below = environment(source)
            most = _rows_per_unit(source)
            grouped = [(k.column, domain(k.expression, below)) for k in keys]
            return _known(
                [*grouped, *((a.column, per_unit(a.call, below, most)) for a in aggregates)]
            )
        case Release():
            return _known((c, UNKNOWN) for c in output_columns(plan))
        case Sort(source=source) | Limit(source=source):
            return environment(source)
        case missing:
            assert_never(missing)


def _known(domains: Iterable[tuple[Column, Domain]]) -> Environment:
    known: dict[Known, Domain] = {}
    known.update((column.id, found) for column, found in domains)
    return known


def _arms(sources: tuple[Plan, ...]) -> list[Domain]:
    """The domain of each place of a set operation: what any arm may have there."""
    found: list[list[Domain]] = []
    for source in sources:
        below = environment(source)
        found.append([below.get(c.id, UNKNOWN) for c in output_columns(source)])
    return [reduce(Domain.union, domains) for domains in zip(*found, strict=True)]


def _rows_per_unit(source: Plan) -> int:
    """How many rows of a unit the schema's limits expect; what passes it is clamped above."""
    found = [scan.table.limits.rows for scan in private_scans(source)]
    return max(found, default=0)


def per_unit(call: AggregateCall, below: Environment, rows: int) -> Domain:
    """An aggregate over one unit's rows, if there are at most `rows`; no more is known without."""
    argument = domain(call.arguments[0], below) if call.arguments else UNKNOWN
    match call.function:
        case AggregateFunction.COUNT:
            bounds = Interval(Fraction(0), Fraction(rows)) if rows else None
            return Domain(bounds, nullable=False)
        case AggregateFunction.SUM:
            if not rows or argument.bounds is None:
                return UNKNOWN
            zero = Interval(Fraction(0), Fraction(0))
            return Domain((argument.bounds * Interval(Fraction(rows), Fraction(rows))).union(zero))
        case AggregateFunction.AVG | AggregateFunction.QUANTILE_CONT:
            return Domain(argument.bounds)  # the mean of 1 and 3 is neither
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
        ):
            return UNKNOWN
        case missing:
            assert_never(missing)


def _window(call: WindowCall, below: Environment, rows: int) -> Domain:
    """A window function over one unit's rows, if there are at most `rows`, or over any, if none."""
    match call.function:
        case "count" | "row_number" | "rank" | "dense_rank" if rows:
            first = 0 if call.function == "count" else 1
            return Domain(Interval(Fraction(first), Fraction(rows)), nullable=False)
        case "min" | "max" | "lag" | "lead" | "first_value" | "last_value" | "nth_value":
            return domain(call.arguments[0], below).as_nullable()
        case _:
            return UNKNOWN


def declared_domain(column: Declared) -> Domain:
    """What the schema says of a column."""
    if column.values is not None:
        return of_values(column.values, nullable=column.nullable)
    if isinstance(column.type, Boolean):
        return Domain(values=_TRUTH, nullable=column.nullable)
    if column.bounds is not None:
        low, high = map(coordinate, column.bounds)
        if low is not None and high is not None:
            return Domain(Interval(low, high), nullable=column.nullable)
    return Domain(nullable=column.nullable)


def domain(expression: Expression, columns: Environment) -> Domain:
    """What `expression` may be when its columns are in their domains."""
    if not isinstance(expression, Column) and expression in columns:
        return columns[expression]
    match expression:
        case Literal(value=value):
            if value is None:
                return Domain(values=(), nullable=True)
            return of_values((value,), nullable=False)
        case Column(id=number):
            return columns.get(number, UNKNOWN)
        case Arithmetic():
            return enumerated(expression, columns) or _arithmetic(expression, columns)
        case Compare(op=Comparison.DISTINCT | Comparison.NOT_DISTINCT) | IsNull():
            return Domain(values=_TRUTH, nullable=False)
        case Compare(left=left, right=right):
            return _truth(columns, left, right)
        case And(operands=operands) | Or(operands=operands):
            return _truth(columns, *operands)
        case Not(operand=operand) | InList(operand=operand):
            return _truth(columns, operand)
        case Case(branches=branches, otherwise=otherwise):
            # Each result is evaluated only where its condition holds.
            found = [domain(b.result, narrow(b.condition, columns)) for b in branches]
            return _union([*found, domain(otherwise, columns)])
        case Cast(operand=operand, type=target):
            few = enumerated(expression, columns)
            return few or _cast(domain(operand, columns), operand.type, target)
        case Call(arguments=arguments):
            few = enumerated(expression, columns)
            return few or applied(expression, tuple(domain(a, columns) for a in arguments))
        case missing:
            assert_never(missing)


def _truth(columns: Environment, *operands: Expression) -> Domain:
    return Domain(values=_TRUTH, nullable=any(domain(o, columns).nullable for o in operands))


def _union(domains: list[Domain]) -> Domain:
    """What any may be; a bare NULL adds nothing but NULL."""
    valued = [d for d in domains if d.values != ()]
    if not valued:
        return Domain(values=(), nullable=True)
    merged = valued[0]
    for more in valued[1:]:
        merged = merged.union(more)
    return merged.as_nullable() if any(d.nullable for d in domains) else merged


def _arithmetic(expression: Arithmetic, columns: Environment) -> Domain:
    left, right = domain(expression.left, columns), domain(expression.right, columns)
    nullable = left.nullable or right.nullable
    bounds: Interval | None = None
    if left.bounds is not None and right.bounds is not None:
        match expression.op:
            case ArithmeticOperator.ADD:
                bounds = left.bounds + right.bounds
            case ArithmeticOperator.SUBTRACT:
                bounds = left.bounds - right.bounds
            case ArithmeticOperator.MULTIPLY:
                bounds = left.bounds * right.bounds
            case ArithmeticOperator.DIVIDE:
                bounds = left.bounds.divide(right.bounds)
            case missing:
                assert_never(missing)
    if expression.op is ArithmeticOperator.DIVIDE:
        divisor = right.bounds
        nullable = nullable or divisor is None or Fraction(0) in divisor
    known = Domain(bounds, nullable=nullable or not _fits(bounds, expression.type))
    return combined(expression, (left, right), known)


def _cast(before: Domain, source: SqlType, target: SqlType) -> Domain:
    if source == target:
        return before
    if isinstance(source, Boolean) and isinstance(target, Integer):
        return Domain(Interval(Fraction(0), Fraction(1)), (0, 1), before.nullable)
    bounds = None if before.bounds is None else _converted(before.bounds, source, target)
    nullable = before.nullable or bounds is None or not _fits(bounds, target)
    return converted(before, source, target, Domain(bounds, nullable=nullable))


def _converted(bounds: Interval, source: SqlType, target: SqlType) -> Interval | None:
    """Coordinates of `bounds` after a cast that never fails within them; None if not known."""
    number = Integer | Decimal | Double
    match source, target:
        case Integer() | Decimal() | Double(), Integer():
            # Rounding moves a number by at most one half.
            return bounds + Interval(-_HALF, _HALF)
        case Integer() | Decimal() | Double(), Decimal(scale=scale):
            margin = Fraction(0) if isinstance(source, Integer) else _HALF / 10**scale
            return bounds + Interval(-margin, margin)
        case _, Double() if isinstance(source, number):
            return bounds
        case Date(), Timestamp():
            return bounds * Interval(_DAY, _DAY)
        case Timestamp(), Date():
            return bounds * Interval(1 / _DAY, 1 / _DAY) + Interval(Fraction(-1), Fraction(0))
        case _:
            return None


def _fits(bounds: Interval | None, target: SqlType) -> bool:
    """Nothing within `bounds` overflows `target`."""
    ends = None if bounds is None else bounds.ends
    match target:
        case Integer(bits=bits, signed=signed):
            low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
            return ends is not None and low <= ends[0] and ends[1] <= high
        case Decimal(precision=precision, scale=scale):
            limit = Fraction(10**precision - 1, 10**scale)
            return ends is not None and -limit <= ends[0] and ends[1] <= limit
        case _:
            # Whether NULL may appear matters for accuracy only; other types don't overflow here.
            return True
