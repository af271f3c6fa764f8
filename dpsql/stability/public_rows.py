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
    Mark,
    OuterJoin,
    Plan,
    Project,
    Release,
    Scan,
    SetOperation,
    Sort,
    Union,
    Values,
    Window,
)
from dpsql.schema.model import RowUnit


def public_rows(plan: Plan) -> int | None:
    """The declared number of rows of `plan`, None where it isn't public.

    Nothing is proved by the number: a wrong one makes answers wrong, and no neighbour tell more.
    """
    match plan:
        case Scan(table=table):
            return table.rows if isinstance(table.ownership, RowUnit) else None
        case Project(source=source):
            return public_rows(source)
        case (
            Filter()
            | Join()
            | OuterJoin()
            | Mark()
            | Union()
            | SetOperation()
            | Aggregate()
            | Window()
            | Sort()
            | Limit()
            | Release()
            | Values()
        ):
            return None
        case missing:
            assert_never(missing)
