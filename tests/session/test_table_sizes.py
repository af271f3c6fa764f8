"""What is public of a table's size: a least number of rows, and a number that it is resized to.

Answers are asked for with ε = 100, and noise is beyond what is allowed for with a probability below
10^-9, and so is chance in what a hash leaves out.
"""

from __future__ import annotations

from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest
from data.database import attached
from data.insertion import insert
from privacy.seeded import SeededRandomness

from dpsql.analysis.stability import contribution_stability
from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.emit.release.bounded_mean import of_all_rows
from dpsql.emit.sql.clauses import select_of
from dpsql.emit.sql.identifier import column_ref, table, with_alias
from dpsql.errors import Refused
from dpsql.plan.bounded_release.bounded_release import Contributions
from dpsql.plan.bounded_release.statistic import BoundedMean, Discretized
from dpsql.plan.expression import Column
from dpsql.plan.operator import Join, Scan
from dpsql.schema.load.load import load_schema
from dpsql.schema.model import RowUnit, Table
from dpsql.schema.policy_diff import policy_relaxations
from dpsql.schema.sql_type import BIGINT, Double
from dpsql.session.session import Session
from dpsql.structs import replace

SCHEMA = """
dataset: sizes
source: {source}
tables:
  homes:
    unit: row
    {size}
    columns:
      x: {{type: double, bounds: [0, 100], nullable: false}}
      kind: {{type: varchar, values: [a, b], nullable: false}}
      y: {{type: integer, bounds: [0, 100], nullable: false}}
      z: {{type: integer, bounds: [0, 9]}}
budget: {{epsilon: 500, allow_large_epsilon: true}}
per_query: {{epsilon: 100}}
"""


def opened(folder: Path, size: str, rows: str, seed: str = "sizes") -> Session:
    source = folder / "homes.duckdb"
    with attached(source) as connection:
        connection.execute(
            "CREATE OR REPLACE TABLE homes AS"
            " SELECT x::DOUBLE AS x, kind, (x % 100)::INT AS y, 5 AS z FROM"
            f" ({rows}) AS v(x, kind)"
        )
    path = folder / "schema.yaml"
    path.write_text(SCHEMA.format(source=source, size=size))
    return Session(path, randomness=SeededRandomness(seed))


def answered(session: Session, sql: str) -> list[float]:
    return [column.to_pylist()[0] for column in session.query(sql).table.columns]


def change(session: Session, sql: str) -> Fraction:
    """What a unit changes in the answer's only statistic, in its own measure."""
    (release,) = session.compile(sql).releases
    (statistic,) = release.step.bounded.contributions.statistics
    return release.sensitivity.per_group[0] * statistic.step


FEW = "SELECT 30 + i % 21, 'a' FROM range(60) AS t(i)"


def test_the_mean_of_many_rows_has_the_sensitivity_of_one_more_than_the_least_number(
    tmp_path: Path,
) -> None:
    """[0, 100] and 50 rows at least: 100/51 = 1.9608, as the document has it."""
    with closing(opened(tmp_path, "at_least: 50", FEW)) as session:
        assert change(session, "SELECT avg(y) FROM homes") == Fraction(100, 51)
        mean = sum(30 + i % 21 for i in range(60)) / 60
        assert answered(session, "SELECT avg(x) FROM homes") == [pytest.approx(mean, abs=1)]


@pytest.mark.parametrize("rows", [1, 2, 3, 7])
@pytest.mark.parametrize("width", [1, 2, 3, 10])
def test_no_row_moves_a_mean_further_than_is_derived(rows: int, width: int) -> None:
    """All sums that n values of the interval can have, in the SQL that runs, for n up to 12."""
    value = Discretized(Column(1, "x", BIGINT), Fraction(1), 0, width, width // 2)
    low, high = value.low - value.center, value.high - value.center
    sums = [(total, n) for n in range(13) for total in range(n * low, n * high + 1)]
    mean = with_alias(of_all_rows(column_ref("total"), column_ref("n"), rows), "mean")
    sql = rendered(select_of([column_ref("total"), column_ref("n"), mean], table("sums")))
    with attached() as connection:
        connection.execute("CREATE TABLE sums (total HUGEINT, n BIGINT)")
        insert(connection, "sums", sums)
        means = {(total, n): int(z) for total, n, z in connection.sql(sql).fetchall()}
    moved = [
        abs(means[total, n] - means[total + y, n + 1])
        for total, n in sums
        for y in range(low, high + 1)
        if n < 12
    ]
    assert 0 < max(moved) <= BoundedMean(value, rows).change


def test_fewer_rows_than_declared_are_taken_for_as_many(tmp_path: Path) -> None:
    """Of 60 rows with a mean of 39.7, of 300 at least: (60·(39.7 - 50))/300 below 50."""
    with closing(opened(tmp_path, "at_least: 300", FEW)) as session:
        mean = sum(30 + i % 21 for i in range(60)) / 60
        below = 50 + 60 * (mean - 50) / 300
        assert answered(session, "SELECT avg(x) FROM homes") == [pytest.approx(below, abs=0.3)]


@pytest.mark.parametrize(
    "asked", ["avg(x) FILTER (x > 1)", "avg(z)", "avg(DISTINCT y)", "sum(x) / count(*)"]
)
def test_other_means_are_those_of_a_sum_and_a_count(tmp_path: Path, asked: str) -> None:
    with closing(opened(tmp_path, "at_least: 50", FEW)) as session:
        (release,) = session.compile(f"SELECT {asked} FROM homes").releases
        assert len(release.step.bounded.contributions.statistics) == 2


MANY = "SELECT i % 50, CASE WHEN i % 50 < 10 THEN 'a' ELSE 'b' END FROM range(20000) AS t(i)"


def test_of_more_rows_a_random_part_is_left(tmp_path: Path) -> None:
    """Of 5,000 of 20,000 rows a fifth is of kind a: 1,000 of a deviation of 24.5."""
    with closing(opened(tmp_path, "resize: 5000", MANY)) as session:
        assert answered(session, "SELECT count(*) FROM homes") == [5000]
        counts = session.query("SELECT count(*) FROM homes GROUP BY kind ORDER BY kind").table
        first, second = counts.column(0).to_pylist()
        assert first == pytest.approx(1000, abs=150)
        assert first + second == pytest.approx(5000, abs=3)
        # 14.4 is the deviation of a row, and 0.2 that of the mean of 5,000.
        assert answered(session, "SELECT avg(x) FROM homes") == [pytest.approx(24.5, abs=1.3)]


def test_equal_rows_are_left_out_one_by_one(tmp_path: Path) -> None:
    """Rows of a kind have no name: kept or left out together, there would be one kind alone."""
    rows = "SELECT 7, CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END FROM range(20000) AS t(i)"
    with closing(opened(tmp_path, "resize: 5000", rows)) as session:
        counts = session.query("SELECT count(*) FROM homes GROUP BY kind ORDER BY kind").table
        assert counts.column(0).to_pylist() == [pytest.approx(2500, abs=250)] * 2


def test_for_missing_rows_stand_rows_of_the_middle(tmp_path: Path) -> None:
    with closing(opened(tmp_path, "resize: 120", FEW)) as session:
        mean = sum(30 + i % 21 for i in range(60)) / 60
        padded = (mean + 50) / 2
        assert answered(session, "SELECT avg(x) FROM homes") == [pytest.approx(padded, abs=0.3)]
        assert answered(session, "SELECT sum(x) FROM homes") == [
            pytest.approx(120 * padded, abs=30)
        ]
        assert answered(session, "SELECT count(*) FROM homes WHERE x < 200") == [
            pytest.approx(60, abs=3)
        ]


def test_a_number_made_public_costs_nothing_and_every_other_distance_doubles(
    tmp_path: Path,
) -> None:
    with closing(opened(tmp_path, "resize: 120", FEW)) as session:
        assert session.query("SELECT count(*) FROM homes").privacy.loss is None
        assert change(session, "SELECT count(*) FROM homes WHERE x > 3") == 2
        assert change(session, "SELECT sum(y) FROM homes WHERE x > 3") == 200
        (release,) = session.compile("SELECT avg(x) FROM homes").releases
        (bound,) = release.sensitivity.per_group
        (statistic,) = release.step.bounded.contributions.statistics
        assert bound * statistic.step / 120 == Fraction(100, 120)


def test_a_resized_table_is_read_once(tmp_path: Path) -> None:
    del tmp_path
    there, columns = Table("t", {}, RowUnit(), resized=5), (Column(1, "x", Double()),)
    one, other = (Scan(there, columns, Column(n, "u", BIGINT)) for n in (2, 3))
    assert contribution_stability(Contributions(one, (), (), ()), 1).count == 2
    with pytest.raises(Refused, match="t is resized, and its rows are read beside others"):
        contribution_stability(Contributions(Join((one, other), ()), (), (), ()), 1)
    plain = replace(one, table=replace(there, resized=None))
    with pytest.raises(Refused, match="is resized"):
        contribution_stability(Contributions(Join((plain, other), ()), (), (), ()), 1)


def test_sizes_are_agreed_to_by_the_owner(tmp_path: Path) -> None:
    opened(tmp_path, "at_least: 50", FEW).close()
    path = tmp_path / "schema.yaml"
    text = path.read_text()

    def relaxations(old: str, new: str) -> list[str]:
        policies = []
        for size in (old, new):
            path.write_text(text.replace("at_least: 50", size))
            policies.append(load_schema(path).policy)
        return [line for line in policy_relaxations(*policies) if "homes" in line]

    assert relaxations("at_least: 50", "at_least: 51") == ["at_least of homes was 50, now 51"]
    assert relaxations("", "at_least: 50") == ["at_least of homes was none, now 50"]
    assert relaxations("at_least: 50", "at_least: 49") == []
    assert relaxations("resize: 50", "resize: 51") == ["resize of homes was 50, now 51"]
    assert relaxations("resize: 50", "") == ["resize of homes was 50, now none"]
    assert relaxations("", "resize: 50") == []
