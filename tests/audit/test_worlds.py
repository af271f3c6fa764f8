from __future__ import annotations

from grammar.compiler import prepared
from grammar.search import attack, search

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
