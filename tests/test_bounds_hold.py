"""The neighbour search: every query that a note accepts is attacked with adversarial databases.

For a random database and each of its neighbours with one unit less, the rewritten SQL runs on
both; what changed must be within the derived sensitivity: exact integers, no tolerance. It finds
wrong rules; it proves nothing.
"""

from __future__ import annotations

import pytest
from grammar.compiler import prepared, schema_of
from grammar.notes import Claim, accepted, claims
from grammar.public_rows import PUBLIC
from grammar.search import WORLDS, attack, search

from dpsql.errors import Error

pytestmark = pytest.mark.bounds


FIRST = 2
"""All claims meet so many databases before any meets the others: most wrong rules fall soon."""


@pytest.mark.parametrize(
    "claim", [c for c in claims() if c.about == "refused"], ids=lambda claim: claim.name
)
def test_what_has_no_bound_is_refused(claim: Claim) -> None:
    with pytest.raises(Error):
        prepared(claim.sql, claim.schema, claim.verified)


@pytest.mark.parametrize("claim", accepted(), ids=lambda claim: claim.name)
@pytest.mark.parametrize("trusted", [False, True], ids=["keys break", "keys hold"])
@pytest.mark.parametrize("worlds", [range(FIRST), range(FIRST, WORLDS)], ids=["first", "others"])
def test_no_neighbour_changes_more_than_derived(
    claim: Claim, *, trusted: bool, worlds: range
) -> None:
    schema = schema_of(claim.schema)
    private = frozenset(name for name in schema.tables if name not in PUBLIC[claim.schema])
    verified = private if trusted else claim.verified
    ready = prepared(claim.sql, claim.schema, verified)
    attack(ready, search(claim.schema, verified).of(worlds), claim.sql)
