"""The neighbour search: every query that a note accepts is attacked with adversarial databases.

For a random database and each of its neighbours with one unit less, the rewritten SQL runs on
both; what changed must be within the derived sensitivity: exact integers, no tolerance. It finds
wrong rules; it proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import pytest
from neighbor_search.public_rows import PUBLIC
from neighbor_search.search import WORLDS, attack, search
from neighbor_search.share import in_both_ways, in_turn, is_tried
from notes.blocks import Claim, answered, claims
from notes.compiler import prepared, schema_of

from dpsql.bounding.options import AS_DECLARED, ContributionLimits
from dpsql.errors import Error, Refused
from dpsql.privacy.distance import NeighborDistance
from dpsql.privacy.over_groups import OverGroups
from dpsql.session.compile.compiled import CompiledStatement

pytestmark = pytest.mark.bounds


FIRST = 2
"""All claims meet so many databases in every run, with keys that hold or, the next time, break."""

SHARE = 31
"""One in so many claims meets the other databases, and one few rows, in every run."""


@pytest.mark.parametrize(
    "claim", [c for c in claims() if c.about == "refused"], ids=lambda claim: claim.name
)
def test_what_has_no_bound_is_refused(claim: Claim) -> None:
    with pytest.raises(Error):
        prepared(claim.sql, claim.schema, claim.verified)


@pytest.mark.parametrize(("claim", "trusted"), in_both_ways(answered(), 2))
def test_no_neighbour_changes_more_than_derived(claim: Claim, *, trusted: bool) -> None:
    _attack(claim, range(FIRST), trusted=trusted)


@pytest.mark.parametrize(
    ("claim", "trusted"),
    in_turn(
        (
            (f"{claim.name}-keys {'hold' if trusted else 'break'}", (claim, trusted))
            for claim in answered()
            for trusted in (False, True)
        ),
        SHARE,
    ),
)
def test_no_neighbour_in_other_databases_changes_more(claim: Claim, *, trusted: bool) -> None:
    _attack(claim, range(FIRST, WORLDS), trusted=trusted)


def _attack(claim: Claim, worlds: range, *, trusted: bool) -> None:
    schema = schema_of(claim.schema)
    private = frozenset(name for name in schema.tables if name not in PUBLIC[claim.schema])
    verified = private if trusted else claim.verified
    ready = prepared(claim.sql, claim.schema, verified)
    attack(ready, search(claim.schema, verified).of(worlds), claim.sql)


RELATIONS = [NeighborDistance(units, replaced) for units in (1, 2, 3) for replaced in (False, True)]

RELATION_SHARE = 36
"""One in so many claims is tried under each further relation, another one under each."""

FEATURES = {
    "alert",
    "over_groups",
    "column_types",
    "gdp",
    "grouping_sets",
    "local_noise",
    "neighbour_relations",
    "options",
    "order_limit",
    "private_selection",
    "public_rows",
    "qualified_names",
    "randomized_response",
    "releases",
    "dashboard",
    "synopsis",
    "views",
    "weighted_majority",
}
"""Notes whose claims are tried under both relations, removed units and replaced ones: in a run one
in `FEATURE_SHARE`."""

FEATURE_SHARE = 6


REFUSALS = {
    *(claim.expected.partition("\n")[0] for claim in claims() if claim.about == "refused"),
    "0A000: a dashboard's sums have no cap on what a unit's values sum to",
}
"""As notes have them, and what they can't have, since it is refused after SET."""


def _ready(
    claim: Claim, apart: NeighborDistance | None, limits: ContributionLimits = AS_DECLARED
) -> CompiledStatement | None:
    """The statement of a claim under another relation or tighter limits; None if it is refused."""
    try:
        return prepared(claim.sql, claim.schema, claim.verified, apart, limits)
    except Refused as refused:
        assert f"{refused.sqlstate}: {refused.message}" in REFUSALS  # noqa: PT017 - or it is answered
        return None


def _attack_under(claim: Claim, limits: ContributionLimits, apart: NeighborDistance | None) -> None:
    ready = _ready(claim, apart, limits)
    if ready is not None:
        found = search(claim.schema, claim.verified, 0 if apart is None else 1, apart)
        attack(ready, found.of(range(FIRST)), claim.sql)


def further(claim: Claim, turn: int) -> Iterator[tuple[NeighborDistance, bool]]:
    """The relations but that of its fixture, and whether this run tries each."""
    own = schema_of(claim.schema).neighbor_distance
    for place, apart in enumerate(RELATIONS):
        if apart != own:
            other = claim.note.stem in FEATURES and apart == NeighborDistance(
                own.units, not own.is_replacement
            )
            yield apart, is_tried(turn + place, FEATURE_SHARE if other else RELATION_SHARE)


@pytest.mark.parametrize(
    ("claim", "apart"),
    [
        pytest.param(
            claim,
            apart,
            id=f"{claim.name} {apart.units}{' replaced' * apart.is_replacement}",
            marks=[] if always else [pytest.mark.in_turn],
        )
        for turn, claim in enumerate(answered())
        for apart, always in further(claim, turn)
    ],
)
def test_units_that_are_replaced_and_groups_of_them_change_no_more_than_derived(
    claim: Claim, apart: NeighborDistance
) -> None:
    # What needs a public number of rows is refused where rows are removed, as a note says.
    ready = _ready(claim, apart)
    if ready is not None:
        attack(ready, search(claim.schema, claim.verified, 1, apart, FIRST), claim.sql)


FEW_ROWS = [ContributionLimits(rows=2), ContributionLimits(rows_per_group=2, rows=3)]
"""Rows in all of a unit's groups are fewer than its groups could hold: one group's, or two's."""


CAPPED = [
    ContributionLimits(unit_sum=Fraction(5, 2)),
    ContributionLimits(rows_per_group=2, rows=3, unit_sum=Fraction(7)),
    ContributionLimits(unit_sum=Fraction(1700)),
    ContributionLimits(rows_per_group=2, rows=3, unit_sum=Fraction(900)),
]
"""Caps on sums of small values and of large ones, beside few rows in all groups."""


def under(
    tightened: list[ContributionLimits],
) -> list[tuple[Claim, ContributionLimits, NeighborDistance | None]]:
    """Each claim with one of these; one in three under another relation than its schema's."""
    found = [
        (
            claim,
            tightened[turn % len(tightened)],
            None if turn % 3 else RELATIONS[turn // 3 % len(RELATIONS)],
        )
        for turn, claim in enumerate(answered())
    ]
    return [
        (c, s, a)
        for c, s, a in found
        if a is None or not schema_of(c.schema).neighbor_distance.is_replacement
    ]


@pytest.mark.parametrize(
    ("claim", "limits", "apart"),
    in_turn(((case[0].name, case) for case in under(FEW_ROWS)), SHARE),
)
def test_few_rows_in_all_groups_change_no_more_than_derived(
    claim: Claim, limits: ContributionLimits, apart: NeighborDistance | None
) -> None:
    _attack_under(claim, limits, apart)


@pytest.mark.parametrize(
    ("claim", "limits", "apart"),
    in_turn(
        ((case[0].name, case) for case in under(CAPPED) if "sum(" in case[0].sql.lower()), SHARE
    ),
)
def test_sums_with_a_cap_change_no_more_than_derived(
    claim: Claim, limits: ContributionLimits, apart: NeighborDistance | None
) -> None:
    _attack_under(claim, limits, apart)


SCALED = [
    ContributionLimits(groups=1, rows=1, over_groups=OverGroups.SCALE),
    ContributionLimits(groups=2, rows_per_group=1, over_groups=OverGroups.SCALE),
    ContributionLimits(groups=3, rows_per_group=2, rows=3, over_groups=OverGroups.SCALE),
    ContributionLimits(groups=2, rows_per_group=2, over_groups=OverGroups.SCALE, norm_order=1),
    ContributionLimits(groups=1, rows=1, over_groups=OverGroups.SCALE, norm_order=1),
    ContributionLimits(
        groups=2, rows_per_group=2, unit_sum=Fraction(5, 2), over_groups=OverGroups.SCALE
    ),
]
"""Units in more groups are scaled, where a release lets them be; elsewhere groups are drawn."""


def scaled() -> Iterator[tuple[Claim, ContributionLimits, NeighborDistance | None]]:
    """Each claim with one of SCALED; half of them under another relation than its schema's."""
    for turn, claim in enumerate(answered()):
        apart = RELATIONS[turn // 2 % len(RELATIONS)] if turn % 2 else None
        if apart is not None or not schema_of(claim.schema).neighbor_distance.is_replacement:
            yield claim, SCALED[turn % len(SCALED)], apart


@pytest.mark.parametrize(
    ("claim", "limits", "apart"),
    in_turn(((case[0].name, case) for case in scaled()), SHARE),
)
def test_units_that_are_scaled_change_no_more_than_derived(
    claim: Claim, limits: ContributionLimits, apart: NeighborDistance | None
) -> None:
    _attack_under(claim, limits, apart)
