"""Counts of cells, for what is chosen by them: so many rows of each unit in each of its groups.

| level | one row per              | what is left                                        |
| ----- | ------------------------ | ---------------------------------------------------- |
| cells | row of the source        | unit u, groups g0 …, the number p of the row's cell   |
| kept  | the same                 | rows in the unit's kept groups                        |
| nth   | the same, with a cell    | which of the unit's rows in that group and cell it is |
| few   | the same                 | so many of the unit's rows in a group, by keyed hash  |
| count | group and cell           | its number of rows n                                  |
"""

from __future__ import annotations

from typing import assert_never

from sqlglot import exp

from dpsql.emit.expression import integer
from dpsql.emit.limit import chosen, limited_groups
from dpsql.emit.name import aliased, field
from dpsql.emit.terms import group_names, grouped, select_from
from dpsql.plan.bounded import Limited, LimitGroups, OneRowPerUnit
from dpsql.stability.sensitivity import rows_per_group


def histogram(limited: Limited, rows: exp.Select, number: int) -> exp.Select:
    """The rows in each cell of selection `number`, among `rows` as `emit_terms` gives them."""
    match limited:
        case OneRowPerUnit(source=terms):
            names = group_names(terms)
            cells = _cells(rows, names, number, [])
        case LimitGroups():
            names = group_names(limited.source.source.source)
            cells = _few(_cells(rows, names, number, [field("u")]), limited, names)
        case missing:
            assert_never(missing)
    groups = [field(name) for name in names]
    present = select_from(cells, [exp.Star()]).where(_is_known(field("p")), copy=False)
    count = aliased(exp.Anonymous(this="count", expressions=[exp.Star()]), "n")
    return grouped(present, [*groups, field("p")], [count])


def _cells(rows: exp.Select, names: list[str], number: int, units: list[exp.Expr]) -> exp.Select:
    columns = [*units, *(field(name) for name in names)]
    return select_from(rows, [*columns, aliased(field(f"p{number}"), "p")])


def _few(cells: exp.Select, limited: LimitGroups, names: list[str]) -> exp.Select:
    """Which rows are kept depends on how many the unit has in each cell, not on how they lie."""
    groups = [field(name) for name in names]
    # Groups are chosen among all the unit's, as they are for its sums.
    kept = limited_groups(cells, limited, names, rank="dense_rank")
    nth = exp.Window(
        this=exp.Anonymous(this="row_number", expressions=[]),
        partition_by=[field("u"), *groups, field("p")],
    )
    numbered = select_from(kept, [exp.Star(), aliased(nth, "i")]).where(
        _is_known(field("p")), copy=False
    )
    place = chosen(limited, "row_number", groups, [field("p"), field("i")])
    few = exp.LTE(this=place, expression=integer(rows_per_group(limited)))
    return select_from(numbered, [exp.Star()]).qualify(few, copy=False)


def _is_known(column: exp.Expr) -> exp.Expr:
    return exp.Not(this=exp.Is(this=column.copy(), expression=exp.null()))
