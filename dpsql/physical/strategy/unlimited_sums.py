"""Sums of rows that no limit can bind: what can be done once for a group is not done for each row.

Rows that no clamp would change are summed apart, as they are. Of one unit some may be so and others
not, so that units are counted over all of them at once.

| level  | one row per       | columns                                                         |
| ------ | ----------------- | --------------------------------------------------------------- |
| rows   | row of the source | groups, and r0 … to clamp                                        |
| sums   | group             | sums s0 … of clamped values, m0 … of how many there are          |
| totals | group             | sums s0 … of integers: each value less the centre, all together  |

Where units have bits, sums have their strings beside them, and totals of both parts are summed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlglot import exp

from dpsql.emit.dialect.nodes import integer
from dpsql.emit.release.centered_sum import centered_steps, uncentered_sums
from dpsql.emit.release.contribution import number_of_rows
from dpsql.emit.release.contributions import (
    group_names,
    grouped,
    grouped_names,
    totals_by_cell,
)
from dpsql.emit.release.limited_sums import total_of
from dpsql.emit.sql.identifier import column_ref, union_all, with_alias
from dpsql.physical.cost import has_few_groups
from dpsql.physical.modifier.clamp_elimination import (
    NoClampCondition,
    are_in_range,
    are_out_of_range,
    unclamped_values,
)
from dpsql.physical.strategy.unit_bits import UnitBits, number_of_bits
from dpsql.plan.bounded_release.bounded_release import Contributions
from dpsql.plan.bounded_release.column_names import UNIT, UNIT_BITS, total_name
from dpsql.plan.bounded_release.statistic import CappedSum, UnitCount


def has_caps(contributions: Contributions) -> bool:
    """A cap binds a unit's sum however few its rows are: none is summed without regard to units."""
    return any(isinstance(s.term, CappedSum) for s in contributions.statistics)


def unlimited_totals(
    contributions: Contributions,
    rows: exp.Select,
    late: frozenset[int],
    condition: NoClampCondition | None = None,
    units: exp.Select | None = None,
    bits: UnitBits | None = None,
) -> exp.Select:
    """Groups with their totals, in integers of steps; distinct values are counted beside them.

    A group has a total of the rows that meet `condition`, and one of all others. Where `units` are
    the same rows with their units, one of its units as well, which the others have none of. Those
    with `bits` are counted by these, of rows that have their units, too, and by `units` all others.
    Raises ValueError where sums have caps, which would be enforced nowhere.
    """
    if has_caps(contributions):
        raise ValueError("caps are on the sums of units, which aren't told apart here")
    with_units = units is None
    if condition is not None and with_units and counts_units(contributions):
        raise ValueError("a unit may have rows in both parts, and would be counted in each")
    groups = [column_ref(name) for name in grouped_names(contributions, late)]
    strings = [] if bits is None else [bits.strings()]
    sums = [*_sums(contributions, {}, with_units=with_units), *strings]
    if condition is None:
        summed = grouped(rows, groups, sums)
    else:
        in_range = rows.copy().where(are_in_range(condition, contributions.statistics), copy=False)
        out_of_range = rows.where(are_out_of_range(condition, contributions.statistics), copy=False)
        values = unclamped_values(condition, contributions.statistics)
        unclamped = _sums(contributions, values, with_units=with_units)
        unclamped += [string.copy() for string in strings]
        arms = grouped(in_range, groups, unclamped), grouped(out_of_range, groups, sums)
        summed = union_all(exp.union(*arms, distinct=False, copy=False))
    few = has_few_groups(contributions)
    names = [item.alias for item in sums]
    totals = [
        integer(0)
        if isinstance(statistic.term, UnitCount) and not with_units
        else centered_steps(statistic, number, has_few_rows=few)
        if statistic.needs_sum
        else column_ref(total_name(number))
        for number, statistic in enumerate(contributions.statistics)
    ]
    numbered = enumerate(contributions.statistics)
    counts = (total_name(number) for number, s in numbered if s.is_row_count)
    more = [] if bits is None else [UNIT_BITS]
    of_rows = totals_of(
        summed, contributions, late, names, totals, counted=next(counts, None), more=more
    )
    if units is None:
        return of_rows
    if bits is not None:
        of_rows = _with_counted_bits(of_rows, contributions)
        units = units.where(bits.has_none(), copy=False)
    of_units = _unit_totals(contributions, units, late)
    both = exp.union(of_rows, of_units, distinct=False, copy=False)
    return union_all(both)


def counts_units(contributions: Contributions) -> bool:
    """Whether units are counted that no mark tells apart."""
    return any(isinstance(s.term, UnitCount) for s in contributions.statistics)


def _with_counted_bits(of_rows: exp.Select, contributions: Contributions) -> exp.Select:
    """The totals of each group, in which the units are those that have a bit in any of its rows."""
    groups = [column_ref(name) for name in group_names(contributions)]
    totals = [
        number_of_bits() if isinstance(s.term, UnitCount) else total_of(number)
        for number, s in enumerate(contributions.statistics)
    ]
    items = [with_alias(total, total_name(number)) for number, total in enumerate(totals)]
    return grouped(of_rows, groups, items)


def _unit_totals(
    contributions: Contributions, units: exp.Select, late: frozenset[int]
) -> exp.Select:
    """Groups with the number of their units, of which `units` have rows, and 0 for all else.

    Units of a group are grouped first, and then counted: COUNT(DISTINCT) beside sums takes longer.
    """
    groups = [column_ref(name) for name in grouped_names(contributions, late)]
    each = grouped(units, [column_ref(UNIT), *groups], [])
    numbered = list(enumerate(contributions.statistics))
    name = next(total_name(n) for n, s in numbered if isinstance(s.term, UnitCount))
    counted = grouped(each, groups, [with_alias(number_of_rows(), name)])
    totals = [
        column_ref(name) if isinstance(s.term, UnitCount) else integer(0) for _, s in numbered
    ]
    return totals_of(counted, contributions, late, [name], totals, counted=name)


def totals_of(
    summed: exp.Select,
    contributions: Contributions,
    late: frozenset[int],
    names: Sequence[str],
    totals: Iterable[exp.Expr],
    *,
    counted: str | None = None,
    more: Sequence[str] = (),
) -> exp.Select:
    """Groups with the statistics' `totals`, made of the columns of `summed` with these `names`.

    The one that is `counted`, if any, is the number of a group's rows. `more` columns of these are
    handed on.
    """
    items = [
        *map(column_ref, group_names(contributions)),
        *(with_alias(item, total_name(number)) for number, item in enumerate(totals)),
        *map(column_ref, more),
    ]
    return totals_by_cell(summed, contributions, late, names, items, counted=counted)


def _sums(
    contributions: Contributions,
    unclamped: Mapping[int, exp.Expr],
    *,
    with_units: bool,
) -> list[exp.Expr]:
    """What is summed over the rows of a group; its units only `with_units`.

    Of the statistics in `unclamped`, by index, these values.
    """
    items: dict[str, exp.Expr] = {}
    for number, statistic in enumerate(contributions.statistics):
        if statistic.is_row_count:
            items[total_name(number)] = number_of_rows()
        elif isinstance(statistic.term, UnitCount):
            if not with_units:
                continue
            # Of rows that come with their units: each counts once.
            units = exp.Distinct(expressions=[column_ref(UNIT)])
            items[total_name(number)] = exp.Count(this=units)
        else:
            items |= uncentered_sums(statistic, number, unclamped=unclamped.get(number))
    return [with_alias(item, name) for name, item in items.items()]
