"""The errors of sums that are read of a dashboard or a synopsis: by the law of its noise alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import assert_never

from msgspec import Struct

from dpsql.plan.aggregate import AggregateFunction, OutputKind
from dpsql.plan.expression import And, Column, Compare, Comparison, Expression, Literal
from dpsql.plan.operator import Aggregate, Filter, Limit, Plan, Project, Scan, Sort
from dpsql.release.synopsis.margin_error import BOUNDED_NOISE
from dpsql.schema.model import Table
from dpsql.session.answer.answer import ColumnPrivacy
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.saved.dashboard_law import DashboardLaw
from dpsql.session.saved.synopsis_law import SynopsisLaw
from dpsql.session.saved.table_law import TableLaw

LawOf = Callable[[Table], TableLaw | None]
"""The law of a kept table, None if it is neither a dashboard's nor a synopsis'."""


def dashboard_columns(
    compiled: CompiledStatement, law_of: LawOf, shown: Sequence[ColumnPrivacy | None]
) -> tuple[ColumnPrivacy | None, ...]:
    """`shown`, of each column of the answer, with how sums of a kept table's values were made.

    Such a sum is by keys as they are, of one cell or of all that have some keys' constant values.
    Of all else the error isn't told.
    """
    if not compiled.saved_tables:
        return tuple(shown)
    columns = zip(compiled.statement.columns, compiled.statement.names, shown, strict=True)
    return tuple(
        _of_column(compiled.plan, column, name, law_of) if known is None else known
        for column, name, known in columns
    )


class _Sum(Struct, frozen=True):
    """The column of a scan that is summed, and the keys of which each sum has one value."""

    scan: Scan
    value: Column
    single: frozenset[str]


def _of_column(plan: Plan, column: Column, name: str, law_of: LawOf) -> ColumnPrivacy | None:
    summed = _summed(plan, column)
    law = None if summed is None else law_of(summed.scan.table)
    if summed is None or law is None or summed.value.name not in law.values:
        return None
    keys = {key for names in law.axes for key in names}
    if not summed.single <= keys:
        return None
    single = summed.single if isinstance(_base(plan), Aggregate) else keys
    variance = law.variance(summed.value.name, single)
    if variance is None:
        return _bounded(law, summed.value.name, name, single)
    width = law.half_width(variance)
    return ColumnPrivacy(name, law.mechanism, float(variance) ** 0.5, width)


def _bounded(law: TableLaw, value: str, name: str, single: Collection[str]) -> ColumnPrivacy | None:
    """What bounds a sum that was measured nowhere: of a synopsis the choices of its rounds."""
    match law:
        case SynopsisLaw():
            bound = law.bound(value, single)
            return None if bound is None else ColumnPrivacy(name, BOUNDED_NOISE, bound, bound)
        case DashboardLaw():
            return None
        case missing:
            assert_never(missing)


def _base(plan: Plan) -> Plan:
    """What is below all that hands on rows as they are."""
    while isinstance(plan, Project | Filter | Sort | Limit):
        plan = plan.source
    return plan


def _summed(plan: Plan, column: Column) -> _Sum | None:
    """What `column` of `plan` is a sum of; None if it is something else."""
    match plan:
        case Project(source=source, outputs=outputs):
            (own,) = (output for output in outputs if output.column.id == column.id)
            return _summed(source, own.expression) if isinstance(own.expression, Column) else None
        case Filter(source=source) | Sort(source=source) | Limit(source=source):
            return _summed(source, column)
        case Scan(columns=columns):
            # A cell of all keys: whichever rows are read, each is one.
            return _Sum(plan, column, frozenset()) if column in columns else None
        case Aggregate(source=source, keys=keys, aggregates=aggregates):
            calls = [one.call for one in aggregates if one.column.id == column.id]
            scan, single = _constants(source)
            if scan is None or not calls:
                return None
            call, grouped = calls[0], [key.expression for key in keys]
            is_sum = call.function is AggregateFunction.SUM and len(call.arguments) == 1
            if not is_sum or call.distinct or call.filter is not None:
                return None
            if call.output_kind is not OutputKind.VALUE:
                return None
            (value,) = call.arguments
            if not isinstance(value, Column) or value not in scan.columns:
                return None
            names = [key.name for key in grouped if isinstance(key, Column) and key in scan.columns]
            if len(names) < len(grouped):
                return None
            return _Sum(scan, value, single | {*names})
        case _:
            return None


def _constants(plan: Plan) -> tuple[Scan | None, frozenset[str]]:
    """A scan with at most a filter above it, and the columns that this holds to one value each."""
    match plan:
        case Scan():
            return plan, frozenset()
        case Filter(source=Scan() as scan, predicate=predicate):
            names = [_constant(part) for part in _parts(predicate)]
            known = frozenset(name for name in names if name is not None)
            return (scan, known) if None not in names else (None, frozenset())
        case _:
            return None, frozenset()


def _parts(predicate: Expression) -> tuple[Expression, ...]:
    return predicate.operands if isinstance(predicate, And) else (predicate,)


def _constant(predicate: Expression) -> str | None:
    """The column that `predicate` holds to one value; None if it says something else."""
    match predicate:
        case Compare(op=Comparison.EQUAL, left=Column() as column, right=Literal()):
            return column.name
        case _:
            return None
