"""Answers of a secret sample: who is in it, what is estimated, what it costs, what stays fixed.

Statistical tests fail by chance with a probability of at most 1 in 10^6 each.
"""

from __future__ import annotations

import math
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import click
import pyarrow as pa
import pytest
from data.database import attached
from privacy.seeded import SeededRandomness

from dpsql.bounding.options import ReleaseOptions
from dpsql.cli.ledger import amend
from dpsql.errors import BudgetSpent, LedgerFault, Refused, SourceFault
from dpsql.pgwire.answering.charged_budget import ChargedBudget
from dpsql.pgwire.limits import Limits
from dpsql.pgwire.shared_dataset import Dataset
from dpsql.report.sample_budget import sample_lines
from dpsql.schema.load.load import load_schema
from dpsql.schema.model import Schema
from dpsql.schema.policy_diff import policy_relaxations
from dpsql.session.ledger_access import with_sample_key
from dpsql.session.options import QueryOptions
from dpsql.session.run.execution import Execution
from dpsql.session.session import Session
from dpsql.session.sidecar import prepare_source
from dpsql.structs import replace

VOTERS = 4000

SCHEMA = """\
dataset: polls
source: polls.duckdb
units: {voter: {table: voters, key: voter_id}}
tables:
  voters:
    key: voter_id
    unit: voter
    limits: {groups: 1, rows_per_group: 1, rows: 1}
    columns:
      voter_id: {type: bigint}
      age: {type: integer, bounds: [18, 118], nullable: false}
      change: {type: integer, bounds: [-50, 50], nullable: false}
      sex: {type: varchar, values: [F, M], nullable: false}
  gifts:
    key: gift_id
    unit: {column: voter_id, references: voters.voter_id}
    limits: {groups: 2, rows_per_group: 2, rows: 2}
    columns:
      gift_id: {type: bigint}
      voter_id: {type: bigint}
      amount: {type: integer, bounds: [0, 10], nullable: false}
  receipts:
    unit: {column: gift_id, references: gifts.gift_id}
    limits: {groups: 2, rows_per_group: 2, rows: 2}
    columns: {gift_id: {type: bigint}}
  ballots: {unit: row, key: ballot_id, columns: {ballot_id: {type: bigint}}}
  towns: {public: true, columns: {name: {type: varchar}}}
budget: {epsilon: 40, accounting: pure, sample: 0.25}
"""

ROWS = f"""
CREATE TABLE voters AS SELECT i AS voter_id, (18 + i % 80)::INT AS age,
  (i % 101 - 50)::INT AS change, if(i % 4 = 0, 'F', 'M') AS sex FROM range({VOTERS}) t(i);
CREATE TABLE gifts AS SELECT i AS gift_id, i // 2 AS voter_id, (i % 11)::INT AS amount
  FROM range({2 * VOTERS}) t(i);
CREATE TABLE receipts AS SELECT i AS gift_id FROM range({2 * VOTERS}) t(i);
CREATE TABLE ballots AS SELECT i AS ballot_id FROM range({VOTERS}) t(i);
CREATE TABLE towns AS SELECT 'Bonn' AS name;
"""

ALL = (
    "SELECT count(*) AS voters, sum(age) AS ages, sum(change) AS changes FROM voters",
    "SELECT avg(age) AS age FROM voters",
    "SELECT count(*) AS gifts, sum(amount) AS amounts, avg(amount) AS amount FROM gifts",
    "SELECT count(DISTINCT voter_id) AS givers FROM gifts",
    "SELECT count(*) AS receipts FROM receipts",
    "SELECT count(*) AS ballots FROM ballots",
    "SELECT count(*) AS joined FROM gifts JOIN voters USING (voter_id) WHERE sex = 'F'",
)

TRUE = {
    "voters": VOTERS,
    "ages": sum(18 + i % 80 for i in range(VOTERS)),
    "changes": sum(i % 101 - 50 for i in range(VOTERS)),
    "age": sum(18 + i % 80 for i in range(VOTERS)) / VOTERS,
    "gifts": 2 * VOTERS,
    "amounts": sum(i % 11 for i in range(2 * VOTERS)),
    "givers": VOTERS,
    "amount": sum(i % 11 for i in range(2 * VOTERS)) / (2 * VOTERS),
    "receipts": 2 * VOTERS,
    "ballots": VOTERS,
    "joined": VOTERS // 2,
}


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DPSQL_STATE", str(tmp_path / "state"))
    with attached(tmp_path / "polls.duckdb") as connection:
        connection.execute(ROWS)
    schema = tmp_path / "schema.yaml"
    schema.write_text(SCHEMA, encoding="utf-8")
    return schema


def with_key(schema: Schema, seed: int) -> Schema:
    """The schema with a sample of its own, as another ledger's would be."""
    sample = schema.budget.sample
    assert sample is not None
    return replace(schema, budget=replace(schema.budget, sample=replace(sample, key=f"{seed:064}")))


def session_of(schema: Schema | Path, seed: str = "sample") -> Session:
    return Session(schema, randomness=SeededRandomness(seed))


def shown(session: Session, sql: str) -> dict[str, float]:
    answer = session.query(sql)
    values = (column.to_pylist()[0] for column in answer.table.columns)
    return {name: float(value) for name, value in zip(answer.names, values, strict=True)}


def read(execution: Execution, sql: str) -> set[object]:
    return set(execution.source().execute(sql).table.column(0).to_pylist())


def test_estimates_are_of_all_units_and_their_intervals_hold_the_sampling(path: Path) -> None:
    """Of 40 samples by other keys, in means within 6 deviations of the truth.

    Of 40 intervals of 95 % 12 or more miss with a probability of 10^-7, and these are wider: by the
    bounds that they take for sums of squares.
    """
    schema = load_schema(path)
    estimates: dict[str, list[float]] = {name: [] for name in TRUE}
    held = dict.fromkeys(TRUE, 0)
    for seed in range(40):
        keyed = with_key(schema, seed)
        ledger = path.with_name(f"ledger{seed}.db")
        own = replace(keyed, ledger=ledger, anchor=path.with_name(f"{seed}.anchor"))
        with closing(session_of(own, str(seed))) as session:
            for sql in ALL:
                answer = session.query(sql)
                columns = zip(answer.names, answer.table.columns, answer.half_widths, strict=True)
                for name, column, widths in columns:
                    value = float(column.to_pylist()[0])
                    estimates[name].append(value)
                    assert isinstance(widths, pa.Array), name
                    held[name] += abs(value - TRUE[name]) <= widths.to_pylist()[0]
    for name, values in estimates.items():
        mean = sum(values) / 40
        deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / 39)
        assert abs(mean - TRUE[name]) < 6 * deviation / math.sqrt(40), name
        assert held[name] >= 29, name
    # Other keys are other samples: a count of 4,000 has a deviation of √(4000·3) = 110.
    spread = {
        name: math.sqrt(sum((v - TRUE[name]) ** 2 for v in estimates[name]) / 40)
        for name in ("voters", "ballots")
    }
    assert all(70 < each < 160 for each in spread.values())


def test_the_stated_deviation_of_a_count_is_that_of_the_sample(path: Path) -> None:
    """Of one row a unit, nothing is bounded: √(N(1-q)/q), beside little noise."""
    with closing(session_of(path)) as session:
        row = shown(
            session,
            "SELECT count(*) AS n, dp_stddev(count(*)) AS s, dp_interval_low(count(*)) AS low"
            " FROM voters",
        )
        assert row["s"] == pytest.approx(math.sqrt(row["n"] * 3), rel=0.01)
        assert row["low"] == pytest.approx(row["n"] - 1.96 * row["s"], abs=2)


def test_every_table_has_the_rows_of_one_sample(path: Path) -> None:
    with closing(session_of(path)) as session:
        execution = session._context.execution
        voters = read(execution, "SELECT voter_id FROM voters")
        assert 0.2 * VOTERS < len(voters) < 0.3 * VOTERS
        assert read(execution, "SELECT voter_id FROM gifts") == voters
        assert read(execution, "SELECT gift_id // 2 FROM receipts") == voters
        assert read(execution, "SELECT name FROM towns") == {"Bonn"}


def test_the_sample_is_one_for_all_sessions_and_for_as_long_as_the_ledger_is(path: Path) -> None:
    samples = []
    for seed in ("one", "two"):
        with closing(session_of(path, seed)) as session:
            session.query("SELECT count(*) FROM voters")
            samples.append(read(session._context.execution, "SELECT voter_id FROM voters"))
    assert samples[0] == samples[1]
    (path.parent / "state" / "polls" / "ledger.db").unlink()
    (path.parent / "state" / "anchors" / "polls.anchor").unlink()
    with closing(session_of(path)) as session:
        session.query("SELECT count(*) FROM voters")
        assert read(session._context.execution, "SELECT voter_id FROM voters") != samples[0]


def test_the_budget_of_the_sample_is_what_all_units_were_promised(path: Path) -> None:
    """ln(1 + (e^ε - 1)/q) may be spent, to the last digit, and no more."""
    path.write_text(SCHEMA.replace("epsilon: 40", "epsilon: 1"), encoding="utf-8")
    schema = load_schema(path)
    assert float(schema.budget.epsilon) == pytest.approx(math.log(1 + (math.e - 1) / 0.25))
    assert schema.per_query.max_epsilon == schema.budget.epsilon
    assert schema.relation == "add_remove in a sample of 1/4"
    (line,) = sample_lines(schema, schema.budget.epsilon)
    assert line == (
        "of a secret sample, which each unit is in with probability 0.25: epsilon = 2.06346 on it"
        " is epsilon = 1 for all units; spent so far: 1"
    )
    whole = Session(path, epsilon=schema.budget.epsilon, randomness=SeededRandomness("all"))
    with closing(whole):
        whole.query("SELECT count(*) FROM voters")
        # What noise of whole steps costs less than was asked for is left.
        left = whole.balance().left
        assert left is not None
        assert 0 <= left < Fraction(1, 10_000)
    with closing(session_of(path)) as session, pytest.raises(BudgetSpent):
        session.query("SELECT count(*) FROM gifts")


def test_delta_of_the_sample_is_larger_and_losses_are_epsilons(path: Path) -> None:
    path.write_text(
        SCHEMA.replace("accounting: pure", "delta: 1.0e-6").replace("epsilon: 40", "epsilon: 1"),
        encoding="utf-8",
    )
    budget = load_schema(path).budget
    assert budget.accounting.value == "approx"
    assert budget.delta == Fraction(4, 10**6)


def test_what_is_said_of_a_statement_is_said_of_the_sample_and_of_all(path: Path) -> None:
    with closing(session_of(path)) as session:
        report = session.explain("SELECT count(*), avg(age), median(age) FROM voters")
        assert report.price is not None
        assert report.price.of_all is not None
        assert report.price.odds == pytest.approx(math.exp(report.price.of_all))
        assert report.price.of_all == pytest.approx(
            math.log(1 + 0.25 * (math.exp(report.price.epsilon) - 1))
        )
        ((release),) = report.releases
        assert any("secret sample" in note for note in release.limits)
        assert all(column.mechanism.endswith("of a sample") for column in release.noise)
        # What no drawn unit says of places among all values isn't told.
        assert all(column.rank_error is None for column in release.noise)


def test_the_least_number_of_units_is_one_of_all_units(path: Path) -> None:
    """A group of 4,000·¼ units isn't one of fewer than 700, though so few are drawn of it."""
    with closing(session_of(path)) as session:
        query = "SELECT sex, count(*) AS n FROM voters GROUP BY sex"
        for least, groups in ((700, {"F", "M"}), (1400, {"M"})):
            options = QueryOptions(release=ReleaseOptions(min_units=least))
            answer = session.query(query, options)
            assert set(answer.table.column(0).to_pylist()) == groups


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("SELECT count(DISTINCT age) FROM voters", "DISTINCT"),
        ("SELECT sum(DISTINCT age) FROM voters", "DISTINCT"),
        ("SELECT count(*) FROM voters TABLESAMPLE 10%", "a sample for one statement"),
    ],
)
def test_what_a_sample_does_not_tell_is_refused(path: Path, sql: str, says: str) -> None:
    with closing(session_of(path)) as session, pytest.raises(Refused, match=says):
        session.query(sql)


@pytest.mark.parametrize("new", ["sample: 0.5", "sample: 0.1", ""])
def test_a_ledger_has_one_sample(path: Path, new: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A larger one loses more of what was spent; another one is of other people."""
    with closing(session_of(path)) as session:
        session.query("SELECT count(*) FROM voters")
    old = load_schema(path).policy
    text = SCHEMA.replace(", sample: 0.25", f", {new}" if new else "")
    path.write_text(text, encoding="utf-8")
    with closing(session_of(path)) as session, pytest.raises(LedgerFault, match="another promise"):
        session.query("SELECT count(*) FROM gifts")
    with pytest.raises(click.exceptions.Exit):
        amend(path, "to see more")
    assert "created for another promise" in capsys.readouterr().err
    assert any(
        "budget.sample was" in line for line in policy_relaxations(old, load_schema(path).policy)
    )


def test_a_server_answers_of_the_same_sample(path: Path) -> None:
    """With ε of 20, two rows a unit and a factor of 4, noise is beyond 40 with P = e^-100."""
    with closing(session_of(path)) as session:
        session.query("SELECT count(*) FROM voters")
        drawn = len(read(session._context.execution, "SELECT voter_id FROM voters"))
    dataset = Dataset(path, Limits(workers=1, catalog_workers=1))
    try:
        edition = dataset.snapshot()
        budget = ChargedBudget(edition.schema, "alice")
        with closing(edition.session("alice", lambda _: None, budget)) as session:
            options = QueryOptions(epsilon=Fraction(20))
            count = session.query("SELECT count(*) FROM gifts", options).table.column(0)
            assert abs(count.to_pylist()[0] - 4 * 2 * drawn) < 40
            towns = session.query("SELECT name FROM towns").table.column(0).to_pylist()
            assert towns == ["Bonn"]
    finally:
        dataset.close()


def test_no_choice_of_groups_is_by_the_bits_that_drew_a_unit(path: Path) -> None:
    """Limits draw by DuckDB's hash of a fresh salt; the sample is SHA-256 of its own key alone."""
    with closing(session_of(path)) as session:
        sql = "SELECT amount, count(*) FROM gifts GROUP BY amount"
        for release in session.compile(sql).releases:
            assert "sha256" not in release.step.query.sql
        key = with_sample_key(session.schema).budget.sample
        assert key is not None
        assert len(key.key) == 64
        assert key.key not in repr(key)
        assert key.key not in session.schema.policy


def test_a_sample_is_not_prepared(path: Path) -> None:
    schema = load_schema(path)
    with (
        closing(Execution(schema, lambda _: None)) as execution,
        pytest.raises(SourceFault, match="has all units"),
    ):
        prepare_source(schema, execution.source())
