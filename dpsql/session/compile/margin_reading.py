"""Which margin of a factored synopsis each scan of it reads: that of the keys that it names.

Of too many cells to list, a scan of some keys has a row for each combination of their values, with
the sum of the counts of all cells that have it. That is what the statement asks for where it is
linear in the counts: grouping, filtering and weighing by keys, and summing. So a scan is read below
such sums alone, and what stands above them may be anything. A row of the scan is no cell:
count(*) would count the margin's cells, and max(count) the largest of them, of whichever keys the
statement happens to name.
"""

from __future__ import annotations

import math

from dpsql.bind.scope import quoted_name
from dpsql.errors import Refused, TooComplex
from dpsql.plan.aggregate import AggregateCall, AggregateFunction, OutputKind
from dpsql.plan.expression import (
    Arithmetic,
    ArithmeticOperator,
    Case,
    Cast,
    Column,
    Expression,
    Literal,
)
from dpsql.plan.operator import Aggregate, Filter, Limit, Plan, Project, Scan, Values
from dpsql.plan.traversal import bottom_up, columns, replace_sources
from dpsql.privacy.margin_grid import MarginGrid
from dpsql.release.synopsis.factored.margin_choice import MAX_MARGIN_CELLS
from dpsql.schema.model import Table
from dpsql.schema.sql_type import Double
from dpsql.structs import replace

Counts = frozenset[Column]
"""Columns that are linear in counts, with weights that follow from keys."""


def with_margins(plan: Plan) -> Plan:
    """`plan` with scans of margins in the place of those of factored synopses.

    Raises Refused where one is read by row, TooComplex where it is by too many keys at once.
    """
    match plan:
        case Scan(table=table) if table.grid is not None and table.grid.read is None:
            raise read_by_row(table)
        case Limit(count=0):
            # Of no row there is nothing to depend on: so programs ask what columns there are.
            return bottom_up(_without_rows, plan)
        case Aggregate(source=source, keys=keys, aggregates=aggregates):
            scan = _scan(source)
            if scan is None:
                return replace_sources(with_margins, plan)
            counts = _counts(source, scan.table)
            expressions = (key.expression for key in keys)
            calls = (one.call for one in aggregates)
            if columns(*expressions) & counts or not all(_is_linear_sum(c, counts) for c in calls):
                raise read_by_row(scan.table)
            return replace(plan, source=_over(source, _margin(scan)))
        case _:
            return replace_sources(with_margins, plan)


def read_by_row(table: Table) -> Refused:
    """The refusal of a statement that asks for the rows of a factored synopsis."""
    grid = table.grid
    assert grid is not None
    key, value, name = map(quoted_name, (grid.axes[0][0], grid.values[0], table.name))
    return Refused(
        f"{table.name} keeps margins of too many combinations to list: its counts are summed by"
        " keys, and not read row by row",
        hint=f"write SELECT {key}, sum({value}) FROM {name} GROUP BY {key}, with conditions on keys"  # noqa: S608
        " alone; and what else is asked around it",
        note="synopsis",
    )


def _without_rows(plan: Plan) -> Plan:
    """No rows in the place of those of a factored synopsis."""
    match plan:
        case Scan(table=Table(grid=MarginGrid())):
            return Values(plan.columns, ())
        case _:
            return plan


def _scan(plan: Plan) -> Scan | None:
    """The scan of a factored synopsis below projections and conditions; None of anything else."""
    while isinstance(plan, Project | Filter):
        plan = plan.source
    if not isinstance(plan, Scan) or plan.table.grid is None or plan.table.grid.read is not None:
        return None
    return plan


def _over(plan: Plan, scan: Scan) -> Plan:
    """`plan`, of projections and conditions, over `scan`."""
    return scan if isinstance(plan, Scan) else replace_sources(lambda one: _over(one, scan), plan)


def _counts(plan: Plan, table: Table) -> Counts:
    """The columns of `plan` that are linear in counts; the others are of keys alone.

    Raises Refused where one is neither, and for a condition on counts.
    """
    match plan:
        case Scan(columns=scanned):
            assert table.grid is not None
            return frozenset(column for column in scanned if column.name in table.grid.values)
        case Filter(source=source, predicate=predicate):
            counts = _counts(source, table)
            if columns(predicate) & counts:
                raise read_by_row(table)
            return counts
        case Project(source=source, outputs=outputs):
            counts = _counts(source, table)
            read = [output for output in outputs if columns(output.expression) & counts]
            if not all(_is_linear(output.expression, counts) for output in read):
                raise read_by_row(table)
            return frozenset(output.column for output in read)
        case _:
            raise read_by_row(table)


def _is_linear_sum(call: AggregateCall, counts: Counts) -> bool:
    """It sums what is linear in counts, of rows that keys choose."""
    if call.function is not AggregateFunction.SUM or call.output_kind is not OutputKind.VALUE:
        return False
    if call.distinct or call.order or len(call.arguments) != 1:
        return False
    if call.filter is not None and columns(call.filter) & counts:
        return False
    (argument,) = call.arguments
    return bool(columns(argument) & counts) and _is_linear(argument, counts)


def _is_linear(expression: Expression, counts: Counts) -> bool:
    """It is a sum of counts with weights that keys alone decide, or none: 0 or NULL.

    Of such, its sum over a margin's cells is that over all cells. A constant isn't: there are fewer
    cells in a margin. Nor is a cast that rounds.
    """
    match expression:
        case Column():
            return expression in counts
        case Literal(value=value):
            return value is None or value == 0
        case Cast(operand=operand, type=Double(bits=64)):
            return _is_linear(operand, counts)
        case Arithmetic(op=ArithmeticOperator.ADD | ArithmeticOperator.SUBTRACT) as added:
            return _is_linear(added.left, counts) and _is_linear(added.right, counts)
        case Arithmetic(op=ArithmeticOperator.MULTIPLY, left=left, right=right):
            if columns(left) & counts:
                return _is_linear(left, counts) and not columns(right) & counts
            return _is_linear(right, counts)
        case Arithmetic(op=ArithmeticOperator.DIVIDE, left=left, right=right):
            return _is_linear(left, counts) and not columns(right) & counts
        case Case(branches=branches, otherwise=otherwise):
            return _is_linear(otherwise, counts) and all(
                not columns(one.condition) & counts and _is_linear(one.result, counts)
                for one in branches
            )
        case _:
            return False


def _margin(scan: Scan) -> Scan:
    """`scan` of the margin over the keys that it reads."""
    grid = scan.table.grid
    assert grid is not None
    read = {column.name for column in scan.columns}
    axes = tuple(axis for axis, names in enumerate(grid.axes) if read & {*names})
    cells = math.prod(grid.shape[axis] for axis in axes)
    if cells > MAX_MARGIN_CELLS:
        names = ", ".join(name for axis in axes for name in grid.axes[axis] if name in read)
        sizes = " x ".join(f"{grid.shape[axis]:,}" for axis in axes)
        raise TooComplex(
            f"{names} of {scan.table.name} have {sizes} = {cells:,} combinations, and a statement"
            f" reads {MAX_MARGIN_CELLS:,} of them at most",
            hint="name fewer keys: each SELECT may name others",
            note="synopsis",
        )
    return replace(scan, table=replace(scan.table, grid=replace(grid, read=axes)))
