"""Statements of one shape, one after the other, are what each is by itself, whatever is constant.

The first ones teach a session their shape and their plan; those behind have constants that must not
be read by these, or whose errors are at other places.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from data.database import attached
from session.by_shape import forget, outcome

from dpsql.schema.load.load import load_schema
from dpsql.session.options import AnswerOptions, QueryOptions
from dpsql.session.session import Session

SCHEMA = """\
dataset: wide
source: wide.duckdb
ledger: wide.ledger
units: {patient: {table: patients, key: id}}
tables:
  people:
    unit: row
    columns:
      age: {type: integer, bounds: [0, 120]}
      big: {type: bigint}
      dept: {type: varchar, values: [a, b, c]}
      name: {type: varchar}
      pay: {type: "decimal(18,4)"}
      rate: {type: double}
      day: {type: date}
      seen: {type: timestamp}
  patients: {key: id, unit: patient, columns: {id: {type: integer}}}
  visits:
    unit: {column: patient, references: patients.id}
    limits: {groups: 3, rows_per_group: 4}
    columns:
      patient: {type: integer}
      ward: {type: varchar, values: [a, b, c, d], nullable: false}
views:
  adults: {query: "SELECT age, rate, dept FROM people WHERE age > 18"}
budget: {epsilon: 64, accounting: pure}
"""

COUNT = "SELECT count(*) FROM people WHERE "

BY_DEPARTMENT = "SELECT dept, count(*) FROM {} GROUP BY dept ORDER BY sum(rate)"

BY_WARD = (
    "SELECT ward, count(*) FROM (SELECT patient, ward FROM visits WHERE ward <> '{}'"
    " UNION ALL SELECT patient, ward FROM visits WHERE ward IN ('b', 'c', 'd')) GROUP BY ward"
)

TWICE = (
    "SELECT (SELECT count(*) FROM people WHERE age > {}) AS a,"
    " (SELECT count(*) FROM people WHERE NOT (age <= 30)) AS b"
)

ADDED_UP = (
    "SELECT dept, count(*) FROM people WHERE NOT (age <= 30) GROUP BY dept"
    " UNION ALL SELECT 'all', count(*) FROM people WHERE age > {}"
)
CONSISTENT = QueryOptions(answer=AnswerOptions(consistent=True))


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    with attached(tmp_path / "wide.duckdb") as connection:
        connection.execute(
            "CREATE TABLE people (age INTEGER, big BIGINT, dept VARCHAR, name VARCHAR,"
            " pay DECIMAL(18,4), rate DOUBLE, day DATE, seen TIMESTAMP);"
            "CREATE TABLE patients (id INTEGER);"
            "CREATE TABLE visits (patient INTEGER, ward VARCHAR)"
        )
    path = tmp_path / "schema.yaml"
    path.write_text(SCHEMA, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("statement", "constants"),
    [
        # What a call computes of a constant isn't the constant.
        (COUNT + "name = trim('{}')", ["a", "b", " c "]),
        (COUNT + "name = replace('{}', 'q', 'r')", ["a", "b", "q"]),
        (COUNT + "name = left('{}', 9)", ["a", "b", "0123456789"]),
        (COUNT + "age > greatest({}, 20)", ["30", "31", "10"]),
        (COUNT + "big > least({}, 50)", ["30", "31", "60"]),
        (COUNT + "big > abs({})", ["30", "31", "0"]),
        (COUNT + "rate BETWEEN {} AND 7", ["1.5", ".5", "2.5", ".25", "3."]),
        # A day has no hours, whatever it is compared with.
        (
            COUNT + "seen > DATE '{}'",
            ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-03 12:00:00"],
        ),
        # It is a BIGINT, of which DuckDB makes another decimal than of an INTEGER.
        (COUNT + "pay > {}", ["2000000000", "2000000002", "3000000000"]),
        (COUNT + "pay > {}", ["1234567890.5", "1234567890.6", "0000000001.5"]),
        # The days before and behind have no trial.
        (COUNT + "day <= '{}'", ["2024-01-01", "9999-12-31", "0001-01-01", "0999-12-31"]),
        (COUNT + "seen < '{}'", ["9999-12-31 23:59:59", "0001-01-01 00:00:00", "0001-01-01"]),
        # An error's place is in the text that was sent.
        (BY_DEPARTMENT.format("people WHERE age > {}"), ["30", "31", "9", "100"]),
        (BY_DEPARTMENT.format("people WHERE {}age > 30"), ["", "", "", "  ", "/* {} */ "]),
        (BY_DEPARTMENT.format("adults WHERE age > {}"), ["30", "31", "19", "100"]),
        (BY_DEPARTMENT.format('"people" WHERE age > {}'), ["30", "31", "9", "100"]),
        # Two releases ask for the same only if a constant is what the other one has.
        (TWICE, ["31", "32", "30", "33"]),
        # It is the same written as another number, too.
        (TWICE.replace("30", "30.0"), ["31", "32", "30", "33"]),
        (TWICE, ["31.0", "32.0", "30.0", "33.0"]),
        # A union reads the column that is compared: which wards are listed follows of both sides.
        (BY_WARD, ["b", "d", "a", "c"]),
    ],
)
def test_of_one_shape_each_is_what_it_is_by_itself(
    schema: Path, statement: str, constants: list[str]
) -> None:
    read = load_schema(schema)
    with (
        closing(Session(read, epsilon="1/10")) as session,
        closing(Session(read, epsilon="1/10")) as alone,
    ):
        for constant in constants:
            text = statement.format(constant)
            forget(alone)
            assert outcome(session, text) == outcome(alone, text), text


def test_releases_that_read_the_same_rows_by_a_constant_are_made_to_add_up(schema: Path) -> None:
    with closing(Session(schema, epsilon="1/10")) as session:
        for constant in ["31", "32", "30", "33"]:
            compiled = session.compile(ADDED_UP.format(constant), CONSISTENT)
            assert bool(compiled.consistency.sums) == (constant == "30")
