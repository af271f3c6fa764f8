"""Statements whose sums have caps, for servers, and the integers that DuckDB has of them."""

from __future__ import annotations

from fractions import Fraction

from differential.world import generated
from neighbor_search.key_caps import key_caps
from notes.exact import exact_table, raw_groups

from dpsql.audit.databases.database_batch import Groups
from dpsql.bounding.options import ContributionLimits
from dpsql.plan.bounded_release.statistic import CappedSum
from dpsql.session.compile.compiled_release import CompiledRelease

Caps = Fraction | tuple[Fraction, ...]

CAPPED: dict[str, tuple[str, Caps]] = {
    "decimals": ("SELECT ward, sum(cost), count(*) FROM visits GROUP BY ward", Fraction(900)),
    "both signs": ("SELECT kind, sum(score), sum(-score) FROM tests GROUP BY kind", Fraction(3)),
    "doubles": ("SELECT sum(weight * 3), sum(age) FROM patients", Fraction(45, 2)),
    "no bounds": ("SELECT sum(visit_id), sum(visit_id * cost) FROM visits", Fraction(7)),
    "a condition": ("SELECT sum(cost) FILTER (WHERE ward = 'ER') FROM visits", Fraction(5, 2)),
    "a join": (
        "SELECT sex, sum(cost) FROM visits JOIN patients USING (patient_id) GROUP BY sex",
        Fraction(1200),
    ),
    "decimals by key": (
        "SELECT ward, sum(cost), count(*) FROM visits GROUP BY ward",
        (Fraction(900), Fraction(5, 2), Fraction(70)),
    ),
    "both signs by key": (
        "SELECT kind, sum(score), sum(-score) FROM tests GROUP BY kind",
        (Fraction(7), Fraction(2)),
    ),
    "doubles by key": (
        "SELECT insured, sum(weight) FROM patients GROUP BY insured",
        (Fraction(90), Fraction(5, 4), Fraction(17)),
    ),
    "no bounds by key": (
        "SELECT ward, sum(visit_id) FROM visits GROUP BY ward",
        (Fraction(90), Fraction(7)),
    ),
}

ROWS = (None, 3)
"""Rows in all of a unit's groups: as declared, or fewer."""


def limits_of(sql: str, caps: Caps, rows: int | None) -> ContributionLimits:
    """A cap on all sums of `sql`, or some by key, and few rows in all groups."""
    if isinstance(caps, Fraction):
        return ContributionLimits(unit_sum=caps, rows=rows)
    return key_caps(sql, "clinic", caps, rows)


def are_capped(release: CompiledRelease) -> bool:
    """Whether any sum of `release` has a cap."""
    return any(isinstance(s.term, CappedSum) for s in release.step.bounded.contributions.statistics)


def in_duckdb(release: CompiledRelease) -> Groups:
    """The integers by group of a database without values that only some engines have."""
    own = generated("clinic")
    exact_table(own.connection, release, {})
    count = len(release.step.bounded.contributions.statistics)
    rows = [
        tuple(row.values()) for row in raw_groups(own.connection, release, "1").totals.to_pylist()
    ]
    return {row[:-count]: tuple(map(int, row[-count:])) for row in rows}
