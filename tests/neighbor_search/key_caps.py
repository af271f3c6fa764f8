"""Caps by key on the sums of a statement: some of each of its first key's values, in turn."""

from __future__ import annotations

from fractions import Fraction
from itertools import cycle

from notes.compiler import prepared

from dpsql.bounding.options import ContributionLimits, KeyCaps, SumCap
from dpsql.plan.aggregate import AggregateFunction
from dpsql.plan.bounded_release.bounded_release import KeyDomain


def key_caps(
    sql: str, schema: str, caps: tuple[Fraction, ...], rows: int | None = None
) -> ContributionLimits:
    """Limits where the values of the first key have these `caps`, and other ones the last."""
    one = ContributionLimits(unit_sum=max(caps))
    (release,) = prepared(sql, schema, frozenset(), None, one).releases
    key, *_ = release.release.keys
    bounded = release.step.bounded
    (values,) = (
        tuple(value for (value,) in cells)
        for cells in (d.cells for d in bounded.contributions.domains if _is_of_first(d))
    )
    each = KeyCaps(key.expression, tuple(zip(values, cycle(caps), strict=False)), caps[-1])
    sums = [
        a.call.arguments[0]
        for a in release.release.aggregates
        if a.call.function is AggregateFunction.SUM
    ]
    return ContributionLimits(rows=rows, sums=tuple(SumCap(s, max(caps), each) for s in sums))


def _is_of_first(domain: KeyDomain) -> bool:
    return domain.keys == (0,)
