"""A bounded release as engine SQL: what was proved is what is emitted, number for number.

| level    | one row per        | columns                                            |
| -------- | ------------------ | -------------------------------------------------- |
| terms    | row of the source  | unit u, groups g0 …, values v0 …, then r0 … to clamp |
| partials | unit and group     | rows n, sums s0 … of clamped terms                  |
| scaled   | the same           | sums as integers, scaled down where n is too large  |
| clamped  | the same           | sums within their intervals; then groups are limited |
| totals   | group              | sums s0 … of integers                               |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never

from sqlglot import exp

from dpsql.emit.expression import emit_expression, integer
from dpsql.emit.name import reference, subquery
from dpsql.emit.relation import emit_plan
from dpsql.emit.term import clamped_term, in_steps, measured, total, value, within
from dpsql.plan.bounded import (
    BoundedRelease,
    ByDomain,
    ByHash,
    ByUnit,
    LimitGroups,
    OneRowPerUnit,
    Presence,
    Statistic,
    Terms,
)
from dpsql.plan.operator import Release
from dpsql.plan.query import DomainTable, EngineQuery
from dpsql.stability.lineage import has_row_units, unit
from dpsql.stability.sensitivity import partial_bound, rows_per_group


def emit_release(bounded: BoundedRelease, releases: Mapping[Release, str]) -> EngineQuery:
    """The one statement whose integers `bounded` adds noise to."""
    terms = bounded.terms
    domains = tuple(
        DomainTable(
            f"domain_{place}",
            tuple(terms.keys[key].expression.type for key in found.keys),
            found.cells,
        )
        for place, found in enumerate(terms.domains)
    )
    match bounded.limited:
        case OneRowPerUnit():
            select = _row_totals(terms, releases)
            salted = False
        case LimitGroups(limit=limit) as limited:
            select = _partial_totals(limited, releases)
            salted = isinstance(limit, ByHash)
        case missing:
            assert_never(missing)
    return EngineQuery(select.sql(dialect="duckdb"), domains, salted)


def group_names(terms: Terms) -> list[str]:
    """The group columns: one for each key domain, then one for each key without one."""
    listed = {place for found in terms.domains for place in found.keys}
    unlisted = [place for place in range(len(terms.keys)) if place not in listed]
    return [f"g{n}" for n in range(len(terms.domains) + len(unlisted))]


def _row_totals(terms: Terms, releases: Mapping[Release, str]) -> exp.Select:
    """Each row is a unit's only one: clamped terms are summed as they are."""
    groups = [exp.column(name) for name in group_names(terms)]
    sums = [
        exp.alias_(total(clamped_term(s, exp.column(f"r{number}"))), f"s{number}")
        for number, s in enumerate(terms.statistics)
    ]
    summed = _grouped(_terms(terms, releases, with_unit=False), groups, sums)
    steps = [
        exp.alias_(in_steps(s, exp.column(f"s{number}")), f"s{number}")
        for number, s in enumerate(terms.statistics)
    ]
    return _from(summed, [*groups, *steps])


def _partial_totals(limited: LimitGroups, releases: Mapping[Release, str]) -> exp.Select:
    terms = limited.source.source.source
    names = group_names(terms)
    groups = [exp.column(name) for name in names]
    numbered = list(enumerate(terms.statistics))
    sums = [
        exp.alias_(total(clamped_term(s, exp.column(f"r{n}"))), f"s{n}")
        for n, s in numbered
        if not isinstance(s.term, Presence)
    ]
    rows = exp.alias_(exp.Anonymous(this="count", expressions=[exp.Star()]), "n")
    partials = _grouped(
        _terms(terms, releases, with_unit=True), [exp.column("u"), *groups], [rows, *sums]
    )
    carried = [*([exp.column("u")] if isinstance(limited.limit, ByHash) else []), *groups]
    steps = [
        exp.alias_(in_steps(s, exp.column(f"s{n}")), f"s{n}")
        for n, s in numbered
        if not isinstance(s.term, Presence)
    ]
    scaled = [exp.alias_(_scaled_partial(s, n, limited), f"s{n}") for n, s in numbered]
    clamped = [exp.alias_(_clamped_partial(s, n, limited), f"s{n}") for n, s in numbered]
    counted = _from(partials, [*carried, exp.column("n"), *steps])
    kept = _limited_groups(
        _from(_from(counted, [*carried, *scaled]), [*carried, *clamped]), limited, names
    )
    totals = [
        exp.alias_(exp.Coalesce(this=total(exp.column(f"s{n}")), expressions=[integer(0)]), f"s{n}")
        for n, _ in numbered
    ]
    return _grouped(kept, groups, totals)


def _grouped(
    source: exp.Select, groups: Sequence[exp.Expr], sums: Sequence[exp.Expr]
) -> exp.Select:
    select = _from(source, [*groups, *sums])
    return select.group_by(*groups, copy=True) if groups else select


def _terms(terms: Terms, releases: Mapping[Release, str], *, with_unit: bool) -> exp.Select:
    """One row per row: unit, group columns, and each statistic's term before its clamp."""
    items: list[exp.Expr] = []
    own = unit(terms.source)
    if own is None:
        raise ValueError("a release has private rows below it")
    if with_unit:
        items.append(exp.alias_(reference(own), "u"))
    listed = {place for found in terms.domains for place in found.keys}
    unlisted = [key for place, key in enumerate(terms.keys) if place not in listed]
    names = iter(group_names(terms))
    items += [
        exp.alias_(exp.column("cell", table=f"d{place}"), next(names))
        for place in range(len(terms.domains))
    ]
    items += [exp.alias_(emit_expression(key.expression), next(names)) for key in unlisted]
    items += [
        exp.alias_(column, f"v{number}")
        for number, s in enumerate(terms.statistics)
        if (column := value(s)) is not None
    ]
    source = subquery(emit_plan(terms.source, releases), "t")
    select = exp.select(*(items or [exp.alias_(integer(1), "nothing")]), copy=False).from_(
        source, copy=False
    )
    for place, found in enumerate(terms.domains):
        nulls = any(value is None for cell in found.cells for value in cell)
        equal = exp.NullSafeEQ if nulls else exp.EQ
        select = select.join(
            exp.to_table(f"domain_{place}"),
            join_alias=f"d{place}",
            on=exp.and_(
                *(
                    equal(
                        this=emit_expression(terms.keys[key].expression),
                        expression=exp.column(f"k{number}", table=f"d{place}"),
                    )
                    for number, key in enumerate(found.keys)
                )
            ),
            copy=False,
        )
    carried = [*([exp.column("u")] if with_unit else []), *map(exp.column, group_names(terms))]
    steps = [
        exp.alias_(measured(s, exp.column(f"v{number}")), f"r{number}")
        for number, s in enumerate(terms.statistics)
        if value(s) is not None
    ]
    return _from(select, [*carried, *steps] or [exp.alias_(integer(1), "nothing")])


def _scaled_partial(statistic: Statistic, number: int, limited: LimitGroups) -> exp.Expr:
    """A unit's sum in a group, scaled down if it has too many rows there; `//` goes toward 0."""
    if isinstance(statistic.term, Presence):
        return integer(1)
    rows = rows_per_group(limited)
    total = exp.column(f"s{number}")
    scaled = exp.IntDiv(
        this=exp.Paren(this=exp.Mul(this=total.copy(), expression=integer(rows))),
        expression=exp.column("n"),
    )
    many = exp.GT(this=exp.column("n"), expression=integer(rows))
    return exp.case().when(many, scaled).else_(total)


def _clamped_partial(statistic: Statistic, number: int, limited: LimitGroups) -> exp.Expr:
    """A unit's sum in a group, within the very interval that its sensitivity is derived from."""
    bound = partial_bound(statistic, limited)
    if isinstance(statistic.term, Presence):
        return integer(bound)
    rows = rows_per_group(limited)
    low = max(-bound, min(0, rows * statistic.low))
    high = min(bound, max(0, rows * statistic.high))
    return within(exp.case(), exp.column(f"s{number}"), integer(low), integer(high))


def _limited_groups(clamped: exp.Select, limited: LimitGroups, names: list[str]) -> exp.Select:
    """Kept groups are a function of the unit's own groups and the salt, of nothing else."""
    match limited.limit:
        case ByDomain() | ByUnit():
            return clamped
        case ByHash(groups=groups):
            columns = [exp.column(name) for name in names]
            # Every unit keeps groups of its own choice, so that no group loses all its rows. A row
            # that is a unit has no name but its number, which other rows' being there decides.
            rows_are_units = has_row_units(limited.source.source.source.source)
            hashed = columns if rows_are_units else [exp.column("u"), *columns]
            order: list[exp.Expr] = [
                exp.Anonymous(
                    this="hash", expressions=[*hashed, exp.Parameter(this=exp.Literal.number("1"))]
                ),
                *columns,
            ]
            rank = exp.Window(
                this=exp.Anonymous(this="row_number", expressions=[]),
                partition_by=[exp.column("u")],
                order=exp.Order(
                    expressions=[exp.Ordered(this=o, nulls_first=False) for o in order]
                ),
            )
            return _from(clamped, [exp.Star()]).qualify(
                exp.LTE(this=rank, expression=integer(groups)), copy=False
            )
        case missing:
            assert_never(missing)


def _from(source: exp.Select, items: list[exp.Expr]) -> exp.Select:
    return exp.select(*items, copy=True).from_(subquery(source, "t"), copy=False)
