"""The rows that a bounded release counts: unit, groups, and what each statistic measures of a row.

`plan.bounded_release.column_names` has the names of their columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from sqlglot import exp

from dpsql.analysis.lineage.lineage import unit
from dpsql.emit.dialect.key_cells import OF_GROUPS, KeyCells, with_cells
from dpsql.emit.dialect.nodes import integer, listed_key, readable_key, scalar
from dpsql.emit.relation.relation import emit_plan
from dpsql.emit.release.cell.histogram_cell import argument, coordinate
from dpsql.emit.release.cell.month_cell import month_cell
from dpsql.emit.release.contribution import clamp, discretize, raw_values
from dpsql.emit.sql.clauses import joined, select_of, select_over
from dpsql.emit.sql.identifier import column_ref, reference, subquery, table, with_alias
from dpsql.plan.bounded_release.bounded_release import Contributions, KeyDomain
from dpsql.plan.bounded_release.column_names import (
    DOMAIN_CELL,
    UNIT,
    argument_name,
    coordinate_name,
    domain_alias,
    domain_key_name,
    domain_table_name,
    group_name,
    late_key_name,
    term_names,
    value_names,
)
from dpsql.plan.bounded_release.statistic import Statistic
from dpsql.plan.operator import Filter, Plan, Project, Release, Scan
from dpsql.plan.traversal import bottom_up, operators
from dpsql.schema.model import RowUnit
from dpsql.schema.sql_type import SqlType
from dpsql.structs import replace


def emit_contributions(
    contributions: Contributions,
    releases: Mapping[Release, str],
    *,
    with_unit: bool,
    late: frozenset[int] = frozenset(),
    rows: exp.Select | None = None,
    extra: tuple[str, ...] = (),
    inner_key_joins: bool = True,
) -> exp.Select:
    """One row per row: unit, group columns, and each statistic's term before its clamp.

    Of `late` domains it has the keys instead. `rows` are the source's, if they are emitted already,
    with `extra` columns to be passed on. Without `inner_key_joins` other rows stay, and have NULLs
    for group columns.
    """
    items: list[exp.Expr] = []
    own = unit(contributions.source)
    if own is None:
        raise ValueError("a release has private rows below it")
    if with_unit:
        items.append(with_alias(reference(own), UNIT))
    counted = {
        number: cell
        for number in range(len(contributions.domains))
        if number not in late and (cell := counted_cell(contributions, number)) is not None
    }
    for number, domain in enumerate(contributions.domains):
        if number in late:
            items += [
                with_alias(scalar(contributions.keys[key].expression), name)
                for key, name in zip(domain.keys, _late_names(contributions, number), strict=True)
            ]
        else:
            items.append(with_alias(counted.get(number, _cell(number)), group_name(number)))
    names = group_names(contributions)[len(contributions.domains) :]
    items += [
        with_alias(readable_key(key.expression), name)
        for key, name in zip(contributions.unlisted_keys, names, strict=True)
    ]
    values = [raw_values(s) for s in contributions.statistics]
    arguments = [
        tuple(map(column_ref, value_names(number)[: len(each)]))
        for number, each in enumerate(values)
    ]
    terms = list(map(discretize, contributions.statistics, arguments))
    # Decimals and counts are clamped as they are.
    are_terms = not (counted or contributions.cell_choices) and all(
        term is each for term, each in zip(terms, arguments, strict=True)
    )
    names_of = term_names if are_terms else value_names
    items += [
        with_alias(column, name)
        for number, each in enumerate(values)
        for name, column in zip(names_of(number), each, strict=False)
    ]
    items += [
        with_alias(argument(s), argument_name(n)) for n, s in enumerate(contributions.cell_choices)
    ]
    read = contributions.source if with_unit else _unnumbered(contributions.source)
    items += map(column_ref, extra)
    select = select_over(
        emit_plan(read, releases) if rows is None else rows,
        items or [with_alias(integer(1), "nothing")],
    )
    for number, domain in enumerate(contributions.domains):
        if number not in late and number not in counted:
            listed_keys = [contributions.keys[key].expression for key in domain.keys]
            keys = [(scalar(key), key.type) for key in listed_keys]
            select = _join_domain(select, domain, number, keys, outer=not inner_key_joins)
    if are_terms:
        return select
    groups = map(column_ref, grouped_names(contributions, late))
    carried = [*([column_ref(UNIT)] if with_unit else []), *groups]
    steps = [
        with_alias(column, name)
        for number, each in enumerate(terms)
        for name, column in zip(term_names(number), each, strict=False)
    ]
    steps += [
        with_alias(coordinate(s, column_ref(argument_name(n))), coordinate_name(n))
        for n, s in enumerate(contributions.cell_choices)
    ]
    columns = [*carried, *steps, *map(column_ref, extra)]
    discretized = select_from(select, columns or [with_alias(integer(1), "nothing")])
    if inner_key_joins and counted:
        discretized = discretized.where(*map(_is_in_cell, counted), copy=False)
    return discretized


def counted_cell(contributions: Contributions, index: int) -> exp.Expr | None:
    """The number of a row's cell in a domain, if it can be told of the row alone."""
    domain = contributions.domains[index]
    if len(domain.keys) != 1:
        return None
    return month_cell(contributions.keys[domain.keys[0]].expression, domain.cells)


def join_keys(
    sums: exp.Select, contributions: Contributions, late: frozenset[int], names: Sequence[str]
) -> exp.Select:
    """`sums` with the cells of their groups in place of keys; those in no cell are dropped.

    `names` are the columns to keep beside the groups.
    """
    if not late:
        return sums
    items = [
        with_alias(_cell(index), name) if index in late else column_ref(name, table="t")
        for index, name in enumerate(group_names(contributions))
    ]
    select = select_from(sums, [*items, *(column_ref(name, table="t") for name in names)])
    for number in sorted(late):
        domain = contributions.domains[number]
        types = [contributions.keys[key].expression.type for key in domain.keys]
        columns = [column_ref(name, table="t") for name in _late_names(contributions, number)]
        keys = list(zip(columns, types, strict=True))
        select = _join_domain(select, domain, number, keys)
    return select


def totals_by_cell(
    sums: exp.Select,
    contributions: Contributions,
    late: frozenset[int],
    names: Sequence[str],
    items: Sequence[exp.Expr],
    *,
    counted: str | None,
    limit: int = OF_GROUPS,
) -> exp.Select:
    """`items` of groups' cells and of the columns `names` of `sums`, by `join_keys`.

    The one that is `counted`, if any, is the number of a sum's rows. Of no more than `limit` cells
    no table is joined.
    """
    listed = join_keys(sums, contributions, late, names)
    cells = [_key_cells(contributions, number) for number in sorted(late)]
    if not cells or counted is None or not all(each.can_be_compared(limit) for each in cells):
        return select_from(listed, items)
    # A server joins, and leaves out none by it.
    in_cells = map(_is_in_cell, sorted(late))
    return select_from(with_cells(listed, cells, counted), items).where(*in_cells, copy=False)


def _is_in_cell(domain: int) -> exp.Expr:
    return exp.Not(this=exp.Is(this=column_ref(group_name(domain)), expression=exp.null()))


def _key_cells(contributions: Contributions, index: int) -> KeyCells:
    domain = contributions.domains[index]
    kind = contributions.keys[domain.keys[0]].expression.type
    return KeyCells(
        group_name(index), late_key_name(index, 0), tuple(value for value, *_ in domain.cells), kind
    )


def _cell(domain: int) -> exp.Expr:
    """The number of the cell that a row, or a sum, was joined to."""
    return column_ref(DOMAIN_CELL, table=domain_alias(domain))


def _unnumbered(plan: Plan) -> Plan:
    """`plan` without the numbers of rows that are units, where nothing puts rows of one together.

    A number is a window's, and no condition above a window is asked where a table is read.
    """
    if all(isinstance(each, Scan | Filter | Project) for each in operators(plan)):
        return bottom_up(_without_number, plan)
    return plan


def _without_number(plan: Plan) -> Plan:
    if isinstance(plan, Scan) and isinstance(plan.table.ownership, RowUnit):
        return replace(plan, unit=None)
    return plan


def _join_domain(
    select: exp.Select,
    domain: KeyDomain,
    index: int,
    keys: Sequence[tuple[exp.Expr, SqlType]],
    *,
    outer: bool = False,
) -> exp.Select:
    nulls = None in chain.from_iterable(domain.cells)
    equal = exp.NullSafeEQ if nulls else exp.EQ
    same = (
        equal(
            this=key,
            expression=listed_key(
                column_ref(domain_key_name(number), table=domain_alias(index)), kind
            ),
        )
        for number, (key, kind) in enumerate(keys)
    )
    listed = table(domain_table_name(index), domain_alias(index))
    return joined(select, listed, "LEFT" if outer else "INNER", exp.and_(*same, copy=False))


def grouped_names(contributions: Contributions, late: frozenset[int]) -> list[str]:
    """What rows are grouped by: the group columns, or of `late` domains their keys."""
    return [
        name
        for index, group in enumerate(group_names(contributions))
        for name in (_late_names(contributions, index) if index in late else [group])
    ]


def _late_names(contributions: Contributions, index: int) -> list[str]:
    return [late_key_name(index, key) for key in range(len(contributions.domains[index].keys))]


def group_names(contributions: Contributions) -> list[str]:
    """The group columns: one for each key domain, then one for each key without one."""
    count = len(contributions.domains) + len(contributions.unlisted_keys)
    return [group_name(n) for n in range(count)]


def all_term_names(contributions: Contributions) -> list[str]:
    """The columns of the statistics' terms."""
    numbered = enumerate(contributions.statistics)
    return [
        name for n, s in numbered for name, _ in zip(term_names(n), raw_values(s), strict=False)
    ]


def emit_term(statistic: Statistic, number: int) -> exp.Expr:
    """A row's clamped term, by the columns that `emit_contributions` made."""
    return clamp(statistic, tuple(map(column_ref, term_names(number))))


def select_from(source: exp.Query, items: Sequence[exp.Expr]) -> exp.Select:
    """`items` of a derived table."""
    # A node has one parent: a column that is named in several places is copied.
    own = (item if item.parent is None else item.copy() for item in items)
    return select_of(own, subquery(source, "t"))


def grouped(source: exp.Query, groups: Sequence[exp.Expr], items: Sequence[exp.Expr]) -> exp.Select:
    """`items` for each of `groups`."""
    select = select_from(source, [*groups, *items])
    return select.group_by(*(g.copy() for g in groups), copy=False) if groups else select
