"""Units in parts, one after the other, give the integers of all units at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa
import pytest
from grammar.compiler import prepared
from grammar.exact import exact_measurement
from grammar.notes import Claim, accepted
from grammar.search import search
from privacy.seeded import SeededRandomness

from dpsql.audit.engine import WorldEngine
from dpsql.audit.worlds import NO_TABLES, Worlds
from dpsql.emit.bounded import emit_release
from dpsql.emit.parts import goes_in_parts
from dpsql.engine.raw import Raw
from dpsql.engine.source import DuckDBSource
from dpsql.errors import Error
from dpsql.plan.bounded import Bounding, Draw, UnitByUnit
from dpsql.release.job import Job, Step, run
from dpsql.rewrite.setting import AS_DECLARED, Settings
from dpsql.session.prepared import PreparedRelease


class Database(WorldEngine):
    """One synthetic database, which remembers nothing, and counts what it is asked of its units."""

    def __init__(self, worlds: Worlds, world: int) -> None:
        super().__init__(worlds, world)
        self.asked = 0

    def execute(
        self,
        sql: str,
        parameters: Sequence[object] = (),
        tables: Mapping[str, pa.Table] = NO_TABLES,
        *,
        few: bool = False,
    ) -> Raw:
        self._known.clear()
        self.asked += "found of parts" not in tables
        return super().execute(sql, parameters, tables, few=few)


@pytest.mark.bounds
@pytest.mark.parametrize(
    "settings", [AS_DECLARED, Settings(groups=2, rows_per_group=1, rows=3)], ids=["wide", "narrow"]
)
@pytest.mark.parametrize("claim", accepted(), ids=lambda claim: claim.name)
def test_every_statement_of_the_notes_has_the_same_integers(
    claim: Claim, settings: Settings
) -> None:
    try:
        releases = prepared(claim.sql, claim.schema, claim.verified, settings=settings).releases
    except Error:
        return  # refused under narrow limits
    for release in releases:
        if goes_in_parts(release.step.bounded) and not release.step.reads:
            _compare(_shown(release), claim)


def _shown(release: PreparedRelease) -> Step:
    """Groups that no list has come in any order: they are shown without noise, and all of them."""
    if release.step.bounded.selection is None:
        return release.step
    return replace(release.step, measurement=exact_measurement(release, threshold=1))


def _compare(step: Step, claim: Claim) -> None:
    worlds = search(claim.schema, claim.verified, databases=4).worlds
    statements = bool(step.bounded.terms.statistics) + len(step.query.histograms)
    for world in range(0, worlds.count, 1 + worlds.count // 3):
        whole, asked = _answer(step, worlds, world)
        assert asked == statements
        query = emit_release(step.bounded, {}, in_parts=True)
        found, asked = _answer(replace(step, query=query, parts=3), worlds, world)
        assert asked == statements * 3
        assert found.equals(whole), "other integers than of all units at once"


def _answer(step: Step, worlds: Worlds, world: int) -> tuple[pa.Table, int]:
    engine = Database(worlds, world)
    found = run(Job(DuckDBSource(), (step,)), engine, SeededRandomness("parts"))
    return found[step.name], engine.asked


@pytest.mark.parametrize(
    ("sql", "bounding"),
    [
        ("SELECT visit_date, count(*), avg(cost) FROM visits GROUP BY 1", UnitByUnit),
        ("SELECT ward, median(cost) FROM visits GROUP BY 1", UnitByUnit),
        ("SELECT date_trunc('month', visit_date), sum(cost) FROM visits GROUP BY 1", Draw),
    ],
)
def test_what_waits_for_other_rows_of_its_unit_goes_in_parts(
    sql: str, bounding: type[Bounding]
) -> None:
    (release,) = prepared(sql, "clinic", frozenset()).releases
    assert isinstance(release.step.bounded.bounding, bounding)
    assert goes_in_parts(release.step.bounded)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT ward, count(DISTINCT doctor_id) FROM visits GROUP BY 1",
        "SELECT sex, count(*) FROM patients GROUP BY 1",
        "SELECT region_id, count(*) FROM readings, doctors GROUP BY 1",
        "SELECT visit_date, count(*) FROM visits WHERE ward = 'ER' GROUP BY 1",
    ],
    ids=[
        "values that units share",
        "one row of each unit",
        "rows that are units",
        "few rows of most units",
    ],
)
def test_what_does_not_add_up_or_waits_for_nothing_is_found_at_once(sql: str) -> None:
    for release in prepared(sql, "clinic", frozenset({"patients"})).releases:
        assert not goes_in_parts(release.step.bounded)
