"""A bounded release as engine SQL: what was proved is what is emitted, number for number.

| level    | one row per        | columns                                            |
| -------- | ------------------ | -------------------------------------------------- |
| terms    | row of the source  | unit u, groups g0 …, values v0 …, then r0 … to clamp |
| partials | unit and group     | rows n, sums s0 … of clamped terms; keys become cells |
| scaled   | the same           | sums as integers, scaled down where n is too large  |
| clamped  | the same           | sums within their intervals; then groups, and rows in all |
| totals   | group              | sums s0 … of integers, and what distinct values make |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import assert_never

from sqlglot import exp

from dpsql.analysis.sensitivity import partial_bound, partial_interval, rows_per_group
from dpsql.emit.release.centered_sum import centred_steps, uncentred_sums
from dpsql.emit.release.contribution import clamped_to, number_of_rows, total
from dpsql.emit.release.contributions import (
    emit_terms,
    group_names,
    grouped,
    grouped_names,
    in_late_domains,
    late_domains,
    select_from,
)
from dpsql.emit.release.distinct_count import with_distinct
from dpsql.emit.release.group_limit import limited_groups
from dpsql.emit.release.histogram import histogram
from dpsql.emit.release.total_row_limit import WEIGHT, counted_rows, limited_rows, weight_of
from dpsql.emit.sql.function_call import narrowed
from dpsql.emit.sql.identifier import aliased, all_of, field
from dpsql.emit.sql.literal import integer
from dpsql.emit.sql.render import rendered
from dpsql.emit.strategy.aggregate_below_join import early_partials
from dpsql.emit.strategy.choose_groups_first import drawn_rows, with_drawn
from dpsql.emit.strategy.clamp_elimination import asked_columns
from dpsql.emit.strategy.count_units_first import rows_of_units, with_counted
from dpsql.emit.strategy.one_row_per_unit import row_totals
from dpsql.emit.strategy.stored_unit_sums import unit_sums
from dpsql.emit.strategy.unit_batches import goes_in_parts, one_part, summed_parts
from dpsql.emit.strategy.unlimited_sums import light_totals
from dpsql.plan.bounded_release.bounded_release import (
    BoundedRelease,
    Bounding,
    ByHash,
    CountFirst,
    Draw,
    Early,
    LightRows,
    Limited,
    LimitGroups,
    OneRowPerUnit,
    Split,
    Terms,
    UnitByUnit,
    UnitSums,
)
from dpsql.plan.bounded_release.engine_query import DomainTable, EngineQuery, Histogram
from dpsql.plan.bounded_release.statistic import Over, Statistic
from dpsql.plan.operator import Release


def emit_release(
    bounded: BoundedRelease, releases: Mapping[Release, str], *, in_parts: bool = False
) -> EngineQuery:
    """The statement whose integers `bounded` adds noise to, and those whose cells it chooses by.

    If it `goes_in_parts`, they may be of one part of the units each time; else ValueError.
    """
    if in_parts and not goes_in_parts(bounded):
        raise ValueError("what isn't told apart by units would be found in each part")
    terms = bounded.terms
    domains = tuple(
        DomainTable(
            f"domain_{place}",
            tuple(terms.keys[key].expression.type for key in found.keys),
            found.cells,
        )
        for place, found in enumerate(terms.domains)
    )
    part = one_part if in_parts else _all_units
    limited, late = bounded.limited, late_domains(terms)
    with_unit = isinstance(limited, LimitGroups)
    match limited:
        case OneRowPerUnit():
            rows = emit_terms(terms, releases, with_unit=False, late=late)
            select = row_totals(terms, rows, late)
        case LimitGroups():
            select = _limited_totals(limited, bounded.bounding, releases, late, part)
            if any(s.is_of_values for s in terms.statistics):
                rows = emit_terms(terms, releases, with_unit=True)
                select = with_distinct(select, limited, rows)
        case missing:
            assert_never(missing)
    totals, cells = _summed(terms) if in_parts else (None, None)
    counted = [
        histogram(limited, part(emit_terms(terms, releases, with_unit=with_unit)), number)
        for number in range(len(terms.selections))
    ]
    return EngineQuery(
        rendered(select),
        domains,
        in_parts or _is_salted(limited),
        tuple(Histogram(rendered(h), with_unit, cells) for h in counted),
        totals,
    )


def _limited_totals(
    limited: LimitGroups,
    bounding: Bounding,
    releases: Mapping[Release, str],
    late: frozenset[int],
    part: Callable[[exp.Select], exp.Select],
) -> exp.Select:
    """The least work that gives the same integers: what to do first, the planner found."""
    terms = limited.terms
    match bounding:
        case UnitByUnit():
            rows = part(emit_terms(terms, releases, with_unit=True, late=late))
            return _partial_totals(limited, _partials(terms, rows, late), late, None)
        case Early():
            partials = early_partials(terms, bounding, releases, late, _unit_sums(terms))
            return _partial_totals(limited, partials, late, None)
        case Split(rest=heavy):
            light = _light(bounding, releases, late)
            rest = _partials(heavy, emit_terms(heavy, releases, with_unit=True, late=late), late)
            return _partial_totals(limited, rest, late, light)
        case CountFirst():
            rows = emit_terms(terms, releases, with_unit=True, late=late)
            light = light_totals(terms, rows_of_units(light=True), late)
            rest = _partials(terms, rows_of_units(light=False), late)
            return with_counted(_partial_totals(limited, rest, late, light), rows, bounding)
        case Draw():
            # DuckDB takes few of the rows to be in cells, and would keep those in memory for a
            # join with their units.
            rows = part(emit_terms(terms, releases, with_unit=True, in_cells=False))
            light = light_totals(terms, drawn_rows(limited, light=True), frozenset())
            rest = _partials(terms, drawn_rows(limited, light=False), frozenset())
            totals = _partial_totals(limited, rest, frozenset(), light, drawn=True)
            return with_drawn(totals, rows, limited, bounding)
        case missing:
            assert_never(missing)


def _all_units(rows: exp.Select) -> exp.Select:
    return rows


def _summed(terms: Terms) -> tuple[str, str]:
    """What sums totals of parts, and what sums their counts of cells."""
    names, sums = group_names(terms), [f"s{number}" for number in range(len(terms.statistics))]
    return rendered(summed_parts(names, sums)), rendered(summed_parts([*names, "p"], ["n"]))


def _light(split: Split, releases: Mapping[Release, str], late: frozenset[int]) -> exp.Select:
    match split.light:
        case UnitSums() as stored:
            return unit_sums(stored, releases, late)
        case LightRows(terms=terms, within=asked):
            handed = () if asked is None else asked_columns(asked, terms.statistics)
            rows = emit_terms(terms, releases, with_unit=False, late=late, handed=handed)
            return light_totals(terms, rows, late, asked)
        case missing:
            assert_never(missing)


def _partials(terms: Terms, rows: exp.Select, late: frozenset[int]) -> exp.Select:
    """Each unit's sums in each group."""
    by = [field(name) for name in ("u", *grouped_names(terms, late))]
    return grouped(rows, by, [aliased(item, name) for name, item in _unit_sums(terms).items()])


def _unit_sums(terms: Terms) -> dict[str, exp.Expr]:
    """What is summed over a unit's rows in a group: how many they are, and their terms."""
    sums: dict[str, exp.Expr] = {"n": number_of_rows()}
    for place, statistic in enumerate(terms.statistics):
        if statistic.is_summed:
            sums |= uncentred_sums(statistic, place)
    return sums


def _partial_totals(
    limited: LimitGroups,
    sums: exp.Select,
    late: frozenset[int],
    light: exp.Select | None,
    *,
    drawn: bool = False,
) -> exp.Select:
    """Each unit's sums in each group, limited, and then summed: with those of `light` rows.

    Where its groups are `drawn`, there are no others.
    """
    terms = limited.terms
    names = group_names(terms)
    groups = [field(name) for name in names]
    numbered = list(enumerate(terms.statistics))
    summed = [n for n, s in numbered if s.is_summed]
    in_all = limited.rows
    owned = ["u"] if isinstance(limited.limit, ByHash) or in_all is not None else []
    keyed = {"u", *grouped_names(terms, late)}
    columns = [name for name in sums.named_selects if name not in keyed]
    partials = in_late_domains(sums, terms, late, [*owned, *columns])
    carried = [*map(field, owned), *groups]
    steps = [aliased(centred_steps(terms.statistics[n], n), f"s{n}") for n in summed]
    scaled = [aliased(_scaled_partial(s, n, limited), f"s{n}") for n, s in numbered]
    clamped = [aliased(_clamped_partial(s, n, limited), f"s{n}") for n, s in numbered]
    counted = select_from(partials, [*carried, field("n"), *steps])
    weighed = in_all is not None and weight_of(terms.statistics) == WEIGHT
    weights = [aliased(counted_rows(rows_per_group(limited)), WEIGHT)] if weighed else []
    bounded = select_from(
        select_from(counted, [*carried, *weights, *scaled]),
        [*carried, *(field(item.alias) for item in weights), *clamped],
    )
    kept = bounded if drawn else limited_groups(bounded, limited, names)
    if in_all is not None:
        kept = limited_rows(kept, names, terms.statistics, in_all)
    if light is not None:
        shown = [*groups, *(field(f"s{n}") for n, _ in numbered)]
        kept = all_of(exp.union(select_from(kept, shown), light, distinct=False, copy=False))
    totals = [
        aliased(exp.Coalesce(this=total(field(f"s{n}")), expressions=[integer(0)]), f"s{n}")
        for n, _ in numbered
    ]
    return grouped(kept, groups, totals)


def _scaled_partial(statistic: Statistic, number: int, limited: LimitGroups) -> exp.Expr:
    """A unit's sum in a group, scaled down if it has too many rows there; `//` goes toward 0."""
    rows = rows_per_group(limited)
    if isinstance(statistic.term, Over):
        many = exp.GT(this=field("n"), expression=integer(rows))
        return exp.case().when(many, integer(1), copy=False).else_(integer(0), copy=False)
    if not statistic.is_of_rows:
        return integer(1)
    if statistic.counts_every_row:
        return counted_rows(rows)
    total = field(f"s{number}")
    scaled = exp.IntDiv(
        this=exp.Paren(this=exp.Mul(this=total.copy(), expression=integer(rows))),
        expression=field("n"),
    )
    many = exp.GT(this=field("n"), expression=integer(rows))
    return exp.case().when(many, scaled, copy=False).else_(total, copy=False)


def _clamped_partial(statistic: Statistic, number: int, limited: LimitGroups) -> exp.Expr:
    """A unit's sum in a group, within the very interval that its sensitivity is derived from."""
    bound = partial_bound(statistic, limited)
    if isinstance(statistic.term, Over) or statistic.counts_every_row:
        return field(f"s{number}")  # scaling left no more
    if not statistic.is_of_rows:
        return integer(bound)
    low, high = partial_interval(statistic, limited)
    clamped = clamped_to(exp.case(), field(f"s{number}"), integer(low), integer(high))
    return narrowed(clamped, low, high)


def _is_salted(limited: Limited) -> bool:
    """Groups, or values in them, are chosen by a hash."""
    match limited:
        case OneRowPerUnit():
            return False
        case LimitGroups(limit=limit, terms=terms):
            return isinstance(limit, ByHash) or any(s.is_of_values for s in terms.statistics)
        case missing:
            assert_never(missing)
