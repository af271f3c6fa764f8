"""The neighbour search: every query that a note accepts is attacked with adversarial databases.

For a random database and each of its neighbours with one unit less, the rewritten SQL runs on
both; what changed must be within the derived sensitivity: exact integers, no tolerance. It finds
wrong rules; it proves nothing.
"""

from __future__ import annotations

import pytest
from grammar.compiler import prepared, schema_of
from grammar.notes import Claim, accepted
from grammar.observe import check
from grammar.public_rows import PUBLIC
from grammar.search import search

from dpsql.stability.lineage import unit_kind

pytestmark = pytest.mark.bounds

SALTS = ("1", "2")


@pytest.mark.parametrize("claim", accepted(), ids=lambda claim: claim.name)
@pytest.mark.parametrize("trusted", [False, True], ids=["keys break", "keys hold"])
def test_no_neighbour_changes_more_than_derived(claim: Claim, *, trusted: bool) -> None:
    schema = schema_of(claim.schema)
    private = frozenset(name for name in schema.tables if name not in PUBLIC[claim.schema])
    verified = private if trusted else claim.verified
    ready = prepared(claim.sql, claim.schema, verified)
    found = search(claim.schema, verified)
    for release in ready.releases:
        pairs = found.relevant(unit_kind(release.release.source) or "")
        assert pairs
        for salt in SALTS if release.step.query.salted else SALTS[:1]:
            seen = {
                world: found.totals(world, release, salt)
                for pair in pairs
                for world in (pair.full, pair.without)
            }
            for pair in pairs:
                before, after = seen[pair.full], seen[pair.without]
                check(before, after, release, f"{claim.sql}\nwithout {pair.unit} of {pair.rows}")
