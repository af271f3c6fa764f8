"""Rows of the groups that each unit keeps, found before anything is summed.

| level  | one row per | columns                                                               |
| ------ | ----------- | --------------------------------------------------------------------- |
| placed | row         | u, groups, terms; p, the place of cell x in the unit's order h of all |
| units  | unit        | mu; m, the set of its places; whether no limit on rows can bind       |
| kept   | row         | u, groups, terms of rows in the first places of their unit            |

A unit of n rows in d groups has at most n - d + 1 of them in one group, since there is one in each
other; and if it keeps k of its groups, at most n - d + k rows in those. A row in no cell has no
place: it isn't counted, and no unit keeps it.
"""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from dpsql.analysis.sensitivity import rows_per_group
from dpsql.analysis.stability import limited_stability
from dpsql.emit.release.contributions import group_names, grouped, select_from, term_names
from dpsql.emit.release.group_limit import salted_hash
from dpsql.emit.sql.function_call import cast
from dpsql.emit.sql.identifier import column_ref, table, with_alias
from dpsql.emit.sql.literal import emit_literal, integer
from dpsql.plan.bounded_release.bounded_release import ChooseGroupsFirst, Contributions, LimitGroups
from dpsql.schema.sql_type import HUGEINT

_RANKED: Final = "placed"
_UNITS: Final = "units"
_HASHES: Final = 2**30
"""Of so many, about as many make one order of the cells as another; and they fit 32 bits."""


def with_chosen_groups(
    select: exp.Select, rows: exp.Select, limited: LimitGroups, plan: ChooseGroupsFirst
) -> exp.Select:
    """`select`, which reads what `chosen_group_rows` gives, after the tables that it is made of."""
    placed = _ranked(rows, limited, plan)
    return select.with_(_RANKED, as_=placed, materialized=True, copy=False).with_(
        _UNITS, as_=_units(limited), materialized=True, copy=False
    )


def chosen_group_rows(limited: LimitGroups, *, unlimited: bool) -> exp.Select:
    """The rows that units keep: of those that no limit on rows can bind, or of all others."""
    terms = limited.contributions
    # How many of the unit's groups have an earlier place.
    before = exp.Sub(
        this=_size(column_ref("m")),
        expression=_size(exp.BitwiseRightShift(this=column_ref("m"), expression=column_ref("p"))),
    )
    return (
        exp.select(*map(column_ref, ["u", *group_names(terms), *term_names(terms)]), copy=False)
        .from_(table(_RANKED), copy=False)
        .join(
            table(_UNITS), on=exp.EQ(this=column_ref("u"), expression=column_ref("mu")), copy=False
        )
        .where(
            exp.LT(this=before, expression=integer(_groups(limited))),
            column_ref("light") if unlimited else exp.Not(this=column_ref("light")),
            copy=False,
        )
    )


def rank_of_cell(ranks: int) -> exp.Expr:
    """The place of cell x in the order h: a·x + b, where a goes from 1 to `ranks` - 1."""
    factor = exp.Add(this=integer(1), expression=_modulo(column_ref("h"), ranks - 1))
    shift = exp.IntDiv(this=column_ref("h"), expression=integer(ranks - 1))
    product = exp.Mul(this=exp.Paren(this=factor), expression=column_ref("x"))
    return _modulo(exp.Paren(this=exp.Add(this=product, expression=shift)), ranks)


def _ranked(rows: exp.Select, limited: LimitGroups, plan: ChooseGroupsFirst) -> exp.Select:
    """Each row with the place of its group in the order that the unit's hash chooses."""
    terms = limited.contributions
    groups, others = group_names(terms), [column_ref(name) for name in ("u", *term_names(terms))]
    columns = [*others, *map(column_ref, groups)]
    bits = exp.BitwiseAnd(this=salted_hash(limited, []), expression=integer(_HASHES - 1))
    order = _modulo(cast(bits, "INTEGER"), plan.ranks * (plan.ranks - 1))
    numbered = [with_alias(order, "h"), with_alias(cast(_cell(terms), "INTEGER"), "x")]
    # There are fewer cells than places, which are fewer than a byte has: rows are kept in memory.
    narrow = {name: column_ref(name) for name in groups} | {"p": rank_of_cell(plan.ranks)}
    kept = [with_alias(cast(e, "UTINYINT"), name) for name, e in narrow.items()]
    return select_from(select_from(rows, [*columns, *numbered]), [*others, *kept])


def _units(limited: LimitGroups) -> exp.Select:
    """In which places each unit has rows, and whether they are few."""
    one = exp.BitwiseLeftShift(this=emit_literal(1, HUGEINT), expression=column_ref("p"))
    items = [
        with_alias(exp.Anonymous(this="count", expressions=[column_ref("p")]), "n"),
        with_alias(exp.Anonymous(this="bit_or", expressions=[one]), "m"),
    ]
    rows = exp.select(exp.Star(), copy=False).from_(table(_RANKED), copy=False)
    light = with_alias(exp.Paren(this=_is_unlimited(limited)), "light")
    return select_from(
        grouped(rows, [column_ref("u")], items),
        [with_alias(column_ref("u"), "mu"), column_ref("m"), light],
    )


def _is_unlimited(limited: LimitGroups) -> exp.Expr:
    """The unit can't have more rows in a group than count there, nor in all that it keeps."""
    beyond = exp.Sub(this=column_ref("n"), expression=cast(_size(column_ref("m")), "BIGINT"))
    in_one = exp.LT(this=beyond, expression=integer(rows_per_group(limited)))
    if limited.rows is None:
        return in_one
    kept = exp.Add(this=beyond.copy(), expression=integer(_groups(limited)))
    in_all = exp.or_(
        exp.LTE(this=column_ref("n"), expression=integer(limited.rows)),
        exp.LTE(this=kept, expression=integer(limited.rows)),
        copy=False,
    )
    return exp.and_(in_one, in_all, copy=False)


def _groups(limited: LimitGroups) -> int:
    """As many as the distance says that a unit is in."""
    return limited_stability(limited, 1).groups_per_unit


def _cell(contributions: Contributions) -> exp.Expr:
    """A number for each combination of the domains' cells, from 0 on."""
    found: exp.Expr = column_ref("g0")
    for place, domain in enumerate(contributions.domains[1:], 1):
        rows = exp.Mul(this=exp.Paren(this=found), expression=integer(len(domain.cells)))
        found = exp.Add(this=rows, expression=column_ref(f"g{place}"))
    return found


def _size(ranks: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="bit_count", expressions=[ranks])


def _modulo(number: exp.Expr, by: int) -> exp.Expr:
    return exp.Mod(this=number, expression=integer(by))
