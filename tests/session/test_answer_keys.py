"""Statements share a stored answer only if they are the same function of the data."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from data.database import attached
from notes.compiler import prepared
from privacy.seeded import SeededRandomness

from dpsql.session.session import Session

SCHEMA = """\
dataset: trips
source: trips.duckdb
tables:
  trips:
    unit: row
    columns:
      origin: {type: integer, bounds: [1, 2]}
      destination: {type: integer, bounds: [1, 2]}
budget: {epsilon: 64, accounting: pure}
per_query: {max_epsilon: 8}
"""

REGIONS = "(VALUES (1, 'north'), (2, 'south'))"

BY_REGION = f"""\
SELECT {{}}.region, count(*) AS n FROM trips t
JOIN {REGIONS} o(place, region) ON o.place = t.origin
JOIN {REGIONS} d(place, region) ON d.place = t.destination
GROUP BY 1 ORDER BY 1"""

VALUES = "(VALUES (1, 'a'), (2, 'b'), (3, 'b'))"
RELEASED = "WITH r AS (SELECT doctor_id AS k, count(*) AS n FROM visits GROUP BY 1)"

OF_ANOTHER_MEANING = {
    "a list joined twice": (
        (
            f"SELECT {{}}.n, count(*) FROM visits v JOIN {VALUES} x(i, n) ON v.doctor_id = x.i "
            f"JOIN {VALUES} y(i, n) ON month(v.visit_date) = y.i GROUP BY 1"
        ),
        ("x", "y"),
    ),
    "a named list joined twice": (
        (
            f"WITH l(i, n) AS (SELECT * FROM {VALUES} t) SELECT count(*) FROM visits v "
            "JOIN l x ON v.doctor_id = x.i JOIN l y ON month(v.visit_date) = y.i WHERE {}.n = 'b'"
        ),
        ("x", "y"),
    ),
    "different rows of a list joined twice": (
        (
            f"SELECT count(*) FROM visits v JOIN (SELECT DISTINCT n, i FROM {VALUES} t(i, n)) x "
            f"ON v.doctor_id = x.i JOIN (SELECT DISTINCT n, i FROM {VALUES} t(i, n)) y "
            "ON month(v.visit_date) = y.i WHERE {}.n = 'b'"
        ),
        ("x", "y"),
    ),
    "a release joined twice": (
        (
            f"{RELEASED} SELECT count(*) FROM visits v JOIN r a ON a.k = v.doctor_id "
            "JOIN r b ON b.k = month(v.visit_date) WHERE {}.n > 10"
        ),
        ("a", "b"),
    ),
    "a release asked twice": (
        (
            f"{RELEASED} SELECT count(*) FROM visits v LEFT JOIN r a ON a.k = v.doctor_id "
            "LEFT JOIN r b ON b.k = month(v.visit_date) WHERE {}.n IS NULL"
        ),
        ("a", "b"),
    ),
    "ties of a window that other columns break": (
        (
            "SELECT sum(cost) FROM (SELECT *, row_number() OVER (PARTITION BY patient_id ORDER BY "
            "visit_date) AS n FROM (SELECT {} FROM visits) v) w WHERE n = 1 AND ward = 'ER'"
        ),
        ("patient_id, visit_date, cost, ward", "patient_id, visit_date, ward, cost"),
    ),
    "the first rows of a list": (
        "SELECT count(*) FROM visits WHERE doctor_id IN (SELECT i FROM (VALUES {}) t(i) LIMIT 1)",
        ("(1), (2)", "(2), (1)"),
    ),
    "the first of a list": (
        "SELECT count(*) FROM visits WHERE doctor_id = (SELECT first(i) FROM (VALUES {}) t(i))",
        ("(1), (2)", "(2), (1)"),
    ),
    "the sum of a list of doubles": (
        "SELECT count(*) FROM visits WHERE cost > (SELECT sum(i) FROM (VALUES {}) t(i))",
        ("(1e16), (1e0), (-1e16)", "(1e16), (-1e16), (1e0)"),
    ),
    "numbers of a list's rows": (
        (
            "SELECT count(*) FROM visits JOIN (SELECT i, row_number() OVER () AS n FROM "
            "(VALUES {}) t(i)) l ON l.i = doctor_id WHERE n = 1"
        ),
        ("(1), (2)", "(2), (1)"),
    ),
}


@pytest.mark.parametrize("name", OF_ANOTHER_MEANING)
def test_statements_of_other_meanings_share_nothing(name: str) -> None:
    sql, ways = OF_ANOTHER_MEANING[name]
    keys = [_key(sql.format(way)) for way in ways]
    assert keys[0] != keys[1]


@pytest.mark.parametrize(
    "ways",
    [
        (
            f"SELECT count(*) FROM visits v JOIN {VALUES} x(i, n) ON v.doctor_id = x.i",
            (
                f"WITH l AS (SELECT * FROM {VALUES} t(a, b)) "
                "SELECT count(*) FROM l, visits WHERE a = doctor_id"
            ),
        ),
        (
            "SELECT count(*) FROM visits WHERE doctor_id IN (SELECT i FROM (VALUES (1), (2)) t(i))",
            "SELECT count(*) FROM visits WHERE doctor_id IN (SELECT j FROM (VALUES (2), (1)) u(j))",
        ),
        (
            f"{RELEASED} SELECT count(*) FROM visits v JOIN r ON k = doctor_id WHERE n > 10",
            (
                f"{RELEASED}, s AS (SELECT k AS z, n AS m FROM r) "
                "SELECT count(*) FROM s JOIN visits v ON v.doctor_id = z WHERE 10 < m"
            ),
        ),
        (
            (
                "SELECT count(*) FROM visits WHERE doctor_id IN "
                "(SELECT doctor_id FROM doctors ORDER BY specialty LIMIT 2)"
            ),
            (
                "SELECT count(*) FROM visits v WHERE v.doctor_id IN "
                "(SELECT d.doctor_id FROM doctors d ORDER BY d.specialty LIMIT 2)"
            ),
        ),
    ],
    ids=["a list", "the order of a list", "a release", "the first rows"],
)
def test_a_leaf_that_is_read_once_is_shared_as_before(ways: tuple[str, str]) -> None:
    assert _key(ways[0]) == _key(ways[1])


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with attached(tmp_path / "trips.duckdb") as connection:
        connection.execute("CREATE TABLE trips AS SELECT 1 origin, 2 destination FROM range(1000)")
    (tmp_path / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    found = Session(
        tmp_path / "schema.yaml", epsilon=Fraction(8), randomness=SeededRandomness("keys")
    )
    yield found
    found.close()


def test_counts_by_origin_are_no_answer_to_counts_by_destination(session: Session) -> None:
    # Noise of ε = 8 moves a count by 100 with a probability of e^-800.
    origins = session.query(BY_REGION.format("o")).table.to_pydict()
    destinations = session.query(BY_REGION.format("d"))
    north, south = destinations.table.column(1).to_pylist()
    assert not destinations.privacy.stored
    assert (north < 100, south > 900) == (True, True)
    assert next(iter(list(origins.values())[1])) > 900


def _key(sql: str) -> str:
    return prepared(sql, "clinic", frozenset()).releases[-1].key
