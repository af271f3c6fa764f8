"""The notes' statements over what is stored on PostgreSQL: the same integers, the same bounds.

Wide and narrow limits are tried: groups are chosen by a hash of unit and group, which doesn't
depend on where the rows are read, so that the integers are equal under both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import chain, permutations, product

import pytest
from differential import world
from differential.exact_answer import prepared as prepared_over
from emit import postgres_server
from emit.postgres_sidecar import over_sidecar, store
from neighbor_search.public_rows import PUBLIC, public_connection
from neighbor_search.search import SALTS, Search, search
from neighbor_search.share import in_turn
from neighbor_search.sidecar import LIMITS
from notes.blocks import Claim, accepted
from notes.compiler import prepared, schema_of

from dpsql.analysis.lineage.lineage import unit_kind
from dpsql.audit.databases.database_batch import Groups
from dpsql.audit.databases.public_facts import WorldFacts
from dpsql.audit.sensitivity.bound_check import cell_violations, violations
from dpsql.bounding.options import AS_DECLARED, ContributionLimits
from dpsql.errors import Error
from dpsql.physical.push_down import push_down
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.preparing.server_sidecar import POSTGRES, preparable_tables


def private(schema: str) -> frozenset[str]:
    return frozenset(schema_of(schema).tables) - frozenset(PUBLIC[schema])


def statement(claim: Claim, limits: ContributionLimits) -> CompiledStatement | None:
    """The claim's statement where all declared keys hold; None if it is refused then."""
    try:
        return prepared(claim.sql, claim.schema, private(claim.schema), limits=limits)
    except Error:
        return None


def facts_of(schema: str) -> WorldFacts:
    return WorldFacts(schema_of(schema), public_connection(schema), private(schema))


@cache
def candidates() -> tuple[Claim, ...]:
    """The notes' statements that name a table which can be prepared."""
    names = {
        schema: [
            table.name
            for table, _ in preparable_tables(schema_of(schema), private(schema), POSTGRES)
        ]
        for schema in {claim.schema for claim in accepted()}
    }
    return tuple(c for c in accepted() if any(name in c.sql for name in names[c.schema]))


@pytest.mark.in_turn
def test_most_statements_are_computed_over_stored_rows() -> None:
    """Those that aren't are computed in DuckDB, whose functions PostgreSQL lacks."""
    there = 0
    for claim in candidates():
        ready = statement(claim, AS_DECLARED)
        of = schema_of(claim.schema), facts_of(claim.schema), private(claim.schema)
        there += bool(ready and any(over_sidecar(release, *of) for release in ready.releases))
    assert there >= 45


@cache
def _clean(schema: str) -> str:
    name = f"clean prepared {schema}"
    own = world.generated(schema)
    postgres_server.create_like(name, own.schema, own.connection)
    store(name, own.schema, own.facts.trusted)
    return name


CLEAN = frozenset({"clinic", "parcels", "works"})
"""The fixtures with clean rows of which some are prepared."""


@pytest.mark.parametrize(
    "claim",
    in_turn(((c.name, (c,)) for c in candidates() if c.schema in CLEAN), share=11),
)
def test_integers_of_stored_rows_are_those_of_the_tables(claim: Claim) -> None:
    own = world.generated(claim.schema)
    try:
        ready = prepared_over(claim.sql, own)
    except Error:
        return  # refused of other rows
    for release in ready.releases:
        count, name = len(release.step.bounded.contributions.statistics), _clean(claim.schema)
        for query in over_sidecar(release, own.schema, own.facts, own.facts.trusted):
            plain = push_down(release.choice).query
            assert query.sidecar is not None
            expected = postgres_server.totals(plain, name, count)
            assert postgres_server.totals(query, name, count) == expected
            cells = postgres_server.histograms(plain, name)
            assert postgres_server.histograms(query, name) == cells


@cache
def _neighbors(schema: str) -> tuple[Search, tuple[str, ...]]:
    """Databases with all their neighbors, each with what is stored of it."""
    pairs = search(schema, private(schema), databases=2)
    names = tuple(f"prepared {schema} {n}" for n in range(pairs.worlds.count))
    for number, name in enumerate(names):
        pairs.worlds.load(number)
        postgres_server.create_like(name, pairs.worlds.schema, pairs.worlds.connection)
        store(name, pairs.worlds.schema, private(schema))
    return pairs, names


Found = tuple[tuple[str, str, object], ...]
"""Pairs of schemas on the server, the first with a unit's rows and the second without, and why."""


@cache
def neighbors(schema: str, kind: str) -> Found:
    """Databases with what is stored of them, and the same without one unit."""
    pairs, names = _neighbors(schema)
    return tuple((names[p.one], names[p.other], p.lacks) for p in pairs.relevant(kind))


@cache
def of_two_times(schema: str, kind: str) -> Found:
    """Databases with what was stored of another one, and both without one unit."""
    pairs, names = _neighbors(schema)
    relevant = pairs.relevant(kind)
    found = []
    for now, then in permutations(sorted({pair.world for pair in relevant}), 2):
        stored = {p.lacks[1]: names[p.other] for p in relevant if p.world == then}
        full = next(names[p.one] for p in relevant if p.world == then)
        for pair in (p for p in relevant if p.world == now):
            # A unit that has no rows in the other database is lacking there already.
            before, after = full, stored.get(pair.lacks[1], full)
            one, other = _mixed(names[pair.one], before), _mixed(names[pair.other], after)
            found.append((one, other, pair.lacks))
    return tuple(found)


@cache
def _mixed(now: str, then: str) -> str:
    """A schema with the tables of `now`, and with what was stored of `then`."""
    server, name = postgres_server.server(), f"{now} with {then}"
    at, of, stored = map(postgres_server.own, (name, now, then))
    rows = server.execute(
        b"SELECT schemaname, tablename FROM pg_tables WHERE schemaname IN ($1, $2)", [of, stored]
    ).fetchall()
    for space, table in rows:
        if (space == stored) == str(table).endswith(" prepared"):
            server.execute(f'CREATE VIEW "{at}"."{table}" AS TABLE "{space}"."{table}"'.encode())
    return name


PAIRS = {"of one time": neighbors, "of two times": of_two_times}


@pytest.mark.bounds
@pytest.mark.parametrize(
    ("claim", "limits", "pairs"),
    in_turn(
        (
            (f"{claim.name}-{name}-{time}", (claim, LIMITS[name], PAIRS[time]))
            for turn, claim in enumerate(candidates())
            for name in [*LIMITS][turn % len(LIMITS) :][:2]
            for time in PAIRS
        ),
        share=43,
    ),
)
def test_no_neighbor_changes_more_than_derived(
    claim: Claim, limits: ContributionLimits, pairs: Callable[[str, str], Found]
) -> None:
    """Also where tables were changed after they were stored, under a version that stays."""
    ready = statement(claim, limits)
    if ready is None:
        return  # refused under narrow limits
    for release in ready.releases:
        there = over_sidecar(
            release, schema_of(claim.schema), facts_of(claim.schema), private(claim.schema)
        )
        count = len(release.step.bounded.contributions.statistics)
        found = pairs(claim.schema, unit_kind(release.release.source) or "")
        names = {name for one, other, _ in found for name in (one, other)}
        for query, salt in product(there, SALTS):
            seen = {n: postgres_server.totals(query, n, count, salt) for n in names}
            cells = {n: postgres_server.histograms(query, n, salt) for n in names}
            for one, other, lacks in found:
                of = seen[one], seen[other], release, release.sensitivity
                in_cells = cells[one], cells[other], *of[2:]
                for fault in (*violations(*of), *cell_violations(*in_cells)):
                    raise AssertionError(f"{fault}: {claim.sql}\nwithout {lacks}, {one}, {other}")
            if pairs is neighbors:
                plain = push_down(release.choice).query
                for name, totals in seen.items():
                    assert postgres_server.totals(plain, name, count, salt) == totals


def _moved(name: str) -> None:
    """A patient's 40 visits with a test each, stored; now each visit is another patient's."""
    server, at = postgres_server.server(), postgres_server.own(name)
    visits = "CAST(n AS bigint) AS visit_id, CAST(1 AS bigint) AS patient_id"
    tests = "visit_id AS test_id, visit_id, CAST(NULL AS text) AS kind, 1 AS score"
    for statement in (
        f'SET search_path TO "{at}"',
        f"CREATE TABLE visits AS SELECT {visits} FROM generate_series(1, 40) AS n",
        f"CREATE TABLE tests AS SELECT {tests} FROM visits",
    ):
        server.execute(statement.encode())
    store(name, schema_of("clinic"), private("clinic"))
    server.execute(b"UPDATE visits SET patient_id = visit_id")


def _violated(release: CompiledRelease, before: Groups, after: Groups) -> Iterator[str]:
    return violations(before, after, release, release.sensitivity)


def test_what_was_stored_for_one_unit_is_not_counted_for_another() -> None:
    """Forty tests of the first patient would be forty others', of one visit each."""
    sql = "SELECT count(*) FROM tests AS t JOIN visits AS v ON t.visit_id = v.visit_id"
    (release,) = prepared(sql, "clinic", private("clinic")).releases
    there = over_sidecar(release, schema_of("clinic"), facts_of("clinic"), private("clinic"))
    assert there
    name = "moved"
    _moved(name)
    before = [postgres_server.totals(query, name, 1) for query in there]
    server, at = postgres_server.server(), postgres_server.own(name)
    for table in ("visits", "tests prepared"):
        unit = "patient_id" if table == "visits" else '"unit of the row"'
        server.execute(f'DELETE FROM "{at}"."{table}" WHERE {unit} = 1'.encode())
    after = [postgres_server.totals(query, name, 1) for query in there]
    found = map(partial(_violated, release), before, after)
    assert not list(chain.from_iterable(found))


def test_what_is_another_units_now_is_not_counted_by_what_was_stored() -> None:
    """Forty repairs, all of one buyer now, would be forty others', who had what was repaired."""
    sql = "SELECT count(*) FROM repairs AS r JOIN returned AS d ON r.number = d.number"
    schema, keys = schema_of("parcels"), private("parcels")
    (release,) = prepared(sql, "parcels", keys).releases
    only = frozenset({"returned"})
    there = over_sidecar(release, schema, facts_of("parcels"), keys, only)
    assert {query.totals.prepared for query in there} == {only}
    server, at = postgres_server.server(), postgres_server.own("bought")
    lines = "1 AS item, CAST(n AS bigint) AS parcel, CAST(n AS integer) AS buyer, 1 AS amount"
    returned = "buyer AS number, item, buyer AS parcel, 'late' AS reason, 1.00 AS refund"
    for statement in (
        f'SET search_path TO "{at}"',
        f"CREATE TABLE lines AS SELECT {lines} FROM generate_series(1, 40) AS n",
        f"CREATE TABLE returned AS SELECT {returned} FROM lines",
        "CREATE TABLE repairs AS SELECT CAST(number AS bigint) AS number, 1 AS hours FROM returned",
        "CREATE TABLE boxes (shipment bigint, place integer, buyer bigint, weight integer)",
        "CREATE TABLE damages (shipment bigint, place integer, cost integer)",
    ):
        server.execute(statement.encode())
    store("bought", schema, keys)
    server.execute(b"UPDATE lines SET buyer = 1")
    before = [postgres_server.totals(query, "bought", 1) for query in there]
    for table in ("lines", "returned", "repairs"):
        server.execute(f'DELETE FROM "{at}".{table}'.encode())
    server.execute(f'DELETE FROM "{at}"."returned prepared" WHERE "unit of the row" = 1'.encode())
    after = [postgres_server.totals(query, "bought", 1) for query in there]
    found = map(partial(_violated, release), before, after)
    assert not list(chain.from_iterable(found))
