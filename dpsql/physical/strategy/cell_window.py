"""Between which cells the groups lie that a unit keeps, found in the set of all its cells.

| level  | one row per | columns                                                              |
| ------ | ----------- | -------------------------------------------------------------------- |
| sets   | unit        | its number of rows in cells n, and the set of its cells, of 128 bits  |
| turns  | unit        | d groups; which of them it begins with, from 0 on, and ends with      |
| halves | unit        | of these two, the cell so far; what is left of the number and the set |
| window | unit        | the first cell, and how far on the last is: after the highest, the lowest |

The cell of the i-th element is found by halving, from 64 cells on: are there more than i elements
in the lower half, it is one of them, else one of the upper half. No number of a row is computed.

Of a unit that keeps one group the last cell is the first one, and isn't looked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from sqlglot import exp

from dpsql.emit.dialect.duckdb.function_call import cast
from dpsql.emit.dialect.duckdb.literal import emit_literal
from dpsql.emit.dialect.nodes import integer
from dpsql.emit.release.contributions import grouped, select_from
from dpsql.emit.release.group_limit import first_group
from dpsql.emit.sql.clauses import select_of
from dpsql.emit.sql.identifier import column_ref, with_alias
from dpsql.plan.bounded_release.bounded_release import LimitGroups
from dpsql.plan.bounded_release.column_names import ROW_COUNT, UNIT
from dpsql.schema.sql_type import HUGEINT

FIRST: Final = "f"
SPAN: Final = "l"
GROUPS: Final = "d"

_SET: Final = "m"
_FIRST_GROUP: Final = "a"
_FIRST_ALONE: Final = (FIRST,)
_ENDS: Final = (FIRST, SPAN)
"""The first cell and, until they are subtracted, the last one."""


def cell_window(
    limited: LimitGroups, rows: exp.Table, cell: exp.Expr, groups: int, cells: int
) -> exp.Select:
    """For each unit of `rows`: FIRST and SPAN, its number of GROUPS, and its rows in them.

    `cell` is the number of a row's cell, of `cells`, as a byte. It keeps as many as `groups`.
    """
    ends = _FIRST_ALONE if groups == 1 else _ENDS
    units = _turns(limited, _sets(rows, cell), groups, ends)
    width = 1
    while 2 * width < cells:
        width *= 2
    while width:
        units = _halved(units, width, ends)
        width //= 2
    span: exp.Expr = integer(0)
    if SPAN in ends:
        span = exp.Sub(this=column_ref(SPAN), expression=column_ref(FIRST))
    carried = [column_ref(name) for name in (UNIT, ROW_COUNT, GROUPS, FIRST)]
    return select_from(units, [*carried, with_alias(span, SPAN)])


def is_in_window(cell: exp.Expr, ranks: int) -> exp.Expr:
    """Whether a row's `cell` lies between those that its unit keeps; `ranks` is 2^k - 1.

    Differences go around, modulo 2^k. Of any two cells they aren't the same.
    """
    distance = exp.Sub(this=cast(cell, "INTEGER"), expression=column_ref(FIRST))
    return exp.LTE(this=_around(distance, ranks), expression=_around(column_ref(SPAN), ranks))


def _around(distance: exp.Expr, ranks: int) -> exp.Expr:
    return exp.Paren(this=exp.BitwiseAnd(this=exp.Paren(this=distance), expression=integer(ranks)))


def _sets(rows: exp.Table, cell: exp.Expr) -> exp.Select:
    in_cells = select_of([exp.Star()], rows).where(
        exp.Not(this=exp.Is(this=cell, expression=exp.null())), copy=False
    )
    one = exp.BitwiseLeftShift(this=emit_literal(1, HUGEINT), expression=cell.copy())
    items = [
        with_alias(exp.Anonymous(this="count", expressions=[exp.Star()]), ROW_COUNT),
        with_alias(exp.Anonymous(this="bit_or", expressions=[one]), _SET),
    ]
    return grouped(in_cells, [column_ref(UNIT)], items)


def _turns(limited: LimitGroups, sets: exp.Select, groups: int, ends: Sequence[str]) -> exp.Select:
    carried = [column_ref(name) for name in (UNIT, ROW_COUNT, _SET)]
    size = with_alias(cast(_size(column_ref(_SET)), "INTEGER"), GROUPS)
    counted = select_from(sets, [*carried, size])
    first = with_alias(first_group(limited, column_ref(GROUPS)), _FIRST_GROUP)
    begun = select_from(counted, [*carried, column_ref(GROUPS), first])
    own = column_ref(GROUPS)
    many = exp.GT(this=own, expression=integer(groups))
    count = exp.case().when(many, integer(groups), copy=False).else_(own.copy(), copy=False)
    until = exp.Add(
        this=column_ref(_FIRST_GROUP),
        expression=exp.Paren(this=exp.Sub(this=count, expression=integer(1))),
    )
    last = exp.Mod(this=exp.Paren(this=until), expression=own.copy())
    numbers = {FIRST: column_ref(_FIRST_GROUP), SPAN: last}
    items = [
        with_alias(item, name)
        for end in ends
        for name, item in _state(end, integer(0), numbers[end], column_ref(_SET)).items()
    ]
    return select_from(begun, [*map(column_ref, (UNIT, ROW_COUNT, GROUPS)), *items])


def _halved(units: exp.Select, width: int, ends: Sequence[str]) -> exp.Select:
    """`units` with each end's cell known up to `width` cells."""
    items = []
    for end in ends:
        cell, number, rest = (column_ref(name) for name in _names(end))
        lower = exp.BitwiseAnd(this=rest, expression=emit_literal(2**width - 1, HUGEINT))
        count = cast(_size(lower), "INTEGER")
        is_upper = exp.GTE(this=number, expression=count)
        upper = _state(
            end,
            exp.Add(this=cell, expression=integer(width)),
            exp.Sub(this=number.copy(), expression=count.copy()),
            exp.BitwiseRightShift(this=rest.copy(), expression=integer(width)),
        )
        items += [
            with_alias(
                exp.case()
                .when(is_upper.copy(), item, copy=False)
                .else_(column_ref(name), copy=False),
                name,
            )
            for name, item in upper.items()
        ]
    return select_from(units, [*map(column_ref, (UNIT, ROW_COUNT, GROUPS)), *items])


def _state(end: str, cell: exp.Expr, number: exp.Expr, rest: exp.Expr) -> Mapping[str, exp.Expr]:
    """The columns of an end: its cell so far, and the number that it has in the rest of the set."""
    return dict(zip(_names(end), (cell, number, rest), strict=True))


def _names(end: str) -> tuple[str, str, str]:
    return end, f"{end}k", f"{end}m"


def _size(cells: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="bit_count", expressions=[cells])
