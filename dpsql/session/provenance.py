"""Which columns of an answer are released values as they are, and so have their noise."""

from __future__ import annotations

from dpsql.plan.expression import Column
from dpsql.plan.operator import Filter, Limit, Plan, Project, Release, Sort, Window
from dpsql.plan.tree import columns


def released_column(plan: Plan, column: int) -> tuple[Release, int] | None:
    """The release whose output `column` of `plan` is, unchanged, and that output's id.

    None for keys, and for what is computed of released values: its error is another one. So is that
    of what was joined or aggregated again, where a value may be missing or stand twice.
    """
    match plan:
        case Release(aggregates=aggregates):
            found = any(output.column.id == column for output in aggregates)
            return (plan, column) if found else None
        case Project(source=source, outputs=outputs):
            for output in outputs:
                if output.column.id == column:
                    expression = output.expression
                    if isinstance(expression, Column):
                        return released_column(source, expression.id)
            return None
        case Filter(source=source) | Sort(source=source) | Limit(source=source):
            return released_column(source, column)
        case Window(source=source):
            return released_column(source, column)
        case _:
            return None


def is_exact(plan: Plan, column: int) -> bool:
    """`column` of `plan` is made of group keys and constants alone, which have no noise."""
    match plan:
        case Release(keys=keys):
            return any(key.column.id == column for key in keys)
        case Project(source=source, outputs=outputs):
            (own,) = (output for output in outputs if output.column.id == column)
            return all(is_exact(source, read.id) for read in columns(own.expression))
        case Filter(source=source) | Sort(source=source) | Limit(source=source):
            return is_exact(source, column)
        case Window(source=source, outputs=outputs):
            made = any(output.column.id == column for output in outputs)
            return not made and is_exact(source, column)
        case _:
            return False
