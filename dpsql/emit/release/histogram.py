"""Counts of cells, for what is chosen by them: so many rows of each unit in each of its groups.

| level    | one row per       | what is left                                                   |
| -------- | ----------------- | -------------------------------------------------------------- |
| rows     | row of the source | unit u, groups g0 …, the number p of the row's cell             |
| units    | unit and group    | its rows with a cell m, and the group's place among the unit's  |
| beyond   | the same          | those of more rows than the limit, or in a place beyond it      |
| few      | group and cell    | rows of units and groups that aren't beyond, as they are        |
| many     | unit, group, cell | of those beyond by their rows: so many, drawn evenly            |
| count    | group and cell    | its number of rows n                                            |

Few units are beyond the limits where these are well chosen, so that only they are sorted. Where a
sidecar told rows of other units and groups apart before, most are beyond: all that are left are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, assert_never

from sqlglot import exp

from dpsql.analysis.unit_contribution import rows_per_group
from dpsql.emit.dialect.nodes import integer, narrow, quotient
from dpsql.emit.release.cell.histogram_cell import cell
from dpsql.emit.release.contribution import number_of_rows, sum_of
from dpsql.emit.release.contributions import group_names, grouped, select_from
from dpsql.emit.release.group_limit import group_rank, rank_by_hash, salted_hash
from dpsql.emit.sql.clauses import select_of
from dpsql.emit.sql.identifier import column_ref, with_alias
from dpsql.plan.bounded_release.bounded_release import Limited, LimitGroups, OneRowPerUnit
from dpsql.plan.bounded_release.cell_selection import (
    CellChoice,
    CountedCells,
    FrequentCell,
    Mode,
    QuantileRanks,
    ThresholdScores,
    TopCells,
)
from dpsql.plan.bounded_release.column_names import CELL_NUMBER, ROW_COUNT, UNIT, coordinate_name

_UNIT_ROWS: Final = "rows of units"
_OVER_LIMIT: Final = "beyond limits"
"""Names with a space, so that no table of a schema can have them."""

_STARTS: Final = 2**30
"""Of so many hashes, about as many start at one of a unit's rows as at another."""

_CELL_ROWS: Final = "m"
_RANK: Final = "place"
_ROWS_UNTIL: Final = "c"


def histogram(
    limited: Limited, rows: exp.Select, number: int, unlimited: exp.Select | None = None
) -> exp.Select:
    """The rows in each cell of selection `number`, among `rows` as `emit_contributions` has them.

    `unlimited` are further rows, without units: all that their units have in their groups, which no
    limit on what is drawn binds.
    """
    match limited:
        case OneRowPerUnit(source=terms):
            names = group_names(terms)
            rows_in_cells = in_cells(rows, names, number, terms.cell_choices[number], [])
            return counted(select_from(rows_in_cells, [exp.Star()]), names)
        case LimitGroups():
            terms = limited.contributions
            names = group_names(terms)
            units: list[exp.Expr] = [column_ref(UNIT)]
            choice = terms.cell_choices[number]
            rows_in_cells = in_cells(rows, names, number, choice, units)
            match choice.target:
                case (
                    FrequentCell(rows=rows_per_cell)
                    | TopCells(rows=rows_per_cell)
                    | CountedCells(rows=rows_per_cell)
                ):
                    if unlimited is not None:
                        raise ValueError("rows of a cell are limited for each unit, in any group")
                    return _limited_per_cell(rows_in_cells, names, rows_per_cell)
                case QuantileRanks() | Mode() | ThresholdScores():
                    if unlimited is None:
                        return _limited(rows_in_cells, limited, names)
                    few_rows = in_cells(unlimited, names, number, choice, [])
                    few = counted(select_from(few_rows, [exp.Star()]), names)
                    if group_rank(limited, "row_number", names) is not None:
                        return _limited(rows_in_cells, limited, names, few)
                    return added(names, few, _drawn(rows_in_cells, limited, names))
                case other:
                    assert_never(other)
        case missing:
            assert_never(missing)


def in_cells(
    rows: exp.Select, names: list[str], number: int, choice: CellChoice, units: list[exp.Expr]
) -> exp.Select:
    """The groups and cells of `rows`, beside the columns `units`."""
    own_cell = cell(choice, column_ref(coordinate_name(number)))
    columns = [*units, *map(column_ref, names), with_alias(own_cell, CELL_NUMBER)]
    return select_from(rows, columns)


def counted(rows: exp.Select, names: list[str]) -> exp.Select:
    """How many of `rows` there are in each group and cell."""
    groups = [column_ref(name) for name in names]
    present = rows.where(is_known(column_ref(CELL_NUMBER)), copy=False)
    count = with_alias(number_of_rows(), ROW_COUNT)
    return grouped(present, [*groups, column_ref(CELL_NUMBER)], [count])


def _limited_per_cell(rows: exp.Select, names: list[str], rows_per_cell: int) -> exp.Select:
    """Of each unit so many rows of a cell, or all it has there."""
    groups = [column_ref(name) for name in names]
    of_unit = counted(select_from(rows, [exp.Star()]), [UNIT, *names])
    count, limit = column_ref(ROW_COUNT), integer(rows_per_cell)
    over = exp.GT(this=count.copy(), expression=limit.copy())
    counted_rows = exp.case().when(over, limit, copy=False).else_(count, copy=False)
    total = with_alias(sum_of(counted_rows), ROW_COUNT)
    return grouped(of_unit, [*groups, column_ref(CELL_NUMBER)], [total])


def _drawn(rows: exp.Select, limited: LimitGroups, names: list[str]) -> exp.Select:
    """The counts of `rows`, of a unit in no more groups than it may be in: drawn one by one.

    Its rows of one cell follow each other in its order of cells, so that as many of them are drawn
    as by `_sampled_rows`: the i-th of m where ⌊(i·R + h) / m⌋ is more than it was before it, which
    is where i·R + h leaves less than R, no more than m.
    """
    groups = [column_ref(name) for name in names]
    known = is_known(column_ref(CELL_NUMBER))
    present = select_from(rows, [exp.Star()]).where(known, copy=False)
    unit_rows = exp.Window(
        this=number_of_rows(), partition_by=[column_ref(UNIT), *(g.copy() for g in groups)]
    )
    number = rank_by_hash(limited, "row_number", groups, [column_ref(CELL_NUMBER)])
    numbered = select_from(
        present, [exp.Star(), with_alias(unit_rows, _CELL_ROWS), with_alias(number, _ROWS_UNTIL)]
    )
    all_rows, max_rows = column_ref(_CELL_ROWS), integer(rows_per_group(limited))
    start = _start(limited, groups)
    moved = exp.Add(
        this=exp.Mul(this=column_ref(_ROWS_UNTIL), expression=max_rows), expression=start
    )
    left = exp.Mod(this=exp.Paren(this=moved), expression=all_rows)
    is_drawn = exp.or_(
        exp.LTE(this=all_rows.copy(), expression=max_rows.copy()),
        exp.LT(this=left, expression=max_rows.copy()),
        copy=False,
    )
    return counted(select_from(numbered, [exp.Star()]).where(is_drawn, copy=False), names)


def added(names: list[str], *counts: exp.Select) -> exp.Select:
    """The sums of `counts` by group and cell."""
    by = [*map(column_ref, names), column_ref(CELL_NUMBER)]
    total = with_alias(sum_of(column_ref(ROW_COUNT)), ROW_COUNT)
    return grouped(exp.union(*counts, distinct=False, copy=False), by, [total])


def _limited(
    rows: exp.Select, limited: LimitGroups, names: list[str], *others: exp.Select
) -> exp.Select:
    """The counts of `rows`, and of `others`, which are counted already."""
    groups = [column_ref(name) for name in names]
    few = counted(
        select_of([exp.Star()], exp.table_(_UNIT_ROWS, quoted=True, alias="r")).where(
            exp.Not(this=exp.Exists(this=_with_over_limit(names))), copy=False
        ),
        names,
    )
    sampled = with_alias(_sampled_rows(limited, groups), ROW_COUNT)
    many = select_from(_limited_units(limited, names), [*groups, column_ref(CELL_NUMBER), sampled])
    select = added(names, few, many, *others)
    for name, query in ((_UNIT_ROWS, rows), (_OVER_LIMIT, _over_limit(limited, names))):
        alias = exp.to_identifier(name, quoted=True)
        select = select.with_(alias, as_=query, materialized=True, copy=False)
    return select


def _over_limit(limited: LimitGroups, names: list[str]) -> exp.Select:
    """Units in groups where they pass a limit. Groups are chosen as they are for sums."""
    groups = [column_ref(name) for name in names]
    known_rows = exp.Anonymous(this="count", expressions=[column_ref(CELL_NUMBER)])
    units = select_of(
        [column_ref(UNIT), *groups, with_alias(known_rows, _CELL_ROWS)],
        exp.table_(_UNIT_ROWS, quoted=True),
    ).group_by(column_ref(UNIT), *(g.copy() for g in groups), copy=False)
    beyond: exp.Expr = exp.GT(
        this=column_ref(_CELL_ROWS), expression=integer(rows_per_group(limited))
    )
    ranked = group_rank(limited, "row_number", names)
    if ranked is not None:
        rank, max_groups = ranked
        units = select_from(units, [exp.Star(), with_alias(rank, _RANK)])
        beyond = exp.or_(beyond, exp.GT(this=column_ref(_RANK), expression=integer(max_groups)))
    return select_from(units, [exp.Star()]).where(beyond, copy=False)


def _limited_units(limited: LimitGroups, names: list[str]) -> exp.Select:
    """The cells of units beyond: rows n, rows up to this one c in an order of its own."""
    own = [column_ref(name, table="r") for name in [UNIT, *names, CELL_NUMBER]]
    all_rows: list[exp.Expr] = [column_ref(_CELL_ROWS, table="b")]
    conditions: list[exp.Expr] = [is_known(column_ref(CELL_NUMBER, table="r"))]
    ranked = group_rank(limited, "row_number", names)
    if ranked is not None:
        rank = column_ref(_RANK, table="b")
        conditions.append(exp.LTE(this=rank, expression=integer(ranked[1])))
    count = with_alias(number_of_rows(), ROW_COUNT)
    cells = (
        select_of([*own, *all_rows, count], exp.table_(_UNIT_ROWS, quoted=True, alias="r"))
        .join(exp.table_(_OVER_LIMIT, quoted=True, alias="b"), on=_same(names), copy=False)
        .where(exp.and_(*conditions), copy=False)
        .group_by(*(c.copy() for c in [*own, *all_rows]), copy=False)
    )
    groups = [column_ref(name) for name in names]
    until = rank_by_hash(
        limited, "sum", groups, [column_ref(CELL_NUMBER)], of=column_ref(ROW_COUNT)
    )
    return select_from(cells, [exp.Star(), with_alias(until, _ROWS_UNTIL)])


def _sampled_rows(limited: LimitGroups, groups: Sequence[exp.Expr]) -> exp.Expr:
    """How many of a cell's rows are drawn where a unit has m of them in all, of R that may be.

    Of its rows in a row every (m / R)th is taken, from a place h < m on that a keyed hash says: in
    all ⌊(m·R + h) / m⌋ - ⌊h / m⌋ = R, each with the same chance.
    """
    rows, start = integer(rows_per_group(limited)), _start(limited, groups)

    def taken(until: exp.Expr) -> exp.Expr:
        moved = exp.Add(this=exp.Mul(this=until, expression=rows.copy()), expression=start.copy())
        return quotient(exp.Paren(this=moved), column_ref(_CELL_ROWS))

    until, own = column_ref(_ROWS_UNTIL), column_ref(ROW_COUNT)
    before = exp.Paren(this=exp.Sub(this=until.copy(), expression=own))
    return exp.Sub(this=taken(until), expression=taken(before))


def _start(limited: LimitGroups, groups: Sequence[exp.Expr]) -> exp.Expr:
    """The place from which on a unit's rows are drawn, below their number."""
    hashed = narrow(salted_hash(limited, groups, _STARTS), 0, _STARTS - 1)
    return exp.Mod(this=hashed, expression=column_ref(_CELL_ROWS))


def _with_over_limit(names: list[str]) -> exp.Select:
    beyond = exp.table_(_OVER_LIMIT, quoted=True, alias="b")
    return select_of([integer(1)], beyond).where(_same(names), copy=False)


def _same(names: list[str]) -> exp.Expr:
    return exp.and_(
        *(
            exp.NullSafeEQ(this=column_ref(name, table="r"), expression=column_ref(name, table="b"))
            for name in [UNIT, *names]
        )
    )


def is_known(column: exp.Expr) -> exp.Expr:
    """That `column` isn't NULL."""
    return exp.Not(this=exp.Is(this=column.copy(), expression=exp.null()))
