"""The same rows, stored otherwise, give the same integers: for every query that a note accepts."""

from __future__ import annotations

import pytest
from neighbor_search import storages
from neighbor_search.bags import bags, check
from neighbor_search.public_rows import PUBLIC
from neighbor_search.share import in_both_ways
from notes.blocks import Claim, answered
from notes.compiler import prepared, schema_of

pytestmark = pytest.mark.bounds

DATABASES = 3


@pytest.mark.parametrize(("claim", "trusted"), in_both_ways(answered(), 7))
def test_integers_follow_from_the_bag_of_rows(claim: Claim, *, trusted: bool) -> None:
    schema = schema_of(claim.schema)
    private = frozenset(name for name in schema.tables if name not in PUBLIC[claim.schema])
    verified = private if trusted else claim.verified
    found = bags(claim.schema, verified, 0, DATABASES)
    check(prepared(claim.sql, claim.schema, verified), found, claim.sql)


@pytest.mark.slow
@pytest.mark.parametrize("claim", answered(), ids=lambda claim: claim.name)
@pytest.mark.parametrize("trusted", [False, True], ids=["keys break", "keys hold"])
def test_integers_dont_depend_on_storage(
    claim: Claim, tmp_path_factory: pytest.TempPathFactory, *, trusted: bool
) -> None:
    """Orders, row groups, files and 1 to 8 threads, over 300,000 rows."""
    private = frozenset(schema_of(claim.schema).tables) - frozenset(PUBLIC[claim.schema])
    verified = private if trusted else frozenset()
    ready = prepared(claim.sql, claim.schema, verified)
    folder = tmp_path_factory.getbasetemp() / f"storages {trusted}"
    storages.check(ready, storages.stored(claim.schema, storages.Bag(trusted), folder), claim.sql)
