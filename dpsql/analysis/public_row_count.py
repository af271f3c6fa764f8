"""How many rows there are, where that is nobody's secret: all rows of a table that says so.

Its neighbours have a row replaced, so that they have equally many. One condition, and how many rows
are left is as secret as the values that it reads: {3} becomes {10}, and `x > 5` holds for one more.
"""

from __future__ import annotations

from typing import assert_never

from dpsql.plan.operator import (
    Aggregate,
    Filter,
    Join,
    Limit,
    MarkJoin,
    OuterJoin,
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
)
from dpsql.schema.model import RowUnit


def public_row_count(plan: Plan) -> int | None:
    """The declared number of rows of `plan`, None where it isn't public.

    Nothing is proved by the number: a wrong one makes answers wrong, and no neighbour tell more.
    """
    scan = rows_before_filter(plan)
    return scan.table.rows if scan and isinstance(scan.table.ownership, RowUnit) else None


def rows_before_filter(plan: Plan) -> Scan | None:
    """The table all of whose rows `plan` has, each once; None where it may have others."""
    match plan:
        case Scan():
            return plan
        case Project(source=source):
            return rows_before_filter(source)
        case (
            Filter()
            | Join()
            | OuterJoin()
            | MarkJoin()
            | Union()
            | SetOperation()
            | Aggregate()
            | Window()
            | Sort()
            | Limit()
            | Release()
            | Values()
            | PublicStatement()
        ):
            return None
        case missing:
            assert_never(missing)
