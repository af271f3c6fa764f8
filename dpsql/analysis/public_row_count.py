"""What is public of the number of rows of a plan: of all rows of a table that declares it.

Neighbours of such a table have a row replaced, so that they have equally many. After a single
condition the number of rows left is as secret as the values that it reads: {3} becomes {10}, and
`x > 5` holds for one more.
"""

from __future__ import annotations

from typing import assert_never

from msgspec import Struct

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


class PublicSize(Struct, frozen=True):
    """What is public of a plan's number of rows: the number, or a least one; None if nothing is.

    Where it `is_resized` some of the `rows` may be missing; those that aggregates are centred at
    stand for them.
    """

    rows: int | None = None
    min_rows: int | None = None
    is_resized: bool = False


def public_size(plan: Plan) -> PublicSize:
    """What the only table of `plan` declares of its size, if the plan has all of its rows.

    No proof rests on these numbers but on that rows are resized, which the emitted SQL sees to: a
    wrong one makes answers wrong, but doesn't make neighbours differ more.
    """
    scan = rows_before_filter(plan)
    if scan is None or not isinstance(scan.table.ownership, RowUnit):
        return PublicSize()
    table = scan.table
    rows = table.rows if table.resized is None else table.resized
    return PublicSize(rows, table.min_rows, is_resized=table.resized is not None)


def public_row_count(plan: Plan) -> int | None:
    """The number of rows of `plan`; None where it isn't public."""
    return public_size(plan).rows


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
