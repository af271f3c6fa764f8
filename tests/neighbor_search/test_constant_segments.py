"""Rows that have one value in a column are found alike, whether it is read as a constant or not.

DuckDB reads a segment of a file as one where all its rows have the same value, and a table in
memory never. One row with another value, of one unit, turns the one into the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random

import pytest
from fuzz.pool import private_tables
from fuzz.query import query
from neighbor_search.share import values_in_turn
from neighbor_search.storages import IN_MEMORY_AND_FILE, Bag, check, stored
from notes.compiler import prepared

from dpsql.errors import Error

COMMON = 16
"""Sets of values that all rows have; extremes of their types are among them."""

GENERATED = 4

MAY_RAISE = {
    "patients": ("age", ["age + age", "age * age"]),
    "visits": ("visit_date", ["month(visit_date)", "month(visit_date) + day(visit_date)"]),
    "tests": ("score", ["score + score", "score * score - score"]),
    "readings": ("sensor", ["sensor + sensor", "sensor * sensor"]),
}

LOOKED_UP = [
    "SELECT count({0}) FROM {1} AS t JOIN doctors ON doctors.doctor_id = coalesce({2}, 1)",
    "SELECT count(doctors.doctor_id) FROM {1} AS t LEFT JOIN doctors ON doctors.doctor_id = {2}",
    "SELECT count({0}) FROM {1} WHERE coalesce({2}, 1) IN (SELECT doctor_id FROM doctors)",
    "SELECT count({0}) FROM {1} WHERE coalesce({2}, 1) = (SELECT min(doctor_id) FROM doctors)",
]

IN_WINDOWS = [
    """SELECT count({0}), sum(n) FROM (
        SELECT {0}, count(*) OVER (PARTITION BY patient_id, {1}) AS n FROM {2}
    ) AS t""",
    """SELECT count({0}), sum(n) FROM (
        SELECT {0}, count(*) OVER (PARTITION BY patient_id ORDER BY {1}) AS n FROM {2}
    ) AS t""",
]


OF_JOINED_ROWS = [
    """SELECT count({0}), count(nullif(coalesce({1}, 7), 5)) FROM {2} AS t
        WHERE EXISTS (
            SELECT 1 FROM {2} AS s WHERE s.patient_id = t.patient_id AND s.{0} = t.{0}
        )""",
    """SELECT count({0}), count(nullif(coalesce({1}, 7), 5)) FROM {2} AS t
        WHERE patient_id IN (SELECT patient_id FROM visits)""",
    """SELECT count(n), count(nullif(coalesce(n, 7), 5)), sum(r) FROM (
        SELECT {1} AS n, count(*) OVER (PARTITION BY patient_id) AS r FROM {2}
    ) AS t""",
]
"""Rows are looked up by something else than what may raise."""


def statements(random: Random) -> Iterator[str]:
    for table, (column, values) in MAY_RAISE.items():
        for shape, value in product(LOOKED_UP, values):
            yield shape.format(column, table, value)
    for table in ("patients", "visits"):
        column, values = MAY_RAISE[table]
        for shape, value in product((*IN_WINDOWS, *OF_JOINED_ROWS), values):
            yield shape.format(column, value, table)
    for _ in range(GENERATED):
        yield query(random)


@pytest.mark.parametrize(
    "common",
    values_in_turn(range(COMMON), 5),  # odd: keys hold and break in each run
)
def test_integers_dont_depend_on_whether_a_column_is_read_as_a_constant(
    common: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    bag = Bag(trusted=bool(common % 2), rows=6_000, units=2_500, common=common)
    verified = private_tables("clinic") if bag.trusted else frozenset()
    folder = tmp_path_factory.getbasetemp() / f"constants {common}"
    connections = stored("clinic", bag, folder, IN_MEMORY_AND_FILE)
    checked = 0
    for sql in statements(Random(f"constants {common}")):
        try:
            ready = prepared(sql, "clinic", verified)
        except Error:
            continue
        check(ready, connections, sql)
        checked += 1
    assert checked > 30
