"""The number of rows of a plan, where it is public: all rows of a table that declares so.

Neighbours of such a table have a row replaced, so that they have equally many. After a single
condition the number of rows left is as secret as the values that it reads: {3} becomes {10}, and
`x > 5` holds for one more.
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
    """The declared number of rows of `plan`; None where it isn't public.

    No proof rests on the number: a wrong one makes answers wrong, but doesn't make neighbours
    differ more.
    """
    scan = rows_before_filter(plan)
    return scan.table.rows if scan and isinstance(scan.table.ownership, RowUnit) else None


def rows_before_filter(plan: Plan) -> Scan | None:
    """The scan all of whose rows `plan` has, each once; None where `plan` may have other rows."""
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
