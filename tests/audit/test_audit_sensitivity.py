from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.cli_run import runner
from notes.compiler import schema_of

import dpsql.audit.sensitivity.exhaustive_audit as module
from dpsql.analysis.sensitivity import Sensitivity, sensitivity
from dpsql.audit.databases.search_space import Size
from dpsql.audit.sensitivity.exhaustive_audit import audit_sensitivity
from dpsql.errors import BadParameter, Error
from dpsql.plan.bounded_release.bounded_release import BoundedRelease
from dpsql.privacy.distance import NeighborDistance
from dpsql.schema.model import Neighbors
from dpsql.structs import replace

TIGHT = (
    "SELECT count(*), sum(cost) FROM visits",
    "SELECT ward, avg(cost) FROM visits GROUP BY ward",
    "SELECT sum(value) FROM readings",
    "SELECT city, median(age) FROM patients GROUP BY city",
    "SELECT count(*) FROM tests JOIN visits USING (visit_id) WHERE cost > 10",
)


@pytest.mark.parametrize("sql", TIGHT)
def test_a_bound_is_met_and_not_passed(sql: str) -> None:
    found = audit_sensitivity(sql, schema_of("clinic"))
    assert not found.violations
    tightness = [f.tightness for f in found.findings if f.description != "groups"]
    assert min(t for t in tightness if t is not None) == 1


@pytest.mark.parametrize("relation", list(Neighbors))
@pytest.mark.parametrize("apart", [1, 2, 3])
def test_sums_change_as_derived_for_k_units(relation: Neighbors, apart: int) -> None:
    size = Size(distance=apart, units=3, copies=3, max_units=3, strict=True)
    found = audit_sensitivity(
        "SELECT sum(value) FROM readings", schema_of("clinic"), relation, size
    )
    assert not found.violations
    (total,) = (f for f in found.findings if f.description == "value")
    # A value and its opposite are twice as far apart as either is from no row.
    assert total.observed == total.derived == relation.distance(apart).steps


def test_every_release_of_a_statement_is_tried() -> None:
    sql = "SELECT count(*) FROM patients WHERE age > (SELECT avg(age) FROM patients)"
    found = audit_sensitivity(sql, schema_of("clinic"))
    assert [f.description for f in found.findings if f.description == "rows"] == ["rows"]
    assert [f.description for f in found.findings if f.description == "age less 60"] == [
        "age less 60"
    ]


def test_the_worst_pair_differs_by_one_unit() -> None:
    found = audit_sensitivity("SELECT sum(cost) FROM visits", schema_of("clinic"))
    worst = found.findings[0].witness
    assert worst is not None
    assert len(worst.one) == len(worst.other) + 1
    assert set(worst.other) < set(worst.one)


def test_plain_answers_change_by_more_than_what_is_bounded() -> None:
    found = audit_sensitivity("SELECT count(*) FROM visits", schema_of("clinic"))
    assert found.findings[0].observed == 12
    assert found.plain[0].observed == 14
    assert found.plain[0].derived is None


def test_a_bound_that_is_too_small_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def smaller(bounded: BoundedRelease, units: NeighborDistance) -> Sensitivity:
        found = sensitivity(bounded, units)
        return replace(found, per_group=tuple(most - 1 for most in found.per_group))

    monkeypatch.setattr(module, "sensitivity", smaller)
    found = audit_sensitivity("SELECT sum(age) FROM patients", schema_of("clinic"))
    assert any(text.startswith("statistic 0") for text in found.violations)
    assert max(f.tightness or 0 for f in found.findings) > 1


def test_databases_too_small_for_a_neighbour_are_refused() -> None:
    with pytest.raises(BadParameter, match="no neighbours 4 apart"):
        audit_sensitivity(
            "SELECT count(*) FROM visits", schema_of("clinic"), None, Size(distance=4)
        )


def test_what_is_refused_has_no_audit() -> None:
    with pytest.raises(Error, match="would list rows"):
        audit_sensitivity("SELECT city FROM patients", schema_of("clinic"))


RANGE = """
dataset: driving
source: driving.duckdb
tables:
  driving: {unit: row, columns: {days: {type: integer, bounds: [1, 3]}}}
budget: {epsilon: 1}
"""


def test_the_command_reproduces_a_table_and_tells_the_worst_pair(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = runner(monkeypatch)
    path = tmp_path / "schema.yaml"
    path.write_text(RANGE, encoding="utf-8")
    size = ("--declared", "--copies", "4", "--least", "4", "--most", "5")
    sql = "SELECT sum(days), avg(days), var_pop(days) FROM driving"
    found = run("audit", "sensitivity", str(path), sql, *size, "--format", "json")
    assert found.code == 0
    plain = {f["about"].partition("(")[0]: f["observed"] for f in json.loads(found.out)["plain"]}
    assert plain == {"sum": 3, "avg": 0.5, "var_pop": 0.75}
    changed = ("--neighbors", "change_one", "--most", "4")
    text = run("audit", "sensitivity", str(path), sql, *size, *changed).out
    assert "closest to its bound: " in text
    assert "the other:\n  unit 1: driving(days=1)" in text
    assert any(line.split()[-1:] == ["0.75"] for line in text.splitlines() if "var_pop" in line)
