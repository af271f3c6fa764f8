from __future__ import annotations

import pytest
from neighbor_search.search import attack, search
from notes.compiler import prepared, schema_of

from dpsql.audit.databases.search_space import Size
from dpsql.audit.sensitivity.exhaustive_audit import audit_sensitivity
from dpsql.emit.dialect.duckdb import aggregate
from dpsql.plan.total_form import TotalForm

LEAVES_THE_ENGINE_BROKEN = """
    SELECT sum(1) AS r0, count(a.visit_id) FILTER (WHERE a.visit_date IS NOT DISTINCT FROM
        DATE '2024-01-01') AS r1
    FROM visits a
    WHERE (a.visit_date BETWEEN DATE '2023-01-01' AND DATE '2024-06-30' AND a.doctor_id = 2)
        AND a.patient_id NOT IN (SELECT a.patient_id FROM patients a
            JOIN visits b ON a.patient_id = b.patient_id
            LEFT JOIN tests c ON b.visit_id = c.visit_id)
"""


def test_a_statement_that_the_engine_fails_on_is_asked_of_each_database_alone() -> None:
    # DuckDB 2.0: INTERNAL Error, and the database is invalidated.
    verified = frozenset({"patients", "visits", "tests", "readings"})
    found = search("clinic", verified, 1)
    for sql in (LEAVES_THE_ENGINE_BROKEN, "SELECT count(*) FROM visits"):
        attack(prepared(sql, "clinic", verified), found, sql)


def test_a_statement_that_fails_on_one_database_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the cast that can't fail, a median of far days does."""
    schema = schema_of("clinic")
    day = "CAST(CASE WHEN age > 50 THEN '300000-01-01' ELSE '2020-01-01' END AS DATE)"
    each = f"SELECT patient_id, median({day}) AS v FROM patients GROUP BY patient_id"
    sql = f"SELECT count(*) FROM ({each}) t WHERE v IS NULL"
    size = Size(units=3, max_units=1)
    assert audit_sensitivity(sql, schema, size=size).violations == ()
    monkeypatch.setattr(aggregate, "aggregate_form", lambda *_: TotalForm.AS_IS)
    (told,) = audit_sensitivity(sql, schema, size=size).violations
    assert told.startswith("it fails where there are patients(")
