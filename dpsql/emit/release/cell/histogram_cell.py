"""The cell of a selection that a row lies in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, assert_never

from sqlglot import exp

from dpsql.emit.dialect.nodes import as_steps, constant, integer, quotient, scalar
from dpsql.emit.release.contribution import in_range
from dpsql.plan.bounded_release.cell_selection import (
    CellChoice,
    EquidistantCells,
    ListedCells,
    ThresholdCells,
)
from dpsql.plan.expression import Comparison

_COMPARED: Final[Mapping[Comparison, type[exp.Binary]]] = {
    Comparison.GREATER_EQUAL: exp.GTE,
    Comparison.GREATER: exp.GT,
    Comparison.LESS_EQUAL: exp.LTE,
    Comparison.LESS: exp.LT,
}


def argument(choice: CellChoice) -> exp.Expr:
    """What the cell of a row is computed from; NULL where the row doesn't count."""
    match choice.cells:
        case EquidistantCells(value=value):
            rendered = scalar(value.argument)
        case ListedCells(argument=value) | ThresholdCells(argument=value):
            rendered = scalar(value)
        case missing:
            assert_never(missing)
    if choice.filter is None:
        return rendered
    return exp.case().when(scalar(choice.filter), rendered, copy=False)


def coordinate(choice: CellChoice, column: exp.Expr) -> exp.Expr:
    """What cells are value apart by: the argument in steps, if it is a number, else as it is."""
    match choice.cells:
        case EquidistantCells(value=value):
            return as_steps(value, column)
        case ListedCells() | ThresholdCells():
            return column
        case missing:
            assert_never(missing)


def cell(choice: CellChoice, column: exp.Expr) -> exp.Expr:
    """The number of the cell that `column`, a `coordinate`, lies in; NULL if it is in none."""
    match choice.cells:
        case EquidistantCells(value=value, width=width):
            return quotient(exp.Paren(this=in_range(value, column)), integer(width))
        case ListedCells(argument=listed, values=values):
            case = exp.case()
            for number, own in enumerate(values):
                equal: exp.Expr = exp.Is(this=column.copy(), expression=exp.null())
                if own is not None:
                    equal = exp.EQ(this=column.copy(), expression=constant(own, listed.type))
                case = case.when(equal, integer(number), copy=False)
            return case
        case ThresholdCells(argument=compared, comparison=comparison, thresholds=thresholds):
            case = exp.case()
            # The last that a row passes comes first: what it passes, it passes all before.
            for number, threshold in reversed([*enumerate(thresholds)]):
                passes = _COMPARED[comparison](
                    this=column.copy(), expression=constant(threshold, compared.type)
                )
                case = case.when(passes, integer(number), copy=False)
            return case
        case missing:
            assert_never(missing)
