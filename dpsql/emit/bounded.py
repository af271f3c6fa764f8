"""A bounded release as engine SQL: what was proved is what is emitted, number for number.

    SELECT g0, sum(s0) AS s0, …                          totals per group
    FROM (SELECT …, CASE … END AS s0 …                   partials scaled and clamped
          FROM (SELECT u, g0, count(*) AS n, sum(…) …    partials per (unit, group)
                FROM (SELECT …, TRY_CAST(…) AS r0 …      terms, keys joined to their domain
                      FROM source …)))
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import assert_never

from sqlglot import exp

from dpsql.emit.expression import (
    attempt,
    emit_expression,
    emit_literal,
    integer,
    is_nan,
    try_cast,
)
from dpsql.emit.name import reference, subquery
from dpsql.emit.relation import emit_plan
from dpsql.plan.bounded import (
    Amount,
    BoundedRelease,
    ByDomain,
    ByHash,
    ByUnit,
    LimitGroups,
    OneRowPerUnit,
    Ones,
    Presence,
    Present,
    Statistic,
    Terms,
)
from dpsql.plan.expression import Expression
from dpsql.plan.operator import Release
from dpsql.plan.query import DomainTable, EngineQuery
from dpsql.schema.type import BIGINT, HUGEINT, Decimal, Double, Integer
from dpsql.stability.lineage import unit
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
        exp.alias_(_total(_clamped_term(s, number)), f"s{number}")
        for number, s in enumerate(terms.statistics)
    ]
    select = _from(_terms(terms, releases, with_unit=False), [*groups, *sums])
    return select.group_by(*groups, copy=True) if groups else select


def _partial_totals(limited: LimitGroups, releases: Mapping[Release, str]) -> exp.Select:
    terms = limited.source.source.source
    names = group_names(terms)
    groups = [exp.column(name) for name in names]
    partials = _from(
        _terms(terms, releases, with_unit=True),
        [
            exp.column("u"),
            *groups,
            exp.alias_(exp.Anonymous(this="count", expressions=[exp.Star()]), "n"),
            *(
                exp.alias_(_total(_clamped_term(s, number)), f"s{number}")
                for number, s in enumerate(terms.statistics)
                if not isinstance(s.term, Presence)
            ),
        ],
    ).group_by(exp.column("u"), *groups, copy=True)
    carried = [*([exp.column("u")] if isinstance(limited.limit, ByHash) else []), *groups]
    scaled, clamped = (
        [
            exp.alias_(form(s, number, limited), f"s{number}")
            for number, s in enumerate(terms.statistics)
        ]
        for form in (_scaled_partial, _clamped_partial)
    )
    kept = _limited_groups(
        _from(_from(partials, [*carried, *scaled]), [*carried, *clamped]), limited, names
    )
    sums = [
        exp.alias_(_total(exp.column(f"s{number}")), f"s{number}")
        for number in range(len(terms.statistics))
    ]
    select = _from(kept, [*groups, *sums])
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
        exp.alias_(value, f"v{number}")
        for number, s in enumerate(terms.statistics)
        if (value := _value(s)) is not None
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
        exp.alias_(_in_steps(s, exp.column(f"v{number}")), f"r{number}")
        for number, s in enumerate(terms.statistics)
        if _value(s) is not None
    ]
    return _from(select, [*carried, *steps] or [exp.alias_(integer(1), "nothing")])


def _value(statistic: Statistic) -> exp.Expr | None:
    """What a row counts for, NULL where it counts for nothing; None if it needs no column."""
    match statistic.term:
        case Presence():
            return None
        case Ones():
            if statistic.filter is None:
                return None
            return exp.case().when(emit_expression(statistic.filter), integer(1))
        case Present(argument=argument):
            return exp.case().when(_only(statistic, _is_value(argument)), integer(1))
        case Amount(argument=argument):
            value = emit_expression(argument)
            if statistic.filter is None:
                return value
            return exp.case().when(emit_expression(statistic.filter), value)
        case missing:
            assert_never(missing)


def _only(statistic: Statistic, condition: exp.Expr) -> exp.Expr:
    if statistic.filter is None:
        return condition
    return exp.and_(emit_expression(statistic.filter), condition)


def _is_value(argument: Expression) -> exp.Expr:
    """Neither NULL nor NaN."""
    rendered = emit_expression(argument)
    present = exp.Not(this=exp.Is(this=rendered, expression=exp.null()))
    if isinstance(argument.type, Double):
        return exp.and_(present, exp.Not(this=is_nan(rendered.copy())))
    return present


def _in_steps(statistic: Statistic, value: exp.Expr) -> exp.Expr:
    """`value` as a number of steps, NULL where it has none; clamped once more as an integer."""
    if not isinstance(statistic.term, Amount):
        return value
    step, centre, kind = statistic.step, statistic.term.centre, statistic.term.argument.type
    low, high = ((bound + centre) * step for bound in (statistic.low, statistic.high))
    match kind:
        case Double():
            # Infinities and huge values can't be cast, so doubles are clamped as doubles first.
            ends = [emit_literal(bound, Double()) for bound in (low, high)]
            clamped = _within(exp.case().when(is_nan(value), exp.null()), value, *ends)
            return try_cast(_times(clamped, emit_literal(1 / step, Double())), BIGINT)
        case Decimal() if step <= 1:
            # A decimal beyond its bounds is clamped before the product could overflow.
            ends = [emit_literal(_held(bound, kind), kind) for bound in (low, high)]
            clamped = _within(exp.case(), value, *ends)
            if max(abs(low), abs(high)) * 10 ** (2 * kind.scale) >= 10**17:
                clamped = try_cast(clamped, Decimal(38, kind.scale))
            return try_cast(attempt(_times(clamped, integer(int(1 / step)))), BIGINT)
        case Integer() if step == 1:
            return try_cast(value, BIGINT)
        case _:
            # Coarser than one: truncation toward zero keeps a value within its bounds.
            whole = exp.IntDiv(this=try_cast(value, HUGEINT), expression=integer(int(step)))
            return try_cast(attempt(whole), BIGINT)


def _times(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.Mul(this=left, expression=right)


def _held(bound: Fraction, kind: Decimal) -> Fraction:
    """The nearest value that `kind` can hold: none of its values lies beyond its ends."""
    most = Fraction(10**kind.precision - 1, 10**kind.scale)
    return min(max(bound, -most), most)


def _within(case: exp.Case, value: exp.Expr, low: exp.Expr, high: exp.Expr) -> exp.Expr:
    """NULL stays NULL; CASE is cheaper than least and greatest, which ignore NULLs."""
    return (
        case.when(exp.LT(this=value.copy(), expression=low), low.copy(), copy=False)
        .when(exp.GT(this=value.copy(), expression=high), high.copy(), copy=False)
        .else_(value.copy(), copy=False)
    )


def _clamped_term(statistic: Statistic, number: int) -> exp.Expr:
    """The term within the very interval that its sensitivity is derived from."""
    raw = exp.column(f"r{number}")
    match statistic.term:
        case Presence():
            return integer(1)
        case Ones() if statistic.filter is None:
            return integer(1)
        case Ones() | Present():
            return raw
        case Amount(centre=centre):
            clamped = _between(raw, statistic.low + centre, statistic.high + centre)
            if centre == 0:
                return clamped
            return exp.Sub(this=exp.paren(clamped), expression=integer(centre))
        case missing:
            assert_never(missing)


def _scaled_partial(statistic: Statistic, number: int, limited: LimitGroups) -> exp.Expr:
    """A unit's sum in a group, scaled down if it has too many rows there; `//` goes toward 0."""
    if isinstance(statistic.term, Presence):
        return integer(1)
    rows = rows_per_group(limited)
    total = exp.column(f"s{number}")
    scaled = exp.IntDiv(
        this=exp.paren(exp.Mul(this=total.copy(), expression=integer(rows))),
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
    return _between(exp.column(f"s{number}"), low, high)


def _limited_groups(clamped: exp.Select, limited: LimitGroups, names: list[str]) -> exp.Select:
    """Kept groups are a function of the unit's own groups and the salt, of nothing else."""
    match limited.limit:
        case ByDomain() | ByUnit():
            return clamped
        case ByHash(groups=groups):
            columns = [exp.column(name) for name in names]
            order: list[exp.Expr] = [
                exp.Anonymous(this="hash", expressions=[*columns, exp.Parameter(this=exp.Literal.number("1"))]),
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


def _between(value: exp.Expr, low: int, high: int) -> exp.Expr:
    return _within(exp.case(), value, integer(low), integer(high))


def _total(term: exp.Expr) -> exp.Expr:
    """A sum of integers, 0 where there are none: exact in 128 bits, in any order."""
    summed = exp.Anonymous(this="sum", expressions=[term])
    return exp.Coalesce(this=summed, expressions=[integer(0)])


def _from(source: exp.Select, items: list[exp.Expr]) -> exp.Select:
    return exp.select(*items, copy=True).from_(subquery(source, "t"), copy=False)

