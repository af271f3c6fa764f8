"""Suggested bounds aim at the error of a sum, at any price, of any rows.

Each run has a ledger and a seed of its own. More than half of 11 runs have to agree, where one
fails by chance with a probability of at most 0.05: six do with one of 6e-6, and in one of the seven
comparisons with 4e-5. The seeds are fixed, so that none does from one run of the tests to another.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest
from data.database import attached
from privacy.seeded import SeededRandomness

import dpsql
from dpsql.cli.demo.datasets import Dataset, draw
from dpsql.schema.load.load import load_schema
from dpsql.session.answer.answer import Answer
from dpsql.session.options import DEFAULT_OPTIONS, QueryOptions
from dpsql.session.session import Session
from dpsql.structs import replace

TABLES = """\
dataset: {name}
source: {source}
units: {{owner: {{table: owners, key: owner}}}}
{relation}
tables:
  owners: {{key: owner, unit: owner, columns: {{owner: {{type: bigint}}}}}}
  shops:
    unit: row
    columns:
      income: {{type: "decimal(14,2)", bounds: [0, 1000000000]}}
      even: {{type: integer}}
      signed: {{type: integer}}
      below: {{type: integer, bounds: [-100, 0]}}
      odd: {{type: double}}
      mixed: {{type: double}}
  branches:
    unit: {{column: owner, references: owners.owner}}
    columns:
      owner: {{type: bigint}}
      income: {{type: "decimal(14,2)", bounds: [0, 1000000000]}}
      size: {{type: integer}}
  none:
    unit: row
    columns: {{x: {{type: double}}}}
  nobody:
    unit: {{column: owner, references: owners.owner}}
    columns: {{owner: {{type: bigint}}, x: {{type: integer}}}}
budget: {{epsilon: 40, delta: {delta}, accounting: {accounting}}}
per_query: {{epsilon: 1, max_epsilon: 20}}
"""

SHOPS = """
CREATE TABLE shops AS SELECT income,
  1 + i % 40 AS even, i % 81 - 40 AS signed, -(i % 41) AS below,
  CASE i % 4 WHEN 0 THEN 'nan'::DOUBLE WHEN 1 THEN 'infinity'::DOUBLE WHEN 2 THEN -1e300 END AS odd,
  CASE WHEN i % 2 = 0 THEN 0.3 WHEN i % 4 = 1 THEN 1e-200 ELSE 'nan'::DOUBLE END AS mixed
FROM (SELECT income, (row_number() OVER ())::INT AS i FROM incomes);
CREATE TABLE owners AS SELECT i::BIGINT AS owner FROM range(60000) t(i);
CREATE TABLE branches AS
  SELECT i % 50000 AS owner, income, 1 + i % 7 AS size
  FROM (SELECT income, (row_number() OVER ())::INT AS i FROM incomes);
CREATE TABLE none (x DOUBLE);
CREATE TABLE nobody (owner BIGINT, x INTEGER);
"""

RUNS = 11
Suggested = tuple[float | None, float | None, float | None]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Incomes that are log-normal(10, 2), of 100,413 shops, or of 50,000 owners with branches."""
    path = tmp_path_factory.mktemp("shops") / "shops.duckdb"
    with attached(path) as connection:
        connection.register("incomes", pa.table({"income": draw(Dataset.BUSINESSES, 1)["income"]}))
        connection.execute(SHOPS)
    return path


@pytest.fixture(autouse=True)
def ledgers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSQL_STATE", str(tmp_path / "state"))


def schema_path(
    source: Path, folder: Path, name: str, accounting: str = "pure", relation: str = ""
) -> Path:
    delta = "0" if accounting == "pure" else "1.0e-6"
    path = folder / f"{name}.yaml"
    path.write_text(
        TABLES.format(
            name=name, source=source, relation=relation, delta=delta, accounting=accounting
        ),
        encoding="utf-8",
    )
    return path


def opened(
    source: Path, folder: Path, name: str, accounting: str = "pure", relation: str = ""
) -> Session:
    path = schema_path(source, folder, name, accounting, relation)
    return Session(load_schema(path), epsilon=1, randomness=SeededRandomness(name))


def sessions(source: Path, folder: Path) -> Iterator[Session]:
    for run in range(RUNS):
        with closing(opened(source, folder, f"run{run}")) as session:
            yield session


def suggested(
    session: Session, column: str, table: str, options: QueryOptions = DEFAULT_OPTIONS
) -> Suggested:
    answer = session.query(f"SUGGEST BOUNDS {column} FROM {table}", options)
    low, high, rows = (column[0].as_py() for column in answer.table.columns[1:])
    return low, high, rows


def only_number(answer: Answer) -> float:
    (column,) = answer.table.columns
    return float(column[0].as_py())


def test_a_sum_of_skewed_incomes_is_within_the_suggestion_and_its_noise(
    source: Path, tmp_path: Path
) -> None:
    """A run fails with 0.031: the exact clipped sum and its noise were simulated 4,000 times."""
    with attached(source, read_only=True) as connection:
        ((true,),) = connection.execute("SELECT sum(income) FROM shops").fetchall()
    errors = []
    for session in sessions(source, tmp_path):
        low, high, rows = suggested(session, "income", "shops")
        assert (low, rows) == (0, 1)
        assert high is not None
        total = session.query(f"SELECT sum(least(income, {high:.0f})) FROM shops")
        errors.append(abs(only_number(total) / float(true) - 1))
    assert sorted(errors)[RUNS // 2] < 0.025


def test_evenly_spread_values_have_their_power_of_two(source: Path, tmp_path: Path) -> None:
    """A run has twice the bound, on one side, with 0.026; so has one of the 413 owners' 4 rows."""
    signed, sizes = [], []
    for session in sessions(source, tmp_path):
        signed.append(suggested(session, "signed", "shops"))
        sizes.append(suggested(session, "size", "branches"))
    for side, true in enumerate((-64, 64, 1)):
        assert [each[side] for each in signed].count(true) > RUNS // 2
    for side, true in enumerate((0, 8, 4)):
        assert [each[side] for each in sizes].count(true) > RUNS // 2


@pytest.mark.parametrize("accounting", ["approx", "zcdp", "gdp"])
def test_every_accounting_has_suggestions(source: Path, tmp_path: Path, accounting: str) -> None:
    with closing(opened(source, tmp_path, accounting, accounting)) as session:
        low, high, rows = suggested(session, "income", "shops")
        assert (low, rows) == (0, 1)
        assert high is not None
        assert 2**24 <= high <= 2**28
        assert suggested(session, "even", "shops")[1] in {64, 128}
        low, high, rows = suggested(session, "below", "shops")
        assert low in {-64, -128}
        assert (high, rows) == (0, 1)


@pytest.mark.parametrize("relation", ["neighbors: change_one", "group_size: 3"])
def test_wider_neighbours_have_suggestions(source: Path, tmp_path: Path, relation: str) -> None:
    with closing(opened(source, tmp_path, "wider", relation=relation)) as session:
        low, high, rows = suggested(session, "income", "shops")
        assert (low, rows) == (0, 1)
        assert high is not None
        assert 2**22 <= high <= 2**28
        assert suggested(session, "size", "branches")[1] in {8, 16}


@pytest.mark.parametrize("epsilon", ["0.001", "0.1", "9", "20"])
def test_no_rows_have_no_bounds(source: Path, tmp_path: Path, epsilon: str) -> None:
    """Noise alone is taken for rows with 2e-4, and with this seed it isn't."""
    options = replace(DEFAULT_OPTIONS, epsilon=Fraction(epsilon))
    with closing(opened(source, tmp_path, "empty")) as session:
        assert suggested(session, "x", "none", options) == (None, None, 1)
        assert suggested(session, "x", "nobody", options) == (None, None, None)


def test_too_few_units_for_the_noise_are_told_as_none(source: Path, tmp_path: Path) -> None:
    """Noise of the scale 10^5 is taken for a cell of units with 1e-4, and with this seed isn't."""
    options = replace(DEFAULT_OPTIONS, epsilon=Fraction("0.00001"))
    with closing(opened(source, tmp_path, "few")) as session:
        assert suggested(session, "even", "shops", options) == (None, None, 1)


def test_what_is_no_number_has_no_bound(source: Path, tmp_path: Path) -> None:
    """NaN, infinities, NULL and what lies beyond the grid have no code; the smallest have one."""
    with closing(opened(source, tmp_path, "odd")) as session:
        assert suggested(session, "odd", "shops") == (None, None, 1)
        assert suggested(session, "mixed", "shops") == (0, 0.5, 1)


@pytest.mark.parametrize(
    "option", ["min_units = 20", "nonnegative = on", "consistent = on", "reuse = on", "groups = 1"]
)
def test_settings_leave_suggestions_what_they_are(
    source: Path, tmp_path: Path, option: str
) -> None:
    """Cells that a setting hides are no part of what is reached."""
    with closing(dpsql.connect(schema_path(source, tmp_path, "set"))) as connection:
        connection.execute(f"SET dpsql.{option}")
        for table, column in (("shops", "income"), ("branches", "size")):
            ((_, low, high, _),) = connection.execute(
                f"SUGGEST BOUNDS {column} FROM {table}"
            ).fetchall()
            assert low == 0
            assert high in ({8, 16} if column == "size" else {2.0**k for k in range(24, 30)})


def test_a_suggestion_is_charged_once(source: Path, tmp_path: Path) -> None:
    with closing(opened(source, tmp_path, "once")) as session:
        before = session.balance().left
        first = suggested(session, "size", "branches")
        after = session.balance().left
        assert suggested(session, "size", "branches") == first
        assert session.balance().left == after
    assert before is not None
    assert after is not None
    assert before - after == 1
