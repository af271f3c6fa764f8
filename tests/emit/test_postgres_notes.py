"""The notes' statements on PostgreSQL: DuckDB's integers, and no more change than derived.

Equal integers are no evidence that limits hold: under wide limits nothing is left out. So under the
declared ones each statement is asked on all neighbors, too, and what each unit keeps is counted in
SQL that knows of the units and groups alone.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from differential import world
from differential.exact_answer import prepared as prepared_over
from differential.statement import tpch
from differential.test_tpch import ANSWERED
from emit import postgres_server
from neighbor_search.search import SALTS, Search, search
from neighbor_search.share import in_turn
from notes.blocks import Claim, accepted
from notes.compiler import prepared
from notes.exact import exact_table, raw_groups

from dpsql.analysis.lineage.lineage import unit_kind
from dpsql.audit.databases.database_batch import Groups
from dpsql.audit.sensitivity.bound_check import cell_violations, violations
from dpsql.emit.release.contributions import group_names
from dpsql.errors import Error, Refused
from dpsql.physical.push_down import push_down
from dpsql.plan.bounded_release.bounded_release import ByHash, ByRank, LimitGroups
from dpsql.plan.bounded_release.server_query import ServerQuery, ServerStatement
from dpsql.session.compile.compiled_release import CompiledRelease

SHARE = 41

GENERATED = frozenset({"auction", "clinic", "pairs", "parcels", "trial", "families", "works"})
"""The fixtures of which there are clean rows."""

COVERED = 409
"""So many of the notes' 503 statements over private rows are computed on PostgreSQL."""


def pushed(release: CompiledRelease) -> ServerQuery | None:
    """The release on PostgreSQL; None where something in it is on no list."""
    try:
        return push_down(release.choice).query
    except Refused:
        return None


def cases(share: int, schemas: frozenset[str] | None = None) -> list[object]:
    """The notes' plain statements over `schemas`, of which every run tries one in `share`."""
    claims = (c for c in accepted() if schemas is None or c.schema in schemas)
    return in_turn(((claim.name, (claim,)) for claim in claims), share)


@pytest.mark.in_turn
def test_most_notes_are_covered() -> None:
    reasons: Counter[str] = Counter()
    statements = 0
    for claim in accepted():
        releases = prepared(claim.sql, claim.schema, claim.verified).releases
        statements += bool(releases)
        try:
            for release in releases:
                push_down(release.choice)
        except Refused as refusal:
            reasons[refusal.message] += 1
    lines = [f"{statements - reasons.total()} of {statements} statements"]
    lines += [f"{count}: {reason}" for reason, count in reasons.most_common()]
    sys.stdout.write("\n".join([*lines, ""]))
    assert statements - reasons.total() >= COVERED


def _groups(connection: duckdb.DuckDBPyConnection, release: CompiledRelease) -> Groups:
    """DuckDB's integers; the tables that it reads are registered."""
    count = len(release.step.bounded.contributions.statistics)
    if not count:
        return {}
    rows = raw_groups(connection, release, "1").totals.to_pylist()
    values = [tuple(row.values()) for row in rows]
    return {row[: len(row) - count]: tuple(map(int, row[len(row) - count :])) for row in values}


@cache
def _clean(schema: str) -> str:
    name = f"clean {schema}"
    own = world.generated(schema)
    postgres_server.create_like(name, own.schema, own.connection)
    return name


@pytest.mark.parametrize("claim", cases(SHARE, GENERATED))
def test_integers_are_duckdbs_where_no_limit_binds(claim: Claim) -> None:
    own = world.generated(claim.schema)
    try:
        ready = prepared_over(claim.sql, own)
    except Error:
        return  # refused where keys are verified, or of other rows
    for release in ready.releases:
        query = pushed(release)
        if query is None or release.step.reads:
            continue
        count = len(release.step.bounded.contributions.statistics)
        exact_table(own.connection, release, {})
        name = _clean(claim.schema)
        assert postgres_server.totals(query, name, count) == _groups(own.connection, release)
        raw = raw_groups(own.connection, release, "1")
        for own_cells, table in zip(
            postgres_server.histograms(query, name), raw.histograms, strict=True
        ):
            cells: dict[tuple[object, ...], dict[int, int]] = {}
            for *key, cell, number in (tuple(row.values()) for row in table.to_pylist()):
                cells.setdefault(tuple(key), {})[cell] = int(number)
            assert own_cells == cells


@cache
def _neighbors(schema: str, verified: frozenset[str]) -> tuple[Search, tuple[str, ...]]:
    """Databases with all their neighbors, and the schemas that hold them on the server."""
    pairs = search(schema, verified, databases=3)
    names = tuple(f"{schema} {sorted(verified)} {n}" for n in range(pairs.worlds.count))
    for number, name in enumerate(names):
        pairs.worlds.load(number)
        postgres_server.create_like(name, pairs.worlds.schema, pairs.worlds.connection)
    return pairs, names


@pytest.mark.bounds
@pytest.mark.parametrize("claim", cases(SHARE))
def test_no_neighbor_changes_more_than_derived(claim: Claim) -> None:
    ready = prepared(claim.sql, claim.schema, claim.verified)
    for release in ready.releases:
        query = pushed(release)
        if query is None:
            continue
        pairs, names = _neighbors(claim.schema, claim.verified)
        relevant = pairs.relevant(unit_kind(release.release.source) or "")
        count = len(release.step.bounded.contributions.statistics)
        is_salted = bool(re.search("HASHTEXTEXTENDED", query.totals.sql + str(query.histograms)))
        for salt in SALTS if is_salted else SALTS[:1]:
            seen = [postgres_server.totals(query, name, count, salt) for name in names]
            cells = [postgres_server.histograms(query, name, salt) for name in names]
            for pair in relevant:
                of = seen[pair.one], seen[pair.other], release, release.sensitivity
                in_cells = cells[pair.one], cells[pair.other], *of[2:]
                for fault in (*violations(*of), *cell_violations(*in_cells)):
                    raise AssertionError(
                        f"{fault}: {claim.sql}\nwithout {pair.lacks} of {pair.rows}"
                    )
        for name in names:
            for unit, kept, groups, limit in _kept(release, query, name):
                assert kept == min(groups, limit), f"groups of {unit}: {kept} of {groups}, {limit}"


def _kept(
    release: CompiledRelease, query: ServerQuery, name: str
) -> Iterator[tuple[object, int, int, int]]:
    """For each unit the number of its groups that are kept, that of all, and the limit.

    They are counted in the very rows that the statement ranks, without looking at their ranks.
    """
    limited = release.step.bounded.limited
    if not isinstance(limited, LimitGroups) or not isinstance(limited.limit, ByHash | ByRank):
        return
    names = ", ".join(f'"{n}"' for n in group_names(limited.contributions))
    text = query.totals.sql
    condition = f'"rank 1" <= {limited.limit.groups}'
    if isinstance(limited.limit, ByRank):
        in_turn = re.search(r' WHERE ([^"]*"turn" .*? % "turns" < \d+)\)', text)
        assert in_turn is not None
        condition = in_turn[1]
    inner = _before(text, f" WHERE {condition}")
    outer = f'SELECT * FROM {inner} AS "t" WHERE {condition}'
    assert outer in text
    each = "SELECT u, count(*) AS n FROM (SELECT DISTINCT u, {} FROM {} AS x) AS y GROUP BY u"
    every, some = each.format(names, inner), each.format(names, f"({outer})")
    counted = (
        f"{_shared(text)}SELECT a.u, coalesce(k.n, 0), a.n FROM ({every}) AS a"
        f" LEFT JOIN ({some}) AS k ON k.u IS NOT DISTINCT FROM a.u"
    )
    for unit, kept, groups in postgres_server.run(
        ServerStatement(counted, query.totals.parameters), name
    ):
        yield unit, int(str(kept)), int(str(groups)), limited.limit.groups


def _shared(text: str) -> str:
    """The tables of its WITH, where a statement has one."""
    if not text.startswith("WITH "):
        return ""
    depth = 0
    for index, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth == 0 and letter == ")" and not text.startswith(", ", index + 1):
            return text[: index + 2]
    raise AssertionError("WITH has no end")


def _before(text: str, mark: str) -> str:
    """The derived table in parentheses that stands before `AS "t"` and `mark`."""
    end = text.index(f' AS "t"{mark}')
    depth = 0
    for start in range(end - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(text[start], 0)
        if depth == 0:
            return text[start:end]
    raise AssertionError("no derived table is there")


def test_texts_that_a_collation_takes_for_equal_are_in_one_cell() -> None:
    """'ER' and 'er' are two texts, also where a column's collation has them for one."""
    (release,) = prepared(
        "SELECT ward, count(*) FROM visits GROUP BY ward", "clinic", frozenset()
    ).releases
    query = push_down(release.choice).query
    server = postgres_server.server()
    schema = postgres_server.own("alike")
    locale = "provider = icu, locale = 'und-u-ks-level2', deterministic = false"
    rows = "(1, 'ER'), (1, 'er'), (2, 'er'), (2, 'gp'), (3, 'GP')"
    for statement in (
        f'CREATE COLLATION "{schema}".ci ({locale})',
        f'CREATE TABLE "{schema}".visits (patient_id bigint, ward text COLLATE "{schema}".ci)',
        f'INSERT INTO "{schema}".visits VALUES {rows}',
    ):
        server.execute(statement.encode())
    seen = postgres_server.totals(query, "alike", 1)
    assert sum(row[0] for row in seen.values()) == 2
    assert set(seen.values()) == {(1,)}


TPCH_NOT_COVERED = frozenset({17, 22})
"""Their second release reads what the first released, which isn't on the server."""


@pytest.mark.slow
def test_tpch_has_duckdbs_integers(tpch_folder: Path) -> None:
    own = world.of_files("tpch", tpch_folder)
    postgres_server.create_like("tpch", own.schema, own.connection)
    refused = set()
    for number in ANSWERED:
        ready = prepared_over(tpch()[number].sql, own)
        tables: dict[str, pa.Table] = {}
        for release in ready.releases:
            try:
                query = push_down(release.choice).query
            except Refused:
                refused.add(number)
                break
            tables[release.name] = exact_table(own.connection, release, tables)
            expected = _groups(own.connection, release)
            count = len(release.step.bounded.contributions.statistics)
            assert postgres_server.totals(query, "tpch", count) == expected, number
    sys.stdout.write(f"{len(ANSWERED) - len(refused)} of {len(ANSWERED)} answered queries\n")
    assert refused == TPCH_NOT_COVERED
