"""The notes' statements on Spark: DuckDB's integers, and no more change than derived.

Equal integers are no evidence that limits hold: under wide limits nothing is left out. So under the
declared ones each statement is asked on all neighbors, too, and what each unit keeps is counted in
SQL that knows of the units and groups alone.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from differential import world
from differential.exact_answer import prepared as prepared_over
from differential.statement import tpch
from differential.test_tpch import ANSWERED
from emit import spark_server
from neighbor_search.search import SALTS, Pair, search
from neighbor_search.share import in_turn
from notes.blocks import Claim, accepted
from notes.compiler import prepared
from notes.exact import exact_table, raw_groups

from dpsql.analysis.lineage.lineage import unit_kind
from dpsql.audit.databases.database_batch import Groups, Histogram
from dpsql.audit.sensitivity.bound_check import cell_violations, violations
from dpsql.engine.spark.semantics import SUPPORTED
from dpsql.errors import Error, Refused
from dpsql.physical.push_down import push_down
from dpsql.plan.bounded_release.server_query import Salt, ServerQuery, ServerStatement
from dpsql.session.compile.compiled_release import CompiledRelease

SHARE = 60
"""A statement takes a second: each run asks few of them, `-m slow` all."""

GENERATED = frozenset({"clinic", "pairs", "parcels", "trial", "families", "works"})
"""The fixtures of which there are clean rows."""

COVERED = 400
"""So many of the notes' 503 statements over private rows are computed on Spark."""


def pushed(release: CompiledRelease) -> ServerQuery | None:
    """The release on Spark; None where something in it is on no list."""
    try:
        return push_down(release.choice, SUPPORTED).query
    except Refused:
        return None


def cases(schemas: frozenset[str] | None = None) -> list[tuple[str, tuple[Claim]]]:
    """The notes' plain statements over `schemas`."""
    claims = (c for c in accepted() if schemas is None or c.schema in schemas)
    return [(claim.name, (claim,)) for claim in claims]


def whole(schemas: frozenset[str] | None = None) -> list[Claim]:
    """The same, of which no run tries a share."""
    return [claim for _, (claim,) in cases(schemas)]


def test_most_notes_are_covered() -> None:
    reasons: Counter[str] = Counter()
    statements = 0
    for claim in accepted():
        releases = prepared(claim.sql, claim.schema, claim.verified).releases
        statements += bool(releases)
        try:
            for release in releases:
                push_down(release.choice, SUPPORTED)
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
    return spark_server.groups(
        spark_server.tuples(raw_groups(connection, release, "1").totals), count
    )


@cache
def _clean(schema: str) -> str:
    name = f"clean {schema}"
    own = world.generated(schema)
    spark_server.create_like(name, own.schema, own.connection)
    return name


def _has_duckdbs_integers(claim: Claim) -> int:
    """Ask a statement of clean rows on both engines; how many releases were compared."""
    own = world.generated(claim.schema)
    try:
        ready = prepared_over(claim.sql, own)
    except Error:
        return 0  # refused where keys are verified, or of other rows
    compared = 0
    for release in ready.releases:
        query = pushed(release)
        if query is None or release.step.reads:
            continue
        count = len(release.step.bounded.contributions.statistics)
        exact_table(own.connection, release, {})
        name = _clean(claim.schema)
        assert spark_server.totals(query, name, count) == _groups(own.connection, release)
        raw = raw_groups(own.connection, release, "1")
        for own_cells, table in zip(
            spark_server.histograms(query, name), raw.histograms, strict=True
        ):
            cells: Histogram = {}
            for *key, cell, number in spark_server.tuples(table):
                cells.setdefault(tuple(key), {})[int(str(cell))] = int(str(number))
            assert own_cells == cells
        compared += 1
    return compared


@pytest.mark.parametrize("claim", in_turn(cases(GENERATED), SHARE))
def test_integers_are_duckdbs_where_no_limit_binds(claim: Claim) -> None:
    _has_duckdbs_integers(claim)


@pytest.mark.slow
def test_integers_of_all_notes_are_duckdbs() -> None:
    faults, compared = [], 0
    for claim in whole(GENERATED):
        try:
            compared += _has_duckdbs_integers(claim)
        except Exception as error:  # noqa: BLE001 - all of them are told
            faults.append(f"{claim.name}: {str(error)[:400]}")
    sys.stdout.write(f"{compared} releases have DuckDB's integers\n")
    assert not faults, "\n".join(faults)


@dataclass(frozen=True)
class Neighbors:
    """Databases with all their neighbors, which stand side by side in the session `name`.

    Of database n, `tables` have n behind their names.
    """

    name: str
    count: int
    tables: frozenset[str]
    pairs: tuple[Pair, ...]

    def side_by_side(self, statement: ServerStatement) -> ServerStatement:
        """`statement` of each database, of which the first column has the number."""
        alike = "|".join(re.escape(f"`{table}`") for table in self.tables)
        arms = []
        for number in range(self.count):
            own = re.sub(
                f"\\b(FROM|JOIN) ({alike})",
                lambda match, n=number: f"{match[1]} {match[2][:-1]} {n}`",  # type: ignore[misc]
                statement.sql,
            )
            arms.append(f"SELECT {number} AS `the database`, * FROM ({own}) AS `its rows`")
        return replace(statement, sql=" UNION ALL ".join(arms))


@cache
def _neighbors(schema: str, verified: frozenset[str]) -> Neighbors:
    found = search(schema, verified, databases=2)
    name = f"neighbors {schema} {sorted(verified)}"
    own = found.worlds.schema
    for number in range(found.worlds.count):
        found.worlds.load(number)
        tables = spark_server.like(own, found.worlds.connection)
        spark_server.create(name, {f"{table} {number}": rows for table, rows in tables.items()})
    pairs = tuple(found.pairs)
    return Neighbors(
        name, found.worlds.count, frozenset(t.name for t in own.tables.values()), pairs
    )


def _of_each(rows: pa.Table, count: int) -> list[list[tuple[object, ...]]]:
    each: list[list[tuple[object, ...]]] = [[] for _ in range(count)]
    for number, *row in spark_server.tuples(rows):
        each[int(str(number))].append(tuple(row))
    return each


def _cells(rows: list[tuple[object, ...]]) -> Histogram:
    cells: Histogram = {}
    for *key, cell, number in rows:
        cells.setdefault(tuple(key), {})[int(str(cell))] = int(str(number))
    return cells


def _changes_no_more(claim: Claim) -> int:
    """Ask a statement of neighbors; how many releases were asked."""
    asked = 0
    for release in prepared(claim.sql, claim.schema, claim.verified).releases:
        query = pushed(release)
        if query is None:
            continue
        asked += 1
        all_of = _neighbors(claim.schema, claim.verified)
        kind = unit_kind(release.release.source) or ""
        relevant = [p for p in all_of.pairs if kind in (p.unit[0], f"row of {p.unit[1]}")]
        count = len(release.step.bounded.contributions.statistics)
        statements = (query.totals, *query.histograms)
        for salt in SALTS if any(Salt() in s.parameters for s in statements) else SALTS[:1]:
            run = [
                _of_each(spark_server.run(all_of.side_by_side(s), all_of.name, salt), all_of.count)
                for s in (statements if count else query.histograms)
            ]
            seen = [spark_server.groups(rows, count) for rows in run.pop(0)] if count else None
            histograms = [list(map(_cells, each)) for each in zip(*run, strict=True)]
            for pair in relevant:
                faults: list[str] = []
                if seen is not None:
                    of = seen[pair.one], seen[pair.other]
                    faults += violations(*of, release, release.sensitivity)
                if histograms:
                    cells = histograms[pair.one], histograms[pair.other]
                    faults += cell_violations(*cells, release, release.sensitivity)
                for fault in faults:
                    raise AssertionError(
                        f"{fault}: {claim.sql}\nwithout {pair.lacks} of {pair.rows}"
                    )
            for statement in statements:
                for fault in _kept(statement, all_of, salt):
                    raise AssertionError(f"{fault}: {claim.sql}")
    return asked


_RANKED = re.compile(r" WHERE `(rank \d+)` <= (\d+)")
_WINDOW = re.compile(
    r"(ROW_NUMBER|DENSE_RANK)\(\) OVER \(PARTITION BY ((?:`\w+`(?:, )?)+) ORDER BY (.*)\)"
)


def _kept(statement: ServerStatement, all_of: Neighbors, salt: str) -> Iterator[str]:
    """What a rank leaves of each unit: as many as the limit says, or all if they are fewer.

    They are counted in the very rows that the statement ranks, without looking at their ranks. Of
    ranks by unit those are groups; of ranks by unit and group, values.
    """
    text = statement.sql
    for limit in _RANKED.finditer(text):
        inner = _before(text, limit.start())
        window = _own_window(inner, limit[1])
        partition = window[2]
        ordered = re.findall(r"(`\w+`) ASC NULLS LAST", window[3]) or ["1"]
        counted = ", ".join(ordered) if ordered != ["1"] else "`g0`"
        each = (
            f"SELECT {partition}, COUNT(*) AS n FROM (SELECT DISTINCT {partition}, {counted}"
            f" FROM {{}} AS x) AS y GROUP BY {partition}"
        )
        names = partition.split(", ")
        same = " AND ".join(f"a.{name} <=> k.{name}" for name in names)
        some = f"(SELECT * FROM {inner} AS t WHERE `{limit[1]}` <= {limit[2]})"
        sql = (
            f"{_shared(text)}SELECT a.n, COALESCE(k.n, 0) FROM ({each.format(inner)}) AS a"
            f" LEFT JOIN ({each.format(some)}) AS k ON {same}"
        )
        own = all_of.side_by_side(replace(statement, sql=sql))
        for database, groups, kept in spark_server.tuples(spark_server.run(own, all_of.name, salt)):
            if kept != min(int(str(groups)), int(limit[2])):
                yield f"database {database}: {kept} of {groups}, and the limit is {limit[2]}"


def _own_window(inner: str, rank: str) -> re.Match[str]:
    """The window that a rank is computed by."""
    end = inner.index(f" AS `{rank}`")
    start = max(inner.rfind(f"{name}() OVER (", 0, end) for name in ("ROW_NUMBER", "DENSE_RANK"))
    window = _WINDOW.fullmatch(inner[start:end])
    assert window is not None, inner[start:end]
    return window


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


def _before(text: str, mark: int) -> str:
    """The derived table in parentheses that stands before its alias, at `mark`."""
    end = text.rindex(" AS ", 0, mark)
    depth = 0
    for start in range(end - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(text[start], 0)
        if depth == 0:
            return text[start:end]
    raise AssertionError("no derived table is there")


@pytest.mark.bounds
@pytest.mark.parametrize("claim", in_turn(cases(), SHARE))
def test_no_neighbor_changes_more_than_derived(claim: Claim) -> None:
    _changes_no_more(claim)


@pytest.mark.slow
def test_no_neighbor_of_any_note_changes_more() -> None:
    faults, asked = [], 0
    for claim in whole():
        try:
            asked += _changes_no_more(claim)
        except Exception as error:  # noqa: BLE001 - all of them are told
            faults.append(f"{claim.name}: {str(error)[:400]}")
    sys.stdout.write(f"{asked} releases were asked of all neighbors\n")
    assert not faults, "\n".join(faults)


TPCH_NOT_COVERED = frozenset({17, 22})
"""Their second release reads what the first released, which isn't on the server."""


@pytest.mark.slow
def test_tpch_has_duckdbs_integers(tpch_folder: Path) -> None:
    own = world.of_files("tpch", tpch_folder)
    spark_server.create_like("tpch", own.schema, own.connection)
    refused = set()
    for number in ANSWERED:
        ready = prepared_over(tpch()[number].sql, own)
        tables: dict[str, pa.Table] = {}
        for release in ready.releases:
            try:
                query = push_down(release.choice, SUPPORTED).query
            except Refused as refusal:
                sys.stdout.write(f"{number}: {refusal}\n")
                refused.add(number)
                break
            tables[release.name] = exact_table(own.connection, release, tables)
            expected = _groups(own.connection, release)
            count = len(release.step.bounded.contributions.statistics)
            assert spark_server.totals(query, "tpch", count) == expected, number
    sys.stdout.write(f"{len(ANSWERED) - len(refused)} of {len(ANSWERED)} answered queries\n")
    assert refused == TPCH_NOT_COVERED
