"""Connections that ask the same: it is proved once, drawn once, and each reader's cap is asked."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest
from pgwire.asking import rows
from pgwire.shop import make
from waiting import HANGS_AFTER

from dpsql.bind import statement
from dpsql.bind.statement import Statement
from dpsql.errors import (
    BudgetSpent,
    InterfaceError,
    LedgerFault,
    Refused,
    WouldShowIndividuals,
)
from dpsql.ledger.chain.entry import Charged, Paid
from dpsql.pgwire.codec.parameter import Bound
from dpsql.pgwire.limits import Limits
from dpsql.pgwire.query_service import QueryService
from dpsql.pgwire.shared_dataset import Dataset
from dpsql.plan.expression import Literal
from dpsql.schema.sql_type import Integer
from dpsql.session.compile import compile as compilation
from dpsql.session.compile import compiled as compiled_module
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.plan_cache import PlanCache
from dpsql.session.ledger_access import recorded_ledger
from dpsql.session.run import public_statements
from dpsql.session.session import Session
from dpsql.structs import replace

CHARTS = [
    f"SELECT region_id, count(*) + {n} FROM orders WHERE qty > {n} GROUP BY 1" for n in range(6)
]


@contextmanager
def opened(folder: Path, monkeypatch: pytest.MonkeyPatch, more: str = "") -> Iterator[Dataset]:
    monkeypatch.setenv("DPSQL_STATE", str(folder / "state"))
    path = make(folder, customers=20, orders=20)
    path.write_text(path.read_text(encoding="utf-8") + more, encoding="utf-8")
    with closing(Dataset(path, Limits(workers=2, catalog_workers=1))) as found:
        yield found


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dataset]:
    with opened(tmp_path, monkeypatch) as found:
        yield found


def events(dataset: Dataset, kind: type[object]) -> list[object]:
    history = dataset.snapshot()._ledger.history()
    return [entry.event for entry in history if isinstance(entry.event, kind)]


def test_a_dashboard_that_many_open_at_once_is_computed_once(
    shop: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled: list[object] = []
    real = compiled_module.compile_bound

    def counted(*arguments: object) -> CompiledStatement:
        compiled.append(arguments)
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(compilation, "compile_bound", counted)
    people = 8
    together = threading.Barrier(people)
    with ExitStack() as stack, ThreadPoolExecutor(people) as threads:
        asking = [stack.enter_context(closing(QueryService(shop, "alice"))) for _ in range(people)]

        def opens(number: int) -> list[list[tuple[object, ...]]]:
            together.wait(HANGS_AFTER)
            order = CHARTS[number % len(CHARTS) :] + CHARTS[: number % len(CHARTS)]
            seen = {sql: rows(asking[number], sql) for sql in order}
            return [seen[sql] for sql in CHARTS]

        seen = list(threads.map(opens, range(people)))
    assert all(one == seen[0] for one in seen)
    assert len(events(shop, Charged)) == len(CHARTS)
    assert len(compiled) == len(CHARTS)


def test_a_description_and_the_answer_bind_a_statement_once(
    shop: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    bound: list[object] = []
    real = statement.bind

    def counted(*arguments: object) -> Statement:
        bound.append(arguments)
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(public_statements, "bind", counted)
    sql = "SELECT count(*) + 1 AS more FROM orders WHERE qty > $1"
    with closing(QueryService(shop, "alice")) as alice, closing(QueryService(shop, "bob")) as bob:
        for one in (alice, bob, alice):
            read = one.reader.read(sql)
            inputs: dict[str, Bound] = {"1": Literal(3, Integer(32))}
            (column,) = one.columns(read.query, read.types, inputs)
            answer = one.query(read.query, inputs)
            assert answer.columns == (column,)
        assert len(bound) == 1
        one.query(read.query, {"1": Literal(4, Integer(32))})
        assert len(bound) == 2


def test_the_clock_kept_tables_and_refusals_are_bound_each_time(shop: Dataset) -> None:
    with closing(QueryService(shop, "alice")) as alice:
        statements = alice._session.whole.statements
        for sql in (
            "SELECT count(*) FROM orders WHERE ts < now()",
            "CREATE RELEASE few AS SELECT count(*) AS n FROM orders",
            "SELECT n FROM few",
        ):
            alice.query(alice.translate(sql), {})
        with pytest.raises(WouldShowIndividuals):
            alice.query(alice.translate("SELECT qty FROM orders"), {})
        known = [str(key) for key in statements._bound]
        assert len(known) == 1
        assert "COUNT(*) AS n FROM orders" in known[0]


def test_whose_own_cap_is_too_small_is_refused_what_another_was_given(shop: Dataset) -> None:
    with closing(QueryService(shop, "alice")) as alice, closing(QueryService(shop, "carol")) as own:
        given = [rows(alice, sql) for sql in CHARTS]
        looked: list[object] = []
        with pytest.raises(BudgetSpent):
            looked.extend(rows(own, sql) for sql in CHARTS)
        assert 0 < len(events(shop, Paid)) < len(CHARTS)
        seen = len(events(shop, Paid))
        assert [rows(own, sql) for sql in CHARTS[:seen]] == given[:seen]
        assert len(events(shop, Paid)) == seen
        with pytest.raises(BudgetSpent):
            rows(own, CHARTS[seen])
        assert rows(alice, CHARTS[seen]) == given[seen]


def test_analysts_who_share_no_answers_share_no_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        opened(tmp_path, monkeypatch, "store: private\n") as dataset,
        closing(QueryService(dataset, "alice")) as alice,
        closing(QueryService(dataset, "bob")) as bob,
    ):
        rows(alice, CHARTS[0])
        rows(bob, CHARTS[0])
        assert len(events(dataset, Charged)) == 2


def test_totals_are_summed_of_what_another_connection_was_given_first(shop: Dataset) -> None:
    total = "SELECT count(*) FROM orders WHERE qty > 0"
    with closing(QueryService(shop, "alice")) as first, closing(QueryService(shop, "alice")) as own:
        for one in (first, own):
            one.set("dpsql.reuse", "on")
            rows(one, CHARTS[0])
        rows(own, total)
        assert len(events(shop, Charged)) == 1


def test_another_epsilon_is_another_answer(shop: Dataset) -> None:
    with closing(QueryService(shop, "alice")) as alice, closing(QueryService(shop, "bob")) as bob:
        rows(alice, CHARTS[0])
        bob.set("dpsql.epsilon", "0.25")
        rows(bob, CHARTS[0])
        assert len(events(shop, Charged)) == 2


def test_a_digit_too_many_is_refused_to_each_however_often(shop: Dataset) -> None:
    sql = "SELECT sum(amount * amount * amount * amount * amount) FROM orders"
    with closing(QueryService(shop, "alice")) as alice, closing(QueryService(shop, "bob")) as bob:
        for one in (alice, bob, alice):
            with pytest.raises(Exception, match="38 digits"):
                rows(one, sql)
        assert events(shop, Charged) == []


@pytest.fixture
def plan(shop: Dataset) -> Iterator[CompiledStatement]:
    with closing(Session(shop.snapshot().schema)) as session:
        yield session.compile(CHARTS[0])


def test_who_asks_for_what_another_compiles_waits_for_it(plan: CompiledStatement) -> None:
    plans, begun, may_end = PlanCache(), threading.Event(), threading.Event()

    def slowly() -> CompiledStatement:
        begun.set()
        may_end.wait(HANGS_AFTER)
        return plan

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(plans.get, "asked", slowly)
        begun.wait(HANGS_AFTER)
        second = threads.submit(plans.get, "asked", lambda: pytest.fail("compiled twice"))
        assert not second.done()
        may_end.set()
        assert first.result(HANGS_AFTER) is second.result(HANGS_AFTER) is plan


def test_who_waited_for_what_was_refused_is_told_so_by_its_own_compiling(
    plan: CompiledStatement,
) -> None:
    plans, begun, may_end = PlanCache(), threading.Event(), threading.Event()

    def refused() -> CompiledStatement:
        begun.set()
        may_end.wait(HANGS_AFTER)
        raise Refused("not this one")

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(plans.get, "asked", refused)
        begun.wait(HANGS_AFTER)
        second = threads.submit(plans.get, "asked", lambda: plan)
        may_end.set()
        with pytest.raises(Refused):
            first.result(HANGS_AFTER)
        assert second.result(HANGS_AFTER) is plan
    assert plans.get("asked", lambda: pytest.fail("it is remembered")) is plan


def test_connections_share_an_opening_of_the_ledger(shop: Dataset) -> None:
    own = shop.snapshot()._ledger
    with closing(QueryService(shop, "alice")) as alice, closing(QueryService(shop, "bob")) as bob:
        rows(alice, CHARTS[0])
        rows(bob, CHARTS[0])
        ledgers = [one._session._context.ledger.open() for one in (alice, bob)]
        assert ledgers == [own, own]
        bob.close()
        rows(alice, CHARTS[1])


def test_a_ledger_is_closed_by_the_last_who_shares_it(shop: Dataset) -> None:
    snapshot = shop.snapshot()
    ledger = snapshot._ledger
    with closing(QueryService(shop, "alice")) as alice:
        rows(alice, CHARTS[0])
        snapshot.close()  # as when the schema's file was edited while a statement runs
        rows(alice, CHARTS[1])
        assert ledger.balance().spent.amount > 0
        alice.close()
        with pytest.raises(InterfaceError, match="the ledger is closed"):
            ledger.balance()
        with closing(QueryService(shop, "bob")) as bob:  # begun before the other edition was there
            rows(bob, CHARTS[1])
            assert bob._session._context.ledger.open() is not ledger


def test_a_ledger_whose_terms_have_changed_is_opened_anew(shop: Dataset) -> None:
    schema = shop.snapshot().schema
    with recorded_ledger(schema) as owner:
        cap = owner.terms.cap
        half = replace(cap, amount=cap.amount / 2)
        owner.amend(replace(owner.terms, cap=half), "half will do")
    with (
        closing(QueryService(shop, "alice")) as alice,
        pytest.raises(LedgerFault, match="stricter terms"),
    ):
        rows(alice, CHARTS[0])
