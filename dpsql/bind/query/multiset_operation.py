"""INTERSECT ALL and EXCEPT ALL: set operations of rows that are numbered among their equals.

A row that is there three times on the left and once on the right is (row, 1), (row, 2), (row, 3)
and (row, 1): EXCEPT leaves two of it, and INTERSECT one. Rows that are equal in all columns are the
same in any order, so that their numbers don't depend on it.
"""

from __future__ import annotations

from dpsql.bind.column_ids import Names
from dpsql.plan.operator import (
    Output,
    Plan,
    Project,
    SetKind,
    SetOperation,
    Window,
    WindowCall,
    WindowOutput,
)
from dpsql.plan.output_columns import output_columns
from dpsql.schema.sql_type import BIGINT


def of_all_rows(kind: SetKind, left: Plan, right: Plan, names: Names) -> Plan:
    """`left` INTERSECT ALL or EXCEPT ALL `right`."""
    arms = _numbered(left, names), _numbered(right, names)
    columns = tuple(names.like(c) for c in output_columns(arms[0]))
    row_columns = columns[: len(output_columns(left))]
    outputs = tuple(Output(names.like(c), c) for c in row_columns)
    return Project(SetOperation(kind, *arms, columns), outputs)


def _numbered(arm: Plan, names: Names) -> Plan:
    """`arm` with one more column, the number of each row among its equals."""
    columns = output_columns(arm)
    call = WindowCall("row_number", (), columns, (), None, BIGINT)
    number = names.column("row_number", BIGINT)
    window = Window(arm, (WindowOutput(number, call),))
    outputs = tuple(Output(names.like(c), c) for c in (*columns, number))
    return Project(window, outputs)
