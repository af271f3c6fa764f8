"""Counts of cells, for what is chosen by them: so many rows of each unit in each of its groups.

| level    | one row per       | what is left                                                   |
| -------- | ----------------- | -------------------------------------------------------------- |
| rows     | row of the source | unit u, groups g0 …, the number p of the row's cell             |
| units    | unit and group    | its rows with a cell m, and the group's place among the unit's  |
| beyond   | the same          | those of more rows than the limit, or in a place beyond it      |
| few      | group and cell    | rows of units and groups that aren't beyond, as they are        |
| many     | unit, group, cell | of those beyond by their rows: so many, drawn evenly            |
| count    | group and cell    | its number of rows n                                            |

Few units are beyond the limits where these are well chosen, so that only they are sorted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, assert_never

from sqlglot import exp

from dpsql.analysis.sensitivity import rows_per_group
from dpsql.emit.release.contribution import number_of_rows
from dpsql.emit.release.contributions import group_names, grouped, select_from
from dpsql.emit.release.group_limit import choose_groups, salted_hash
from dpsql.emit.release.histogram_cell import cell
from dpsql.emit.sql.identifier import column_ref, with_alias
from dpsql.emit.sql.literal import integer
from dpsql.plan.bounded_release.bounded_release import (
    ByDomain,
    ByHash,
    ByUnit,
    Limited,
    LimitGroups,
    OneRowPerUnit,
)
from dpsql.plan.bounded_release.cell_selection import CellChoice

_ROW_COUNT: Final = "rows of units"
_OVER_LIMIT: Final = "beyond limits"
"""Names with a space, so that no table of a schema can have them."""


def histogram(limited: Limited, rows: exp.Select, number: int) -> exp.Select:
    """The rows in each cell of selection `number`, among `rows` as `emit_terms` gives them."""
    match limited:
        case OneRowPerUnit(source=terms):
            names = group_names(terms)
            found = _in_cells(rows, names, number, terms.cell_choices[number], [])
            return _counted(select_from(found, [exp.Star()]), names)
        case LimitGroups():
            terms = limited.contributions
            names = group_names(terms)
            found = _in_cells(rows, names, number, terms.cell_choices[number], [column_ref("u")])
            return _limited(found, limited, names)
        case missing:
            assert_never(missing)


def _in_cells(
    rows: exp.Select, names: list[str], number: int, choice: CellChoice, units: list[exp.Expr]
) -> exp.Select:
    place = cell(choice, column_ref(f"p{number}"))
    return select_from(rows, [*units, *map(column_ref, names), with_alias(place, "p")])


def _counted(rows: exp.Select, names: list[str]) -> exp.Select:
    groups = [column_ref(name) for name in names]
    present = rows.where(_is_known(column_ref("p")), copy=False)
    count = with_alias(number_of_rows(), "n")
    return grouped(present, [*groups, column_ref("p")], [count])


def _limited(rows: exp.Select, limited: LimitGroups, names: list[str]) -> exp.Select:
    groups = [column_ref(name) for name in names]
    few = _counted(
        exp.select(exp.Star())
        .from_(exp.table_(_ROW_COUNT, quoted=True, alias="r"), copy=False)
        .where(exp.Not(this=exp.Exists(this=_with_over_limit(names))), copy=False),
        names,
    )
    drawn = with_alias(_chosen(limited, groups), "n")
    many = select_from(_limited_units(limited, names), [*groups, column_ref("p"), drawn])
    total = with_alias(exp.Anonymous(this="sum", expressions=[column_ref("n")]), "n")
    both = exp.union(few, many, distinct=False, copy=False)
    select = exp.select(*groups, column_ref("p"), total).from_(
        both.subquery("t", copy=False), copy=False
    )
    select = select.group_by(*(g.copy() for g in [*groups, column_ref("p")]), copy=False)
    for name, found in ((_ROW_COUNT, rows), (_OVER_LIMIT, _over_limit(limited, names))):
        alias = exp.to_identifier(name, quoted=True)
        select = select.with_(alias, as_=found, materialized=True, copy=False)
    return select


def _over_limit(limited: LimitGroups, names: list[str]) -> exp.Select:
    """Units in groups where they pass a limit. Groups are chosen as they are for sums."""
    groups = [column_ref(name) for name in names]
    counted = with_alias(exp.Anonymous(this="count", expressions=[column_ref("p")]), "m")
    units = (
        exp.select(column_ref("u"), *groups, counted)
        .from_(exp.table_(_ROW_COUNT, quoted=True), copy=False)
        .group_by(column_ref("u"), *(g.copy() for g in groups), copy=False)
    )
    beyond: exp.Expr = exp.GT(this=column_ref("m"), expression=integer(rows_per_group(limited)))
    match limited.limit:
        case ByHash(groups=most):
            place = choose_groups(limited, "row_number", [], groups)
            units = select_from(units, [exp.Star(), with_alias(place, "place")])
            beyond = exp.or_(beyond, exp.GT(this=column_ref("place"), expression=integer(most)))
        case ByDomain() | ByUnit():
            pass
        case missing:
            assert_never(missing)
    return select_from(units, [exp.Star()]).where(beyond, copy=False)


def _limited_units(limited: LimitGroups, names: list[str]) -> exp.Select:
    """The cells of units beyond: rows n, rows up to this one c in an order of its own."""
    own = [column_ref(name, table="r") for name in ["u", *names, "p"]]
    most: list[exp.Expr] = [column_ref("m", table="b")]
    kept: list[exp.Expr] = [_is_known(column_ref("p", table="r"))]
    if isinstance(limited.limit, ByHash):
        place = column_ref("place", table="b")
        kept.append(exp.LTE(this=place, expression=integer(limited.limit.groups)))
    count = with_alias(number_of_rows(), "n")
    cells = (
        exp.select(*own, *most, count)
        .from_(exp.table_(_ROW_COUNT, quoted=True, alias="r"), copy=False)
        .join(exp.table_(_OVER_LIMIT, quoted=True, alias="b"), on=_same(names), copy=False)
        .where(exp.and_(*kept), copy=False)
        .group_by(*(c.copy() for c in [*own, *most]), copy=False)
    )
    until = choose_groups(
        limited, "sum", [column_ref(name) for name in names], [column_ref("p")], of=column_ref("n")
    )
    return select_from(cells, [exp.Star(), with_alias(until, "c")])


def _chosen(limited: LimitGroups, groups: Sequence[exp.Expr]) -> exp.Expr:
    """How many of a cell's rows are drawn where a unit has m of them in all, of R that may be.

    Of its rows in a row every (m / R)th is taken, from a place h < m on that a keyed hash says: in
    all ⌊(m·R + h) / m⌋ - ⌊h / m⌋ = R, each with the same chance.
    """
    rows = integer(rows_per_group(limited))
    start = exp.Mod(this=salted_hash(limited, groups), expression=column_ref("m"))

    def taken(until: exp.Expr) -> exp.Expr:
        moved = exp.Add(this=exp.Mul(this=until, expression=rows.copy()), expression=start.copy())
        return exp.IntDiv(this=exp.Paren(this=moved), expression=column_ref("m"))

    before = exp.Paren(this=exp.Sub(this=column_ref("c"), expression=column_ref("n")))
    return exp.Sub(this=taken(column_ref("c")), expression=taken(before))


def _with_over_limit(names: list[str]) -> exp.Select:
    beyond = exp.table_(_OVER_LIMIT, quoted=True, alias="b")
    return exp.select(integer(1)).from_(beyond, copy=False).where(_same(names), copy=False)


def _same(names: list[str]) -> exp.Expr:
    return exp.and_(
        *(
            exp.NullSafeEQ(this=column_ref(name, table="r"), expression=column_ref(name, table="b"))
            for name in ["u", *names]
        )
    )


def _is_known(column: exp.Expr) -> exp.Expr:
    return exp.Not(this=exp.Is(this=column.copy(), expression=exp.null()))
