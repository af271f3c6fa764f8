"""What DuckDB takes an outer join's number of rows to be changes no LIMIT and no sum.

It takes the join to have as many rows as its sides multiplied: none, where statistics say that no
row of a side meets its conditions, though each row of the other side is still there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
from data.database import attached

from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.emit.dialect.row_estimate import Unestimated
from dpsql.emit.sql.identifier import column_ref
from dpsql.session.session import Session

pytestmark = pytest.mark.bounds

SCHEMA = """\
dataset: clinic
source: clinic.duckdb
units: {patient: {table: patients, key: id}}
tables:
  patients:
    key: id
    unit: patient
    columns:
      id: {type: bigint}
      paid: {type: "decimal(18,2)", bounds: [0, 9000000000000000]}
  visits:
    unit: {column: patient, references: patients.id}
    limits: {groups: 1, rows_per_group: 1}
    columns:
      patient: {type: bigint}
      ward: {type: integer}
      points: {type: bigint, bounds: [0, 9000000000000000000]}
  doctors: {public: true}
  regions: {public: true}
budget: {epsilon: 64, accounting: pure}
per_query: {epsilon: 1}
"""

NO_REGION = "LEFT JOIN (SELECT region FROM regions WHERE region > 9) AS r"
JOINS = [
    f"doctors {NO_REGION} ON TRUE",
    f"doctors {NO_REGION} ON region = doctor",
    "doctors FULL JOIN (SELECT region FROM regions WHERE region > 9) AS r ON region = doctor",
    "(SELECT region FROM regions WHERE region > 9) AS r RIGHT JOIN doctors ON region = doctor",
]

PATIENTS = 4_000


def fill(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute(
        "CREATE TABLE patients AS SELECT i AS id, 9000000000000000::DECIMAL(18,2) AS paid"
        f" FROM range({PATIENTS}) r(i)"
    )
    connection.execute(
        "CREATE TABLE visits AS SELECT i // 2 AS patient, 1 AS ward, 9000000000000000000 AS points"
        f" FROM range({2 * PATIENTS}) r(i)"
    )
    connection.execute("CREATE TABLE doctors AS SELECT i::INTEGER AS doctor FROM range(4) r(i)")
    connection.execute("CREATE TABLE regions AS SELECT i::INTEGER AS region FROM range(3) r(i)")


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with attached(tmp_path / "clinic.duckdb") as connection:
        fill(connection)
    (tmp_path / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    with closing(Session(tmp_path / "schema.yaml")) as session:
        yield session


def test_duckdb_leaves_a_limit_out_and_sums_past_64_bits() -> None:
    """Which is why neither is written so; once it does neither, both may be."""
    total = "SELECT sum({}) FROM patients AS t " + NO_REGION + " ON region = id"
    guarded = rendered(Unestimated(expression=column_ref("paid", "t")))
    with attached() as connection:
        fill(connection)
        some = connection.execute(f"SELECT doctor FROM {JOINS[1]} LIMIT 1").fetchall()
        assert len(some) == 4
        sums = [connection.execute(total.format(term)).fetchall() for term in ("paid", guarded)]
    assert sums[0][0][0] < 10**18
    assert sums[1][0][0] == PATIENTS * 9 * 10**15


@pytest.mark.parametrize("join", JOINS)
def test_a_limit_of_one_row_holds_whatever_a_join_is_taken_to_have(
    session: Session, join: str
) -> None:
    # Each patient meets one row, and is in one group: in four, four times as much would change.
    one = f"(SELECT doctor FROM {join} LIMIT 1) AS d"
    answer = session.query(f"SELECT doctor, count(*) FROM patients, {one} GROUP BY 1")
    assert answer.table.num_rows == 1
    assert session.query(f"SELECT doctor FROM {join} LIMIT 1").table.num_rows == 1
    of_each = "SELECT doctor, count(*) AS n FROM patients, doctors GROUP BY 1"
    above = f"SELECT d.doctor, n FROM ({of_each}) AS d {NO_REGION} ON region = d.doctor LIMIT 3"
    assert session.query(above).table.num_rows == 3


def test_sums_over_outer_joins_are_guarded(session: Session) -> None:
    joined = session.compile(f"SELECT sum(paid) FROM patients {NO_REGION} ON region = id")
    alone = session.compile("SELECT sum(paid) FROM patients")
    texts = [compiled.releases[0].step.query.sql for compiled in (joined, alone)]
    assert ["SUM(TRY(s0))" in text for text in texts] == [True, False]


BESIDE = (
    f"visits AS v LEFT JOIN (SELECT id FROM patients WHERE id >= {PATIENTS}) AS p"
    " ON v.patient = p.id"
)
"""No patient meets the condition; that the statistics say so ends with one more who does."""


OF_ANOTHER = (
    f"SELECT q.id AS patient, (SELECT sum(points) FROM {BESIDE} WHERE v.patient = q.id) AS s"
    " FROM patients AS q"
)


@pytest.mark.parametrize("by", ["", " GROUP BY ward"])
def test_sums_of_a_unit_in_a_group_are_guarded(session: Session, tmp_path: Path, by: str) -> None:
    # Of 11,000 rows of one unit in a group, all of the largest of a grid's steps, 2^63 is exceeded.
    session.close()
    path = tmp_path / "approx.yaml"
    approx = SCHEMA.replace("accounting: pure", "accounting: approx, delta: 1.0e-6")
    path.write_text(approx.replace("per_query: {", "per_query: {delta: 1.0e-9, "), encoding="utf-8")
    with closing(Session(path)) as of_approx:
        (release,) = of_approx.compile(f"SELECT sum(points) FROM {BESIDE}{by}").releases
    step = release.step
    texts = [step.query.sql, *([step.cached_sums.sums] if step.cached_sums else [])]
    assert len(texts) == (2 if by else 1)
    assert all("SUM(TRY(CASE" in text for text in texts)


@pytest.mark.parametrize(
    "sums",
    [
        f"SELECT v.patient, sum(points) AS s FROM {BESIDE} GROUP BY v.patient",
        f"SELECT v.patient, avg(points) AS s FROM {BESIDE} GROUP BY v.patient",
        f"SELECT v.patient, sum(points) OVER (PARTITION BY v.patient) AS s FROM {BESIDE}",
        OF_ANOTHER,
    ],
)
def test_a_units_sum_is_the_same_whoever_else_there_is(session: Session, sums: str) -> None:
    # A patient more, who meets the condition, and the sums of all others would not be below 0: the
    # count changed by 4,000. Noise of scale 1 moves it by half of that with a chance of e^-2000.
    answer = session.query(f"SELECT count(DISTINCT patient) FROM ({sums}) AS t WHERE s > 0")
    (count,) = answer.table.to_pylist()[0].values()
    assert abs(count - PATIENTS) < PATIENTS / 2


def test_a_sum_over_an_outer_join_is_that_of_its_values(session: Session) -> None:
    # Of 64 rows of a patient, noise has a scale of 5.8·10¹⁷, and moves the total by half of it with
    # a chance of e^-31.
    sql = f"SELECT sum(paid) FROM patients {NO_REGION} ON region = id"
    (row,) = session.query(sql).table.to_pylist()
    (total,) = row.values()
    paid = PATIENTS * 9 * 10**15
    assert abs(total - paid) < paid / 2
