"""The rows that a bounded release counts: unit, groups, and what each statistic measures of a row.

Names: unit u, groups g0 …, values v0 …, the second of a product w0 …; then in steps r0 …, q0 ….
Arguments of selections are x0 …, and p0 … what their cells are told apart by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from dpsql.emit.cell import argument, coordinate
from dpsql.emit.expression import emit_expression, integer
from dpsql.emit.name import aliased, field, reference, subquery, table
from dpsql.emit.relation import emit_plan
from dpsql.emit.term import clamped_term, measured, values
from dpsql.plan.bounded import Terms
from dpsql.plan.operator import Release
from dpsql.plan.statistic import Statistic
from dpsql.stability.lineage import unit


def emit_terms(terms: Terms, releases: Mapping[Release, str], *, with_unit: bool) -> exp.Select:
    """One row per row: unit, group columns, and each statistic's term before its clamp."""
    items: list[exp.Expr] = []
    own = unit(terms.source)
    if own is None:
        raise ValueError("a release has private rows below it")
    if with_unit:
        items.append(aliased(reference(own), "u"))
    listed = {place for found in terms.domains for place in found.keys}
    unlisted = [key for place, key in enumerate(terms.keys) if place not in listed]
    names = iter(group_names(terms))
    items += [
        aliased(field("cell", table=f"d{place}"), next(names))
        for place in range(len(terms.domains))
    ]
    items += [aliased(emit_expression(key.expression), next(names)) for key in unlisted]
    items += [
        aliased(column, name)
        for number, s in enumerate(terms.statistics)
        for name, column in zip(_names("vw", number), values(s), strict=False)
    ]
    items += [aliased(argument(s), f"x{n}") for n, s in enumerate(terms.selections)]
    source = subquery(emit_plan(terms.source, releases), "t")
    select = exp.select(*(items or [aliased(integer(1), "nothing")]), copy=False).from_(
        source, copy=False
    )
    for place, found in enumerate(terms.domains):
        nulls = any(value is None for cell in found.cells for value in cell)
        equal = exp.NullSafeEQ if nulls else exp.EQ
        select = select.join(
            table(f"domain_{place}"),
            join_alias=f"d{place}",
            on=exp.and_(
                *(
                    equal(
                        this=emit_expression(terms.keys[key].expression),
                        expression=field(f"k{number}", table=f"d{place}"),
                    )
                    for number, key in enumerate(found.keys)
                ),
                copy=False,
            ),
            copy=False,
        )
    carried = [*([field("u")] if with_unit else []), *map(field, group_names(terms))]
    steps = [
        aliased(column, name)
        for number, s in enumerate(terms.statistics)
        for name, column in zip(
            _names("rq", number),
            measured(s, tuple(map(field, _names("vw", number)[: len(values(s))]))),
            strict=False,
        )
    ]
    steps += [
        aliased(coordinate(s, field(f"x{n}")), f"p{n}") for n, s in enumerate(terms.selections)
    ]
    return select_from(select, [*carried, *steps] or [aliased(integer(1), "nothing")])


def group_names(terms: Terms) -> list[str]:
    """The group columns: one for each key domain, then one for each key without one."""
    listed = {place for found in terms.domains for place in found.keys}
    unlisted = [place for place in range(len(terms.keys)) if place not in listed]
    return [f"g{n}" for n in range(len(terms.domains) + len(unlisted))]


def emit_term(statistic: Statistic, number: int) -> exp.Expr:
    """A row's clamped term, by the columns that `emit_terms` made."""
    return clamped_term(statistic, tuple(map(field, _names("rq", number))))


def select_from(source: exp.Select, items: Sequence[exp.Expr]) -> exp.Select:
    """`items` of a derived table."""
    # A node has one parent: a column that is named in several places is copied.
    own = (item if item.parent is None else item.copy() for item in items)
    return exp.select(*own, copy=False).from_(subquery(source, "t"), copy=False)


def grouped(
    source: exp.Select, groups: Sequence[exp.Expr], items: Sequence[exp.Expr]
) -> exp.Select:
    """`items` for each of `groups`."""
    select = select_from(source, [*groups, *items])
    return select.group_by(*(g.copy() for g in groups), copy=False) if groups else select


def _names(letters: str, number: int) -> list[str]:
    return [f"{letter}{number}" for letter in letters]
