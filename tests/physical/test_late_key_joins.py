"""Cells are joined to sums or to rows: the integers are the same, where keys are in none, too."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from neighbor_search.search import search
from notes.compiler import prepared
from physical.strategies import by_plan

from dpsql.bounding.options import AS_DECLARED, ContributionLimits
from dpsql.physical import cost, engine_query
from dpsql.physical.cost import late_key_joins
from dpsql.plan.bounded_release.bounded_release import KeyDomain, contributions_of
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.structs import replace

STATEMENTS = [
    "SELECT doctor_id, count(*), sum(cost) FROM visits GROUP BY 1",
    "SELECT doctor_id, ward, avg(cost) FROM visits GROUP BY 1, 2",
    "SELECT doctor_id, count(*) FROM visits WHERE ward = 'ER' GROUP BY 1",
    "SELECT doctor_id, sum(score) FROM tests JOIN visits USING (visit_id) GROUP BY 1",
]

LIMITS = [AS_DECLARED, ContributionLimits(groups=1, rows_per_group=2, rows=2)]


def _release(sql: str, limits: ContributionLimits = AS_DECLARED) -> CompiledRelease:
    (release,) = prepared(sql, "clinic", frozenset(), limits=limits).releases
    return release


@pytest.mark.parametrize("limits", LIMITS, ids=["declared", "few"])
@pytest.mark.parametrize("sql", STATEMENTS)
def test_rows_and_sums_have_the_same_cells(
    sql: str, limits: ContributionLimits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cost, "LONG_LIST", 3)
    release = _release(sql, limits)
    assert late_key_joins(contributions_of(release.choice.limited), by_unit=False)
    worlds = search("clinic", frozenset(), databases=24).worlds
    differ = False
    for candidate in release.choice.candidates:
        of_sums = by_plan(release, candidate.plan)
        with patch.object(engine_query, "late_key_joins", return_value=frozenset()):
            of_rows = by_plan(release, candidate.plan)
        differ |= of_sums.step.query.sql != of_rows.step.query.sql
        totals = worlds.totals(of_sums, "1")
        assert totals == worlds.totals(of_rows, "1")
        assert any(totals)
    assert differ


@pytest.mark.parametrize(
    "sql",
    [
        """SELECT d.doctor_id, count(*) FROM visits v JOIN doctors d ON v.doctor_id = d.doctor_id
        WHERE specialty = 'surgery' GROUP BY 1""",
        "SELECT doctor_id + 1, count(*) FROM visits GROUP BY 1",
    ],
    ids=["public", "computed"],
)
def test_keys_that_reference_no_list_are_joined_to_rows(
    sql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cost, "LONG_LIST", 3)
    limited = _release(sql).choice.limited
    assert not late_key_joins(contributions_of(limited), by_unit=False)


def test_cells_of_a_short_list_are_joined_to_rows() -> None:
    # Those of one brand: of all others, rows would be summed first, and left out then.
    limited = _release(STATEMENTS[0]).choice.limited
    assert not late_key_joins(contributions_of(limited), by_unit=False)


@pytest.mark.parametrize(("apart", "is_late"), [(1, True), (8, True), (9, False), (1000, False)])
def test_cells_of_a_sparse_list_are_joined_to_rows(apart: int, *, is_late: bool) -> None:
    # 2,000 of a million parts are those of a few brands; lines of the others would be summed first.
    terms = contributions_of(_release(STATEMENTS[0]).choice.limited)
    numbers = range(0, 2_000 * apart, apart)
    listed = KeyDomain((0,), (*((number,) for number in reversed(numbers)), (None,)))
    late = late_key_joins(replace(terms, domains=(listed,)), by_unit=False)
    assert late == (frozenset({0}) if is_late else frozenset())
