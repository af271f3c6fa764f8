"""A gdp ledger from the schema to the last query that fits."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from narrowed import number

import dpsql
from dpsql.errors import BadParameter, BudgetSpent, Error, SchemaFault
from dpsql.privacy.accounting.gdp_conversion import delta_of_mu_squared
from dpsql.privacy.accounting.pure_conversion import mu_squared_of_range
from dpsql.privacy.mechanisms.noise.correlated import CorrelatedNoise
from dpsql.privacy.mechanisms.noise.rounded import RoundedNoise
from dpsql.privacy.mechanisms.noise.rounded_gaussian import RoundedGaussian
from dpsql.release.calibration import Measurement
from dpsql.release.selection_mechanism import ModeMechanism
from dpsql.schema.load.load import load_schema
from dpsql.session.compile.loss_conversion import ledger_terms
from dpsql.session.ladders.stored_ladders import _encoded_noise, _noise
from dpsql.session.options import QueryOptions
from dpsql.session.session import Session

SCHEMA = """\
dataset: readers
source: data
ledger: ledger.sqlite
version: 1
units: {reader: {table: readers, key: id}}
tables:
  readers:
    unit: reader
    key: id
    columns:
      id: {type: bigint}
      age: {type: integer, bounds: [0, 100]}
      town: {type: varchar}
      branch: {type: varchar, values: [a, b, c, d]}
  loans:
    unit: {column: reader, references: readers.id}
    limits: {groups: 4, rows_per_group: 1}
    columns:
      reader: {type: bigint}
      genre: {type: varchar, values: [w, x, y, z], nullable: false}
      fee: {type: integer, bounds: [0, 100]}
RELATION
budget: {epsilon: 2, delta: 1.0e-6, accounting: gdp}
per_query: {epsilon: 1, max_epsilon: 2}
"""

Opened = Callable[..., Path]
DELTA = Fraction(1, 10**6)


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    """Writes a schema and its data, and gives its path."""

    def write(relation: str = "", readers: int = 400, change: tuple[str, str] = ("", "")) -> Path:
        data = tmp_path / "data"
        data.mkdir(exist_ok=True)
        ids = list(range(readers))
        columns = {
            "id": pa.array(ids, pa.int64()),
            "age": pa.array([n % 90 for n in ids], pa.int32()),
            "town": pa.array([f"t{n % 2}" for n in ids], pa.string()),
            "branch": pa.array(["abcd"[n % 3] for n in ids], pa.string()),
        }
        pq.write_table(pa.table(columns), data / "readers.parquet")
        loans = {
            "reader": columns["id"],
            "genre": pa.array(["wxyz"[n % 4] for n in ids], pa.string()),
            "fee": columns["age"],
        }
        pq.write_table(pa.table(loans), data / "loans.parquet")
        path = tmp_path / "schema.yaml"
        text = SCHEMA.replace("RELATION", relation)
        path.write_text(text.replace(*change) if change[0] else text)
        return path

    return write


def measured(path: Path, sql: str, epsilon: Fraction = Fraction(1)) -> Measurement:
    session = Session(path)
    (release,) = session.compile(sql, QueryOptions(epsilon)).releases
    session.close()
    return release.step.measurement


def test_all_that_can_be_spent_is_the_promise(opened: Opened) -> None:
    cap = ledger_terms(load_schema(opened())).cap
    spent = delta_of_mu_squared(cap.amount, Fraction(2)) + cap.delta
    assert DELTA * Fraction(999_999, 1_000_000) < spent <= DELTA


def test_a_count_has_the_noise_of_its_mu(opened: Opened) -> None:
    made = measured(opened(), "SELECT count(*) FROM readers")
    (noise,) = made.mechanisms
    assert isinstance(noise, RoundedGaussian)
    # Neighbours' counts differ by 1.
    assert made.loss.amount == 1 / noise.normal_variance
    assert delta_of_mu_squared(made.loss.amount, Fraction(1)) <= DELTA * Fraction(9, 10)
    assert made.loss.delta == 0


def test_keys_are_chosen_at_a_delta_that_is_charged(opened: Opened) -> None:
    made = measured(opened(), "SELECT town, count(*) FROM readers GROUP BY town")
    (noise,) = made.mechanisms
    assert isinstance(noise, RoundedGaussian)
    assert made.threshold is not None
    # A group of one reader alone shows with the charged δ at most, and it isn't 0.
    assert 0 < noise.tail(made.threshold - 1) <= made.loss.delta <= DELTA / 10


@pytest.mark.parametrize("units", [2, 3])
def test_groups_of_readers_have_so_many_times_the_noise(opened: Opened, units: int) -> None:
    (noise,) = measured(opened(f"group_size: {units}"), "SELECT count(*) FROM readers").mechanisms
    (one,) = measured(opened(), "SELECT count(*) FROM readers").mechanisms
    assert float(noise.variance - Fraction(1, 12)) == pytest.approx(
        units**2 * float(one.variance - Fraction(1, 12)), rel=1e-4
    )


def test_replaced_readers_have_noise_in_two_groups(opened: Opened) -> None:
    sql = "SELECT town, count(*) FROM readers GROUP BY town"
    made = measured(opened("neighbors: change_one"), sql)
    (noise,) = made.mechanisms
    assert isinstance(noise, RoundedGaussian)
    assert made.loss.amount == 2 / noise.normal_variance


def test_noise_with_a_shared_part_loses_twice_its_rho(opened: Opened) -> None:
    made = measured(opened(), "SELECT genre, count(*) FROM loans GROUP BY genre")
    (noise,) = made.mechanisms
    assert isinstance(noise, CorrelatedNoise)
    assert noise.law.is_rounded
    assert made.loss.amount == 2 * noise.law.rho([1])


def test_scaled_units_have_noise_on_parts(opened: Opened) -> None:
    path = opened(change=("groups: 4,", "groups: 2, over_groups: scale,"))
    made = measured(path, "SELECT genre, sum(fee) FROM loans GROUP BY genre")
    (noise,) = made.mechanisms
    assert isinstance(noise, RoundedNoise)
    assert isinstance(noise.fine, RoundedGaussian)


def test_choices_are_charged_by_their_range(opened: Opened) -> None:
    made = measured(opened(), "SELECT mode(branch) FROM readers")
    (chooser,) = made.choosers
    assert isinstance(chooser, ModeMechanism)
    assert made.loss.amount == mu_squared_of_range(chooser.mechanism.epsilon)


def test_answers_are_charged_until_no_more_fits(opened: Opened) -> None:
    path = opened()
    spent = Fraction(0)
    with dpsql.connect(path, epsilon=1) as connection:
        for age in range(100):
            sql = f"SELECT count(*) FROM readers WHERE age < {age}"
            try:
                cursor = connection.execute(sql)
            except BudgetSpent:
                break
            assert cursor.privacy is not None
            assert cursor.privacy.loss is not None
            spent += cursor.privacy.loss.amount
        cap = ledger_terms(load_schema(path)).cap.amount
        one = measured(path, "SELECT count(*) FROM readers").loss.amount
        assert cap - one < spent <= cap
        with pytest.raises(BudgetSpent, match="dataset μ²"):
            connection.execute("SELECT sum(age) FROM readers")
        # Given again, it is the same, and free.
        again = connection.execute("SELECT count(*) FROM readers WHERE age < 1")
        assert again.privacy is not None
        assert again.privacy.stored
        assert connection.budget.dataset.epsilon_spent <= 2
        assert connection.budget.queries_left == 0
        columns = connection.execute("SHOW dpsql.budget").fetchall()
        assert {row[-1] for row in columns} == {"mu squared"}


def test_an_empty_table_is_answered_and_charged(opened: Opened) -> None:
    with dpsql.connect(opened(readers=0)) as connection:
        cursor = connection.execute("SELECT town, count(*) FROM readers GROUP BY town")
        assert cursor.fetchall() == []
        ((count,),) = connection.execute("SELECT count(*) FROM readers").fetchall()
        assert abs(number(count)) < 60  # 14 deviations


def test_explain_tells_mu_and_the_delta_of_keys(opened: Opened) -> None:
    with dpsql.connect(opened()) as connection:
        sql = "EXPLAIN PRIVACY SELECT town, count(*) FROM readers GROUP BY town"
        text = "\n".join(str(line) for (line,) in connection.execute(sql).fetchall())
        assert "(mu = 0.23" in text
        assert "for the choice of keys, in a gdp ledger" in text
        assert "rounded gaussian" in text


def test_ladders_are_drawn_and_read_again(opened: Opened) -> None:
    path = opened(change=("limits: {groups: 4, rows_per_group: 1}", "limits: calibrated"))
    with dpsql.connect(path) as connection:
        connection.execute("CALIBRATE loans FOR 1")
        assert len(connection.execute("SELECT count(*) FROM loans").fetchall()) == 1
    noise = RoundedGaussian(Fraction(7, 3))
    name, parameter = _encoded_noise(noise)
    assert _noise(name, Fraction(parameter)) == noise


def test_a_synopsis_is_within_its_epsilon(opened: Opened) -> None:
    with dpsql.connect(opened()) as connection:
        asked = "CREATE SYNOPSIS shelf ON SELECT branch, age FROM readers"
        connection.execute(f"{asked} WITH (epsilon = 1, rounds = 3)")
        assert connection.budget.dataset.epsilon_spent <= 1


def test_the_accounting_of_a_ledger_stays(opened: Opened) -> None:
    with dpsql.connect(opened()) as connection:
        connection.execute("SELECT count(*) FROM readers")
    with pytest.raises(Error, match="accounting is gdp, not zcdp"):
        dpsql.connect(opened(change=("accounting: gdp", "accounting: zcdp"))).execute(
            "SELECT count(*) FROM readers"
        )


@pytest.mark.parametrize(
    ("change", "fix"),
    [
        (("delta: 1.0e-6, ", ""), "gdp needs a delta above 0"),
        (("max_epsilon: 2", "max_epsilon: 2, delta: 1.1e-7"), "write 1e-07 or less"),
        (("accounting: gdp", "accounting: gdp, sample: 0.1"), "no bound of gdp is known"),
        (("accounting: gdp", "accounting: GDP"), "gdp"),
    ],
)
def test_budgets_that_no_gdp_ledger_has_are_refused(
    opened: Opened, change: tuple[str, str], fix: str
) -> None:
    with pytest.raises(SchemaFault) as refused:
        load_schema(opened(change=change))
    assert fix in str(refused.value)


def test_the_fixes_run(opened: Opened) -> None:
    path = opened(change=("max_epsilon: 2", "max_epsilon: 2, delta: 1e-07"))
    assert measured(path, "SELECT town FROM readers GROUP BY town").loss.delta == DELTA / 10


@pytest.mark.parametrize("epsilon", ["1e-6", "2"])
def test_the_least_and_the_most_can_be_asked_for(opened: Opened, epsilon: str) -> None:
    made = measured(opened(), "SELECT sum(age), median(age) FROM readers", Fraction(epsilon))
    cap = ledger_terms(load_schema(opened())).cap.amount
    assert 0 < made.loss.amount <= cap
    with pytest.raises(BadParameter):
        measured(opened(), "SELECT count(*) FROM readers", Fraction(3))
    assert math.isfinite(float(made.mechanisms[0].variance))
