"""On Spark no neighbor changes more than derived, and each unit keeps what its limits say.

Each statement of the notes, generated ones and those of TPC-H are asked under limits that bind, of
random databases whose keys don't hold, and of neighbors of theirs: what changes is compared with
what is derived. What each unit keeps is counted in SQL that knows of the units and groups alone.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest
from differential.statement import tpch
from differential.test_tpch import ANSWERED
from emit import spark_server
from emit.spark_databases import Neighbors, cells, kept, neighbors, prepared
from emit.test_spark_notes import TPCH_NOT_COVERED, cases, pushed, whole
from fuzz.query import query as generated_query
from neighbor_search.search import SALTS
from neighbor_search.share import in_turn

from dpsql.analysis.lineage.lineage import unit_kind
from dpsql.audit.databases.database_batch import Groups, Histogram
from dpsql.audit.sensitivity.bound_check import cell_violations, violations
from dpsql.bounding.options import AS_DECLARED, ContributionLimits
from dpsql.errors import Error
from dpsql.plan.bounded_release.bounded_release import LimitGroups
from dpsql.plan.bounded_release.server_query import ServerQuery
from dpsql.session.compile.compiled_release import CompiledRelease

SHARE = 250
"""A statement takes seconds: each run asks few of them, `-m slow` all."""

NARROW = (
    ContributionLimits(groups=1, rows_per_group=1),
    ContributionLimits(groups=2, rows_per_group=2, rows=2),
    ContributionLimits(rows=2),
    ContributionLimits(groups=3, rows_per_group=1),
)
"""One of them for each statement, in turn."""

PAIRS = int(os.environ.get("DPSQL_SPARK_PAIRS", "2"))
"""Pairs of neighbors that each statement meets, by turns of all that there are."""

THREADS = 2
"""So many databases are asked at once."""

SEEDS = 2
"""So many sets of databases."""

GENERATED = int(os.environ.get("DPSQL_SPARK_CASES", "300"))
"""So many generated statements are asked by `-m slow`."""

KINDS = frozenset(
    {
        *("limit ByHash", "limit ByRank", "limit ByDomain", "rows in all groups"),
        *("strategy SumRows", "strategy AggregateBelowJoin", "strategy PerUnit"),
        *("DistinctValues", "DistinctSum", "UnitCount", "UnitsOverLimit", "Square", "Product"),
        *("Sum", "RowCount", "NonNullCount", "cells", "no key has a domain", "a join"),
        *("ROW_NUMBER: some are left out", "DENSE_RANK: some are left out"),
        "pairs of neighbors that differ",
    }
)
"""What `-m slow` has to have met."""


def _kinds(release: CompiledRelease, query: ServerQuery) -> Iterator[str]:
    limited = release.step.bounded.limited
    yield f"strategy {query.strategy}"
    if isinstance(limited, LimitGroups):
        yield f"limit {type(limited.limit).__name__}"
        if limited.rows is not None:
            yield "rows in all groups"
    terms = release.step.bounded.contributions
    yield from {type(statistic.term).__name__ for statistic in terms.statistics}
    if terms.cell_choices:
        yield "cells"
    if terms.keys and not terms.domains:
        yield "no key has a domain"
    if "JOIN" in query.totals.sql:
        yield "a join"


def changes_no_more(
    sql: str, schema: str, limits: ContributionLimits, met: Counter[str], turn: int = 0
) -> bool:
    """Ask the releases of a statement of neighbors; False if Spark computes none of them."""
    asked = False
    for release in prepared(sql, schema, limits).releases:
        query = pushed(release)
        if query is not None:
            asked = True
            met.update(_kinds(release, query))
            _compare(sql, release, query, neighbors(schema, turn % SEEDS), met, turn)
    return asked


def _compare(
    sql: str,
    release: CompiledRelease,
    query: ServerQuery,
    all_of: Neighbors,
    met: Counter[str],
    turn: int,
) -> None:
    kind = unit_kind(release.release.source) or ""
    pairs = [p for p in all_of.pairs if kind in (p.unit[0], f"row of {p.unit[1]}")]
    count = len(release.step.bounded.contributions.statistics)
    statements = (*((query.totals,) if count else ()), *query.histograms)
    salt = SALTS[turn % len(SALTS)]

    def answered(number: int) -> tuple[Groups | None, list[Histogram]]:
        rows = [all_of.run(statement, number, salt) for statement in statements]
        totals = spark_server.groups(rows.pop(0), count) if count else None
        return totals, list(map(cells, rows))

    chosen = [pairs[(turn + other) % len(pairs)] for other in range(min(PAIRS, len(pairs)))]
    numbers = list(dict.fromkeys(number for pair in chosen for number in (pair.one, pair.other)))
    # What is planned of one database is planned while another is computed.
    with ThreadPoolExecutor(THREADS) as threads:
        answers = dict(zip(numbers, threads.map(answered, numbers), strict=True))
    for pair in chosen:
        (one, counts), (changed, other_counts) = answers[pair.one], answers[pair.other]
        faults: list[str] = []
        if one is not None and changed is not None:
            faults += violations(one, changed, release, release.sensitivity)
            met["pairs of neighbors that differ"] += one != changed
        if counts:
            faults += cell_violations(counts, other_counts, release, release.sensitivity)
            met["pairs of neighbors that differ"] += counts != other_counts
        for fault in faults:
            raise AssertionError(f"{fault}: {sql}\nwithout {pair.lacks} of {pair.rows}")
    for statement in statements:
        for unit in kept(statement, all_of, pairs[turn % len(pairs)].one, salt):
            assert unit.left == min(unit.every, unit.limit), f"kept {unit}: {sql}"
            met["units whose groups or values are counted"] += 1
            met[f"{unit.rank}: some are left out"] += unit.every > unit.limit


@pytest.mark.bounds
@pytest.mark.parametrize("claim", in_turn(cases(), SHARE))
def test_no_neighbor_changes_more_than_derived(claim: object) -> None:
    sql, schema = claim.sql, claim.schema  # type: ignore[attr-defined]
    changes_no_more(sql, schema, AS_DECLARED, Counter())
    changes_no_more(sql, schema, NARROW[1], Counter())


@pytest.mark.slow
def test_no_neighbor_of_any_statement_changes_more() -> None:
    """Of the notes under their own limits and narrow ones, of generated ones, and of TPC-H."""
    met: Counter[str] = Counter()
    faults: list[str] = []
    asked: Counter[str] = Counter()
    for turn, (about, sql, schema, limits) in enumerate(_all()):
        if not turn % 50:
            sys.stdout.write(f"{turn} tried, {asked.total()} asked, {len(faults)} faults\n")
            sys.stdout.flush()
        try:
            if changes_no_more(sql, schema, limits, met, turn):
                asked[about] += 1
        except Error:
            continue  # refused: by other limits, or where no key is believed
        except Exception as error:  # noqa: BLE001 - all of them are told
            faults.append(f"{about}: {sql}: {str(error)[:600]}")
            sys.stdout.write(f"{faults[-1]}\n")
    told = [f"{asked.total()} statements were asked of all neighbors"]
    told += [f"{count}: {what}" for what, count in sorted((*asked.items(), *met.items()))]
    sys.stdout.write("\n".join([*told, ""]))
    assert not faults, f"{len(faults)} faults\n" + "\n".join(faults)
    assert met.keys() >= KINDS, KINDS - met.keys()
    assert asked["TPC-H"] == len(ANSWERED) - len(TPCH_NOT_COVERED)
    assert asked.total() >= 700


def _all() -> Iterator[tuple[str, str, str, ContributionLimits]]:
    for number in ANSWERED:
        if number not in TPCH_NOT_COVERED:
            yield "TPC-H", tpch()[number].sql, "tpch", NARROW[number % len(NARROW)]
    for turn, claim in enumerate(whole()):
        yield "notes, narrow limits", claim.sql, claim.schema, NARROW[turn % len(NARROW)]
    random = Random("on Spark")
    for turn in range(GENERATED):
        limits = NARROW[turn % len(NARROW)] if turn % 2 else AS_DECLARED
        yield "generated", generated_query(random), "clinic", limits
    for claim in whole():
        yield "notes, declared limits", claim.sql, claim.schema, AS_DECLARED
