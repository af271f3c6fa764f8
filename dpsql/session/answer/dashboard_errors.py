"""The errors of sums that are read of a dashboard or a synopsis: by the law of its noise alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import assert_never

from msgspec import Struct

from dpsql.plan import traversal
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
from dpsql.structs import replace

LawOf = Callable[[Table], TableLaw | None]
"""The law of a kept table, None if it is neither a dashboard's nor a synopsis'."""


def dashboard_columns(
    compiled: CompiledStatement, law_of: LawOf, shown: Sequence[ColumnPrivacy | None]
) -> tuple[ColumnPrivacy | None, ...]:
    """`shown`, of each column of the answer, with how sums of a kept table's values were made.

    Such a sum is by keys as they are, of one cell or of all that have some keys' constant values;
    or, of a synopsis, of all that have values which keys alone choose. Of all else the error isn't
    told.
    """
    if not compiled.saved_tables:
        return tuple(shown)
    columns = zip(compiled.statement.columns, compiled.statement.names, shown, strict=True)
    return tuple(
        _of_column(compiled.plan, column, name, law_of) if known is None else known
        for column, name, known in columns
    )


class _Sum(Struct, frozen=True):
    """The column of a scan that is summed, and the keys of which each sum has one value.

    Of `several` others it has some values, which these alone choose.
    """

    scan: Scan
    value: Column
    single: frozenset[str]
    several: frozenset[str] = frozenset()


def _of_column(plan: Plan, column: Column, name: str, law_of: LawOf) -> ColumnPrivacy | None:
    summed = _summed(plan, column)
    law = None if summed is None else law_of(summed.scan.table)
    if summed is None or law is None or summed.value.name not in law.values:
        return None
    keys = {key for names in law.axes for key in names}
    if not summed.single | summed.several <= keys:
        return None
    if isinstance(_base(plan), Scan):
        summed = replace(summed, single=frozenset(keys))
    variance = None if summed.several else law.variance(summed.value.name, summed.single)
    if variance is None:
        return _bounded(law, summed, name)
    width = law.half_width(variance)
    return ColumnPrivacy(name, law.mechanism, float(variance) ** 0.5, width)


def _bounded(law: TableLaw, summed: _Sum, name: str) -> ColumnPrivacy | None:
    """What bounds a sum that was measured nowhere: of a synopsis the choices of its rounds."""
    match law:
        case SynopsisLaw():
            bound = law.bound(summed.value.name, summed.single, summed.several)
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
            scan, parts = _conditions(source)
            if scan is None or not calls:
                return None
            call, grouped = calls[0], [key.expression for key in keys]
            is_sum = call.function is AggregateFunction.SUM and len(call.arguments) == 1
            if not is_sum or call.distinct or call.output_kind is not OutputKind.VALUE:
                return None
            (value,) = call.arguments
            if not isinstance(value, Column) or value not in scan.columns:
                return None
            if call.filter is not None:
                parts = (*parts, *_parts(call.filter))
            single = {key for key in grouped if isinstance(key, Column)}
            single |= {known for part in parts if (known := _constant(part)) is not None}
            others = [part for part in parts if _constant(part) is None]
            others += [key for key in grouped if not isinstance(key, Column)]
            several = traversal.columns(*others)
            if not {*single, *several} <= {*scan.columns}:
                return None
            names = [frozenset(one.name for one in of) for of in (single, several - single)]
            return _Sum(scan, value, *names)
        case _:
            return None


def _conditions(plan: Plan) -> tuple[Scan | None, tuple[Expression, ...]]:
    """A scan with at most a filter above it, and what this asks of each row."""
    match plan:
        case Scan():
            return plan, ()
        case Filter(source=Scan() as scan, predicate=predicate):
            return scan, _parts(predicate)
        case _:
            return None, ()


def _parts(predicate: Expression) -> tuple[Expression, ...]:
    return predicate.operands if isinstance(predicate, And) else (predicate,)


def _constant(predicate: Expression) -> Column | None:
    """The column that `predicate` holds to one value; None if it says something else."""
    match predicate:
        case Compare(op=Comparison.EQUAL, left=Column() as column, right=Literal()):
            return column
        case _:
            return None
