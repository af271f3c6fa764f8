"""The notes' statements over what is stored on Spark: the same integers, the same bounds.

Groups are chosen by a hash of unit and group, which doesn't depend on where the rows are read, so
that the integers are equal under narrow limits, too, of databases that can be prepared. What each
unit keeps is counted in SQL that knows of units and groups alone. No key holds, as if rows had been
changed since: of most databases a row is stored several times.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pyarrow as pa
import pytest
from emit import spark_server
from emit.spark_databases import cells, fast_sums, kept, prepared
from emit.spark_sidecar import (
    StoredNeighbors,
    of_one_time,
    of_two_times,
    over_sidecar,
    store,
)
from emit.test_spark_notes import pushed, whole
from neighbor_search.search import SALTS
from neighbor_search.share import in_turn, values_in_turn
from neighbor_search.sidecar import LIMITS
from notes.blocks import Claim
from notes.compiler import schema_of

from dpsql.analysis.lineage.lineage import unit_kind
from dpsql.audit.databases.database_batch import Groups, Histogram
from dpsql.audit.sensitivity.bound_check import cell_violations, violations
from dpsql.bounding.options import AS_DECLARED, ContributionLimits
from dpsql.errors import Error
from dpsql.physical.strategy.split_by_contribution import SplitByContribution
from dpsql.plan.bounded_release.server_query import ServerQuery
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.preparing.server_sidecar import SPARK, preparable_tables

PAIRS = 2
"""Pairs of neighbors that each statement meets, by turns of all that there are."""

TURNS = 3
"""Of statements that are compiled, each run tries one in three."""


@cache
def candidates() -> tuple[Claim, ...]:
    """The notes' statements that name a table which can be prepared."""
    names = {schema: _preparable(schema) for schema in {c.schema for c in whole()}}
    return tuple(c for c in whole() if any(name in c.sql for name in names[c.schema]))


def _preparable(schema: str) -> list[str]:
    own = schema_of(schema)
    return [table.name for table, _ in preparable_tables(own, frozenset(), SPARK)]


def releases(claim: Claim, limits: ContributionLimits) -> tuple[CompiledRelease, ...]:
    """The releases of a claim's statement; none if it is refused."""
    try:
        return tuple(prepared(claim.sql, claim.schema, limits).releases)
    except Error:
        return ()


@pytest.mark.in_turn
def test_most_statements_are_computed_over_stored_rows() -> None:
    there = splits = 0
    for claim in candidates():
        over = [
            query for r in releases(claim, AS_DECLARED) for query in over_sidecar(r, claim.schema)
        ]
        there += bool(over)
        splits += any(query.strategy == SplitByContribution.__name__ for query in over)
    assert there >= 40
    assert splits >= 5


@pytest.mark.parametrize("turn", values_in_turn(range(TURNS), TURNS))
def test_sums_that_can_be_without_a_value_are_of_one_unit(turn: int) -> None:
    queries = [
        query
        for claim in candidates()[turn::TURNS]
        for release in releases(claim, AS_DECLARED)
        for query in (*over_sidecar(release, claim.schema), pushed(release))
        if query is not None
    ]
    counted = [fast_sums(query.totals) for query in queries]
    assert sum(number for number, _ in counted) >= 15
    assert not sum(of_several for _, of_several in counted)


def _answered(
    query: ServerQuery, databases: StoredNeighbors, number: int, count: int, salt: str
) -> tuple[Groups, list[Histogram]]:
    totals: Groups = {}
    if count:
        totals = spark_server.groups(databases.run(query.totals, number, salt), count)
    return totals, [cells(databases.run(each, number, salt)) for each in query.histograms]


TIMES: dict[str, Callable[[str], StoredNeighbors]] = {
    "of one time": of_one_time,
    "of two times": of_two_times,
}


@pytest.mark.bounds
@pytest.mark.parametrize(
    ("claim", "limits", "time"),
    in_turn(
        (
            (f"{claim.name}-{name}-{time}", (claim, LIMITS[name], time))
            for turn, claim in enumerate(candidates())
            for name in [*LIMITS][turn % len(LIMITS) :][:2]
            for time in TIMES
        ),
        share=59,
    ),
)
def test_no_neighbor_changes_more_than_derived(
    claim: Claim, limits: ContributionLimits, time: str
) -> None:
    """Also where tables were changed after they were stored, under a version that stays."""
    for release in releases(claim, limits):
        there = over_sidecar(release, claim.schema)
        if there:
            _changes_no_more(claim.sql, release, there, TIMES[time](claim.schema))


def _changes_no_more(
    sql: str,
    release: CompiledRelease,
    there: tuple[ServerQuery, ...],
    databases: StoredNeighbors,
) -> None:
    kind, turn = unit_kind(release.release.source) or "", len(sql)
    relevant = [p for p in databases.pairs if kind in (p.unit[0], f"row of {p.unit[1]}")]
    pairs = [relevant[(turn + n) % len(relevant)] for n in range(min(PAIRS, len(relevant)))]
    count, salt = len(release.step.bounded.contributions.statistics), SALTS[turn % len(SALTS)]
    numbers = {number for pair in pairs for number in (pair.one, pair.other)}
    plain = pushed(release)
    for query in there:
        seen = {n: _answered(query, databases, n, count, salt) for n in numbers}
        for pair in pairs:
            (one, counts), (other, other_counts) = seen[pair.one], seen[pair.other]
            faults = [*violations(one, other, release, release.sensitivity)] if count else []
            faults += cell_violations(counts, other_counts, release, release.sensitivity)
            for fault in faults:
                raise AssertionError(f"{fault}: {sql}\nwithout {pair.lacks} of {pair.rows}")
        if plain is not None:
            for number, answer in seen.items():
                if not databases.is_whole(number):
                    continue
                assert _answered(plain, databases, number, count, salt) == answer, sql
        for statement in (*((query.totals,) if count else ()), *query.histograms):
            for unit in kept(statement, databases, pairs[0].one, salt):
                assert unit.left == min(unit.every, unit.limit), f"kept {unit}: {sql}"


MOVED = "SELECT count(*) FROM tests AS t JOIN visits AS v ON t.visit_id = v.visit_id"


def test_what_was_stored_for_one_unit_is_not_counted_for_another() -> None:
    """Forty tests of the first patient would be forty others', of one visit each."""
    world, many = "moved", list(range(1, 41))
    spark_server.create(world, {"visits 0": _visits([1] * 40), "tests 0": _tests(many)})
    store(world, 0, schema_of("clinic"))
    empty = spark_server.session(world).table("`tests prepared 0`").limit(0).toArrow()
    spark_server.create(
        world,
        {
            "visits 1": _visits(many),
            "visits 2": _visits(many).slice(1),
            "tests 1": _tests(many),
            "tests 2": _tests(many).slice(1),
            "tests prepared 2": empty,
        },
    )
    # Now each visit is another patient's; and the same without the first patient.
    databases = StoredNeighbors(
        world, 2, frozenset(schema_of("clinic").tables), (), lambda _: None, ((1, 0), (2, 2))
    )
    (release,) = prepared(MOVED, "clinic").releases
    there = over_sidecar(release, "clinic", frozenset({"tests"}))
    assert there
    for query in there:
        before, after = (_answered(query, databases, n, 1, "1")[0] for n in (0, 1))
        assert not list(violations(before, after, release, release.sensitivity))


def _visits(patients: list[int]) -> pa.Table:
    return pa.table(
        {
            "visit_id": pa.array(range(1, len(patients) + 1), pa.int64()),
            "patient_id": pa.array(patients, pa.int64()),
        }
    )


def _tests(visits: list[int]) -> pa.Table:
    return pa.table(
        {
            "test_id": pa.array(visits, pa.int64()),
            "visit_id": pa.array(visits, pa.int64()),
            "kind": pa.array([None] * len(visits), pa.string()),
            "score": pa.array([1] * len(visits), pa.int32()),
        }
    )
