from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from narrowed import ledger_file

import dpsql
from dpsql.dbapi.connection import Connection
from dpsql.ledger.storage.exclusive_use import ExclusiveUse
from dpsql.schema.model import Schema
from dpsql.session.answer.answer import Cost
from dpsql.session.session import Session
from dpsql.structs import field_names

COUNT = "SELECT count(*) FROM penguins"


def test_connect_reads_the_schema_file(
    fixtures: Path, penguins_folder: Path, tmp_path: Path
) -> None:
    text = (fixtures / "penguins" / "schema.yaml").read_text()
    path = tmp_path / "schema.yaml"
    path.write_text(text.replace("source: data", f"source: {penguins_folder}"))
    with dpsql.connect(str(path), analyst="alice", epsilon="0.5") as connection:
        assert connection.analyst == "alice"
        assert connection.epsilon == Fraction(1, 2)
        assert connection.execute(COUNT).rowcount == 1


@pytest.mark.parametrize("epsilon", [0, -1, 2, float("nan"), "much"])
def test_an_epsilon_out_of_range_is_refused(fixtures: Path, epsilon: float | str) -> None:
    with pytest.raises(dpsql.ProgrammingError, match="epsilon"):
        dpsql.connect(fixtures / "penguins" / "schema.yaml", epsilon=epsilon)


def test_an_answer_says_what_it_cost_and_the_budget_agrees(connection: Connection) -> None:
    assert connection.budget.dataset.epsilon_spent == 0
    assert connection.budget.dataset.epsilon_left == 3
    privacy = connection.execute(COUNT).privacy
    assert privacy is not None
    assert privacy.epsilon == pytest.approx(1, rel=1e-4)
    assert connection.budget.dataset.epsilon_spent == pytest.approx(Decimal(1), rel=Decimal("1e-4"))
    assert connection.budget.own.epsilon_cap is None
    assert connection.budget.own.epsilon_spent == connection.budget.dataset.epsilon_spent


def test_what_is_told_beside_an_answer_is_what_privacy_says(connection: Connection) -> None:
    """New, stored, and of public tables alone: fewer facts, in less time, and the same ones."""
    for sql in (COUNT, COUNT, "SELECT 1"):
        result = connection.run(sql)
        assert result is not None
        assert result.cost is not None
        assert result.privacy is not None
        for name in field_names(Cost):
            assert getattr(result.cost, name) == getattr(result.privacy, name)
        assert result.cost.is_noisy == bool(result.privacy.columns)


def test_looking_at_the_budget_makes_no_ledger(connection: Connection, schema: Schema) -> None:
    before = connection.budget
    assert before.queries_left > 0
    assert not ledger_file(schema).exists()
    connection.execute(COUNT)
    assert ledger_file(schema).exists()
    assert connection.budget.queries_left == before.queries_left - 1


def test_the_same_query_again_is_the_same_answer_and_free(connection: Connection) -> None:
    first = connection.execute(COUNT)
    left = connection.budget
    again = connection.execute(COUNT)
    assert again.fetchall() == first.fetchall()
    assert again.privacy is not None
    assert again.privacy.stored
    assert again.privacy.loss is None
    assert connection.budget == left


def test_when_the_budget_is_spent_only_kept_answers_are_given(connection: Connection) -> None:
    first = connection.execute(COUNT).fetchall()
    for year in range(connection.budget.queries_left):
        connection.execute(f"{COUNT} WHERE body_mass_g > {3000 + year}")
    with pytest.raises(dpsql.OperationalError, match="not enough budget") as caught:
        connection.execute(f"{COUNT} WHERE body_mass_g > 4000")
    assert caught.value.sqlstate == "53400"
    assert connection.execute(COUNT).fetchall() == first


def test_explain_is_free_and_the_same_by_sql(connection: Connection, schema: Schema) -> None:
    text = str(connection.explain(COUNT))
    assert "cost: epsilon = " in text
    cursor = connection.execute(f"EXPLAIN PRIVACY {COUNT}")
    assert [column[0] for column in cursor.description or ()] == ["explain_privacy"]
    assert "\n".join(str(line) for (line,) in cursor) == text
    assert str(connection.explain(f"EXPLAIN PRIVACY {COUNT}")) == text
    assert cursor.privacy is None
    assert not ledger_file(schema).exists()


def test_explain_takes_queries_only(connection: Connection) -> None:
    with pytest.raises(dpsql.ProgrammingError, match="only queries"):
        connection.explain("SHOW dpsql.budget")


def test_errors_under_explain_privacy_point_into_the_whole_statement(
    connection: Connection,
) -> None:
    sql = "EXPLAIN PRIVACY\nSELECT count(*) FROM penguin"
    with pytest.raises(dpsql.ProgrammingError) as caught:
        connection.execute(sql)
    assert caught.value.at is not None
    assert sql[caught.value.at.start : caught.value.at.end] == "penguin"


def test_set_epsilon_changes_what_the_next_queries_cost(connection: Connection) -> None:
    assert connection.execute("SET dpsql.epsilon = 0.25").description is None
    assert connection.execute("SHOW dpsql.epsilon").fetchall() == [("0.25",)]
    privacy = connection.execute(COUNT).privacy
    assert privacy is not None
    assert privacy.epsilon == pytest.approx(0.25, rel=1e-3)
    connection.execute("SET dpsql.epsilon = DEFAULT")
    assert connection.epsilon == 1


@pytest.mark.parametrize("value", ["7", "0", "-1", "nan", "'much'"])
def test_set_epsilon_refuses_what_the_schema_does_not_allow(
    connection: Connection, value: str
) -> None:
    sql = f"SET dpsql.epsilon = {value}"
    with pytest.raises(dpsql.ProgrammingError) as caught:
        connection.execute(sql)
    assert caught.value.sqlstate == "22023"
    assert caught.value.at is not None
    assert sql[caught.value.at.start : caught.value.at.end] == value
    assert connection.epsilon == 1


def test_show_budget_is_a_table_of_both_accounts(connection: Connection) -> None:
    cursor = connection.execute("SHOW dpsql.budget")
    names = [column[0] for column in cursor.description or ()]
    dataset, own = (dict(zip(names, row, strict=True)) for row in cursor)
    assert dataset["account"] == "dataset"
    assert (dataset["epsilon_cap"], dataset["epsilon_spent"]) == (3.0, 0.0)
    assert own["account"] == "analyst analyst"
    assert own["epsilon_cap"] is None


def test_commit_and_rollback_change_nothing(connection: Connection) -> None:
    connection.execute(COUNT)
    left = connection.budget
    connection.rollback()
    connection.commit()
    assert connection.budget == left


@pytest.mark.parametrize(
    "use",
    [
        Connection.cursor,
        Connection.commit,
        Connection.rollback,
        Connection.close,
        Connection.__enter__,
        lambda connection: connection.execute("SHOW dpsql.epsilon"),
        lambda connection: connection.explain(COUNT),
        lambda connection: connection.budget,
    ],
)
def test_a_closed_connection_is_of_no_use(
    schema: Schema, use: Callable[[Connection], object]
) -> None:
    connection = Connection(Session(schema))
    cursor = connection.cursor()
    connection.close()
    with pytest.raises(dpsql.InterfaceError, match="closed"):
        use(connection)
    with pytest.raises(dpsql.InterfaceError, match="closed"):
        cursor.execute(COUNT)


def test_leaving_the_block_closes_what_is_open(schema: Schema) -> None:
    with Connection(Session(schema)) as connection:
        connection.close()
    with Connection(Session(schema)) as connection:
        pass
    with pytest.raises(dpsql.InterfaceError):
        connection.cursor()


def test_threads_share_a_connection(connection: Connection) -> None:
    def ask(year: int) -> int:
        cursor = connection.execute(f"{COUNT} WHERE year = {2007 + year % 3}")
        return len(cursor.fetchall())

    connection.execute("SET dpsql.epsilon = 0.1")
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(ask, range(24))) == [1] * 24
    spent = float(connection.budget.dataset.epsilon_spent)
    assert 0.1 < spent < 0.3  # three answers were paid for, once each; rho adds up


def test_another_analysts_account_is_their_own(schema: Schema) -> None:
    with Connection(Session(schema, analyst="alice", epsilon=1)) as alice:
        alice.execute(COUNT)
    with Connection(Session(schema, analyst="bob", epsilon=1)) as bob:
        assert bob.budget.dataset.epsilon_spent > 0
        assert bob.budget.own.epsilon_spent == 0
        assert bob.budget.analyst == "bob"


def test_ctrl_c_stops_a_statement(connection: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread that waits is interrupted; the engine stops, though its call has no end."""
    stopped = threading.Event()
    waits = iter([False])

    def over(outcome: Future[object]) -> bool:
        if next(waits, None) is False:
            raise KeyboardInterrupt
        return bool(wait([outcome]).done)

    def endless(*_: object) -> None:
        stopped.wait()
        raise dpsql.OperationalError("stopped")

    monkeypatch.setattr("dpsql.session.interruptible.is_done", over)
    monkeypatch.setattr(Session, "query", endless)
    monkeypatch.setattr(Session, "interrupt", lambda _: stopped.set())
    with pytest.raises(KeyboardInterrupt):
        connection.execute(COUNT)
    assert connection.execute("SHOW dpsql.epsilon").rowcount == 1


def test_no_ctrl_c_finds_the_ledger_in_use(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It interrupts the main thread, and between two steps of Python: a lock may be taken by then,
    and what would release it not yet begun."""
    entered, used_by = ExclusiveUse.__enter__, set()

    def enter(own: ExclusiveUse) -> None:
        used_by.add(threading.current_thread() is threading.main_thread())
        entered(own)

    connection.execute(COUNT)
    monkeypatch.setattr(ExclusiveUse, "__enter__", enter)
    for use in (
        lambda: connection.execute(COUNT),
        lambda: connection.budget,
        lambda: connection.share("SELECT count(*) FROM penguins WHERE year = 2007"),
        lambda: connection.catalog,
        lambda: connection.execute("SHOW dpsql.budget"),
        lambda: connection.execute("DROP RELEASE IF EXISTS missing"),
    ):
        used_by.clear()
        use()
        assert used_by == {False}


def test_another_thread_may_interrupt(connection: Connection) -> None:
    connection.interrupt()
    assert connection.execute(COUNT).rowcount == 1


def test_an_analyst_sees_what_their_own_statements_cost(schema: Schema) -> None:
    with Connection(Session(schema, analyst="bob", epsilon=1)) as bob:
        bob.execute("SELECT count(*) FROM penguins WHERE year = 2008")
    with Connection(Session(schema, analyst="alice", epsilon="0.5")) as alice:
        assert alice.execute("SHOW dpsql.queries").fetchall() == []
        sql = "SELECT species, count(*) FROM penguins GROUP BY species"
        alice.execute(sql)
        alice.execute(sql)  # stored: it isn't charged again
        cursor = alice.execute("SHOW dpsql.queries")
        assert cursor.description is not None
        names = [column[0] for column in cursor.description]
        assert names == ["entry", "at", "epsilon", "delta", "answered", "statement"]
        ((_, _, epsilon, _, answered, statement),) = cursor.fetchall()
        assert epsilon == pytest.approx(0.5, rel=1e-3)
        assert (answered, statement) == ("yes", sql)
        with pytest.raises(dpsql.ProgrammingError, match="can't be set"):
            alice.execute("SET dpsql.queries = 1")
