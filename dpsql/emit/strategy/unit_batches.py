"""Units in several parts, one after the other: each part's tables in memory are so much smaller.

Which part a unit is in depends on a hash of it and of the salt, so that all of its rows are in one.
A bounded release is a sum over units of integers that each of them has by itself: what is found of
the parts adds up to what is found at once, however many there are.

That isn't so of distinct values, of which several units may have the same. Nor are units that are
rows told apart by anything but numbers, which no engine promises to give again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, assert_never

from sqlglot import exp

from dpsql.analysis.lineage.lineage import has_row_units
from dpsql.emit.release.contribution import total
from dpsql.emit.release.contributions import select_from
from dpsql.emit.sql.function_call import cast
from dpsql.emit.sql.identifier import aliased, field, table
from dpsql.plan.bounded_release.bounded_release import (
    BoundedRelease,
    Bounding,
    CountFirst,
    Draw,
    Early,
    LimitGroups,
    OneRowPerUnit,
    Split,
    UnitByUnit,
)
from dpsql.plan.bounded_release.engine_query import FOUND
from dpsql.plan.bounded_release.statistic import (
    Amount,
    Deviations,
    Distinct,
    DistinctSum,
    Ones,
    Over,
    Presence,
    Present,
    Product,
    Square,
    Statistic,
)
from dpsql.plan.operator import Release
from dpsql.plan.traversal import operators

_SALT: Final = 1
_FIRST: Final = 2
_LAST: Final = 3
"""The places of parameters."""


def goes_in_parts(bounded: BoundedRelease) -> bool:
    """Whether it can be found part by part, and takes memory that this would save."""
    match bounded.limited:
        case OneRowPerUnit():
            return False
        case LimitGroups(terms=terms):
            # If nothing but listed keys is asked for, no private row is read.
            return (
                bool(terms.statistics or terms.selections)
                and _waits(bounded.bounding)
                and all(map(_adds_up, terms.statistics))
                and not has_row_units(terms.source)
                # Released tables are small, and the statement that names them is emitted already.
                and not any(isinstance(each, Release) for each in operators(terms.source))
            )
        case missing:
            assert_never(missing)


def one_part(rows: exp.Select) -> exp.Select:
    """Those of `rows` whose unit is in the part that the parameters name."""
    hashed = exp.Anonymous(this="hash", expressions=[field("u"), _parameter(_SALT)])
    # Compared as it is: of a remainder, the engine would expect hardly any rows to have it.
    low, high = (cast(_parameter(place), "UBIGINT") for place in (_FIRST, _LAST))
    return select_from(rows, [exp.Star()]).where(
        exp.Between(this=hashed, low=low, high=high), copy=False
    )


def summed_parts(by: Sequence[str], sums: Sequence[str]) -> exp.Select:
    """The `sums` of what was FOUND of the parts."""
    items = [*map(field, by), *(aliased(total(field(name)), name) for name in sums)]
    select = exp.select(*items, copy=False).from_(table(FOUND), copy=False)
    return select.group_by(*map(field, by), copy=False) if by else select


def _adds_up(statistic: Statistic) -> bool:
    """It is a sum over units, of what each of them has by itself."""
    match statistic.term:
        case Ones() | Present() | Amount() | Square() | Product() | Presence() | Over():
            return True
        case Distinct() | DistinctSum() | Deviations():
            return False
        case missing:
            assert_never(missing)


def _waits(bounding: Bounding) -> bool:
    """Most rows, or sums of them, wait in memory for others of their unit."""
    match bounding:
        case UnitByUnit() | Draw():
            return True
        case Split() | Early() | CountFirst():
            return False
        case missing:
            assert_never(missing)


def _parameter(place: int) -> exp.Parameter:
    return exp.Parameter(this=exp.Literal.number(place))
