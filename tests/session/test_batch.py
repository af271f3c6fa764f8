"""Statements declared together: composed, charged in one entry, all or nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path

import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from privacy.seeded import SeededRandomness

from dpsql.errors import BudgetSpent, ExecutionFailed, OverTarget, ProgrammingError, Refused
from dpsql.ledger.chain.entry import Burned, Charged
from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.session.batch.batch import composed_loss
from dpsql.session.ledger_access import recorded_ledger
from dpsql.session.options import PriceOptions, QueryOptions
from dpsql.session.session import Session

SCHEMA = """
dataset: {name}
source: {source}
units: {{customer: {{table: customer, key: c_custkey}}}}
tables:
  customer:
    key: c_custkey
    unit: customer
    columns:
      c_custkey: {{type: bigint}}
      c_mktsegment:
        {{type: varchar, values: [AUTOMOBILE, BUILDING, FURNITURE, HOUSEHOLD, MACHINERY]}}
      c_name: {{type: varchar}}
      c_acctbal: {{type: "decimal(15,2)", bounds: [-1000, 10000]}}
budget: {budget}
per_query: {{epsilon: 0.1, max_epsilon: 1{delta}}}
"""

APPROX = "{epsilon: 6, delta: 1.0e-4, accounting: approx}"
COUNTS = [f"SELECT count(*) FROM customer WHERE c_custkey > {n}" for n in range(100)]

Open = Callable[..., Session]


@pytest.fixture
def opened(tpch_folder: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Open:
    def make(budget: str = APPROX, *, more: str = "", analyst: str = "analyst") -> Session:
        delta = ", delta: 1.0e-6" if "approx" in budget else ""
        path = tmp_path / "schema.yaml"
        path.write_text(
            SCHEMA.format(name="batch", source=tpch_folder, budget=budget, delta=delta) + more
        )
        session = Session(path, analyst=analyst, randomness=SeededRandomness("batch"))
        request.addfinalizer(session.close)
        return session

    return make


def events(session: Session, kind: type) -> list[object]:
    with recorded_ledger(session.schema) as ledger:
        return [entry.event for entry in ledger.history() if isinstance(entry.event, kind)]


def test_a_hundred_counts_are_charged_what_they_cost_together(opened: Open) -> None:
    session = opened()
    batch = session.batch(COUNTS)
    law = pld.from_discrete_laplace_mechanism(0.1, use_connect_dots=True).self_compose(100)
    assert batch.loss is not None
    assert batch.one_by_one == PrivacyLoss(Accounting.APPROX, Fraction(10))
    assert float(batch.loss.amount) == pytest.approx(law.get_epsilon_for_delta(1e-6), rel=1e-3)
    assert batch.loss.delta == Fraction(1, 10**6)
    assert session.balance().spent == batch.loss
    assert len(events(session, Charged)) == 1
    assert batch.receipt is not None


def test_each_answer_is_stored_and_given_again(opened: Open) -> None:
    session = opened()
    batch = session.batch(COUNTS[:20])
    for sql, answer in zip(COUNTS, batch.answers, strict=False):
        again = session.query(sql)
        assert again.privacy.loss is None
        assert again.table == answer.table
    assert session.balance().spent == batch.loss
    assert session.batch(COUNTS[:20]).loss is None


def test_another_reader_pays_for_each_answer_alone(opened: Open) -> None:
    more = "analysts: {reader: {epsilon: 1}}\n"
    opened(more=more).batch(COUNTS[:20])
    reader = opened(more=more, analyst="reader")
    reader.query(COUNTS[0])
    assert reader.balance("reader").spent.amount == Fraction(1, 10)


def test_only_what_is_new_of_a_batch_is_charged_and_drawn_once(opened: Open) -> None:
    session = opened()
    first = session.query(COUNTS[0])
    twice = "WITH c AS (SELECT c_custkey AS k FROM customer) SELECT count(*) FROM c WHERE 1 < k"
    batch = session.batch([COUNTS[0], COUNTS[1], twice, "SELECT 1 AS one"])
    assert batch.one_by_one == PrivacyLoss(Accounting.APPROX, Fraction(1, 10))
    known, one, other, public = batch.answers
    assert known.table.column(0).to_pylist() == first.table.column(0).to_pylist()
    assert one.table.column(0).to_pylist() == other.table.column(0).to_pylist()
    assert public.table.column(0).to_pylist() == [1]


def test_a_batch_costs_no_more_than_its_statements(opened: Open) -> None:
    session = opened()
    for count in (1, 2, 5):
        due = [r for sql in COUNTS[:count] for r in session.compile(sql).releases]
        loss = composed_loss(session.schema, due)
        assert max(r.step.measurement.loss.amount for r in due) <= loss.amount
        assert loss.amount <= Fraction(count, 10)


MIXED: Mapping[str, str] = {
    "sums": "SELECT c_mktsegment, count(*), sum(c_acctbal) FROM customer GROUP BY 1",
    "choices": "SELECT median(c_acctbal) FROM customer WHERE c_custkey > {}",
    "thresholds": "SELECT c_name, count(*) FROM customer WHERE c_custkey > {} GROUP BY 1",
    "nested": (
        "SELECT count(*) FROM customer WHERE c_acctbal > (SELECT avg(c_acctbal) + {} FROM customer)"
    ),
}


@pytest.mark.parametrize("kind", MIXED)
def test_everything_may_be_in_a_batch(opened: Open, kind: str) -> None:
    session = opened("{epsilon: 6, delta: 1.0e-4, accounting: approx}")
    statements = [MIXED[kind].format(n) for n in range(30)]
    batch = session.batch(list(dict.fromkeys(statements)))
    assert batch.loss is not None
    assert batch.one_by_one is not None
    assert batch.loss.amount <= batch.one_by_one.amount
    selecting = kind == "thresholds"
    assert batch.loss.delta <= Fraction(1 + 30 * selecting, 10**6)
    assert not selecting or batch.loss.delta >= batch.one_by_one.delta > 0


def test_a_budget_too_small_for_all_gives_nothing(opened: Open) -> None:
    session = opened("{epsilon: 4, delta: 1.0e-4, accounting: approx}")
    with pytest.raises(BudgetSpent):
        session.batch(COUNTS)
    assert not session.balance().spent.amount
    assert not events(session, Charged)
    assert session.query(COUNTS[0]).privacy.loss is not None


def test_a_delta_too_small_for_all_gives_nothing(opened: Open) -> None:
    session = opened("{epsilon: 6, delta: 1.0e-6, accounting: approx}")
    session.batch(COUNTS[:30])
    with pytest.raises(BudgetSpent):
        session.batch(COUNTS[30:60])
    assert len(events(session, Charged)) == 1


def test_a_statement_that_is_refused_costs_nothing(opened: Open) -> None:
    session = opened()
    with pytest.raises(ProgrammingError):
        session.batch([*COUNTS[:3], "SELECT c_name FROM customer"])
    assert not session.balance().spent.amount


def test_a_statement_that_fails_burns_the_charge_of_all(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = opened()
    session.query("SELECT count(*) FROM customer")
    before = session.balance().spent
    engine = session._context.execution.source()
    execute: Callable[..., object] = engine.execute
    runs = []

    def failing(*arguments: object, **named: object) -> object:
        runs.append(arguments)
        if len(runs) == 3:
            raise MemoryError
        return execute(*arguments, **named)

    monkeypatch.setattr(engine, "execute", failing)
    with pytest.raises(ExecutionFailed):
        session.batch(COUNTS[:20])
    assert session.balance().spent.amount > before.amount
    assert len(events(session, Burned)) == 1
    monkeypatch.undo()
    # Nothing of it was seen, so nothing of it is stored: the first statement is paid for again.
    assert session.query(COUNTS[0]).privacy.loss is not None


def test_a_ceiling_of_one_statement_bounds_a_batch_that_has_none_of_its_own(opened: Open) -> None:
    session, ceiling = opened(), Fraction(1, 10)
    with pytest.raises(OverTarget, match="together"):
        session.batch(COUNTS[:20], QueryOptions(price=PriceOptions(ceiling=ceiling)))
    assert not events(session, Charged)
    lent = PriceOptions(ceiling=ceiling, batch_ceiling=Fraction(2))
    assert session.batch(COUNTS[:20], QueryOptions(price=lent)).loss is not None
    dear = QueryOptions(Fraction(1, 5), price=lent)
    with pytest.raises(OverTarget, match="statement 3 costs") as refused:
        session.batch(["SELECT 1 AS one", "SELECT 2 AS two", *COUNTS[20:22]], dear)
    assert refused.value.statement == 3
    assert len(events(session, Charged)) == 1


def test_pure_accounting_refuses_batches(opened: Open) -> None:
    with pytest.raises(Refused, match="no delta"):
        opened("{epsilon: 3, accounting: pure}").batch(COUNTS[:2])
