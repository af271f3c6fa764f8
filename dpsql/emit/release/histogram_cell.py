"""The cell of a selection that a row lies in."""

from __future__ import annotations

from typing import assert_never

from sqlglot import exp

from dpsql.emit.release.contribution import in_range, steps_of
from dpsql.emit.sql.expression import emit_expression
from dpsql.emit.sql.literal import emit_literal, integer
from dpsql.plan.bounded_release.cell_selection import CellChoice, EquidistantCells, ListedCells


def argument(choice: CellChoice) -> exp.Expr:
    """What the cell of a row is computed from; NULL where the row doesn't count."""
    match choice.cells:
        case EquidistantCells(value=value):
            rendered = emit_expression(value.argument)
        case ListedCells(argument=listed):
            rendered = emit_expression(listed)
        case missing:
            assert_never(missing)
    if choice.filter is None:
        return rendered
    return exp.case().when(emit_expression(choice.filter), rendered, copy=False)


def coordinate(choice: CellChoice, column: exp.Expr) -> exp.Expr:
    """What cells are told apart by: the argument in steps, if it is a number, else as it is."""
    match choice.cells:
        case EquidistantCells(value=value):
            return steps_of(value, column)
        case ListedCells():
            return column
        case missing:
            assert_never(missing)


def cell(choice: CellChoice, column: exp.Expr) -> exp.Expr:
    """The number of the cell that `column`, a `coordinate`, lies in; NULL if it is in none."""
    match choice.cells:
        case EquidistantCells(value=value, width=width):
            return exp.IntDiv(
                this=exp.Paren(this=in_range(value, column)), expression=integer(width)
            )
        case ListedCells(argument=listed, values=values):
            case = exp.case()
            for number, listed_value in enumerate(values):
                literal = emit_literal(listed_value, listed.type)
                equal = exp.EQ(this=column.copy(), expression=literal)
                case = case.when(equal, integer(number), copy=False)
            return case
        case missing:
            assert_never(missing)
