"""One meaning, one answer: however a query is written it is drawn once, or charged each time."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest
from privacy.seeded import SeededRandomness

from dpsql.bounding.options import ReleaseOptions
from dpsql.errors import BudgetSpent, SchemaFault
from dpsql.session.answer.answer import Answer
from dpsql.session.options import QueryOptions
from dpsql.session.session import Session


@pytest.fixture
def session(tpch_schema: Path) -> Iterator[Session]:
    found = Session(tpch_schema, epsilon="0.01", randomness=SeededRandomness("reuse"))
    yield found
    found.close()


def spent(session: Session) -> Fraction:
    return session.balance().spent.amount


CONJUNCTS: list[tuple[Callable[[Callable[[str], str]], str], ...]] = [
    (
        lambda c: f"{c('o_totalprice')} > 1000",
        lambda c: f"1000 < {c('o_totalprice')}",
        lambda c: f"{c('o_totalprice')} > CAST(1000 AS DECIMAL(15,2))",
    ),
    (
        lambda c: f"{c('o_orderdate')} < DATE '1997-01-01'",
        lambda c: f"{c('o_orderdate')} < CAST('1997-01-01' AS date)",
        lambda c: f"DATE '1997-01-01' > {c('o_orderdate')}",
        lambda c: f"{c('o_orderdate')} < '1997-01-01'::DATE",
    ),
    (
        lambda c: f"{c('o_orderstatus')} IN ('F', 'O')",
        lambda c: f"{c('o_orderstatus')} IN ('O', 'F')",
    ),
    (
        lambda c: f"{c('o_custkey')} BETWEEN 10 AND 1200",
        lambda c: f"({c('o_custkey')} >= 10 AND {c('o_custkey')} <= 1200)",
        lambda c: f"(1200 >= {c('o_custkey')} AND {c('o_custkey')} >= 10)",
    ),
]
COLUMNS = ("o_totalprice", "o_orderdate", "o_orderstatus", "o_custkey", "o_orderpriority")


def cased(chance: random.Random, sql: str) -> str:
    """Another case for words outside quotes, and another spacing."""
    parts = sql.split("'")
    for place in range(0, len(parts), 2):
        words = parts[place].split(" ")
        turned = [chance.choice([str.upper, str.lower, str.title])(word) for word in words]
        parts[place] = chance.choice([" ", "  ", "\n", "\t"]).join(turned)
    return "'".join(parts)


def variant(chance: random.Random) -> str:
    """The same question, written by chance."""
    renamed = chance.random() < 0.5
    names = {c: (f"n{i}" if renamed else c) for i, c in enumerate(COLUMNS)}
    listed = ", ".join(f"{old} AS {new}" if renamed else old for old, new in names.items())
    chosen = [chance.choice(forms) for forms in CONJUNCTS]
    chance.shuffle(chosen)
    split = chance.randrange(len(chosen) + 1)
    inner, outer = chosen[:split], chosen[split:]
    where = " AND ".join(form(str) for form in inner)
    core = f"SELECT {listed} FROM orders" + (f" WHERE {where}" if inner else "")
    alias = chance.choice(["t", "u", "rows_of_it"])
    above = " AND ".join(form(lambda c: f"{alias}.{names[c]}") for form in outer)
    key, value = (f"{alias}.{names[c]}" for c in ("o_orderpriority", "o_totalprice"))
    select = f"SELECT {key} AS k, count(*) AS n, sum({value}) AS s FROM {{}}"
    tail = (f" WHERE {above}" if outer else "") + " GROUP BY " + chance.choice(["1", key])
    if chance.random() < 0.5:
        sql = f"WITH {alias} AS ({core}) " + select.format(alias) + tail
    else:
        sql = select.format(f"({core}) AS {alias}") + tail
    return cased(chance, sql)


def ask_variants(session: Session, count: int, seed: int) -> int:
    """How often a variant was charged; each answer was drawn for a charge or is the first's."""
    chance = random.Random(seed)
    answers: dict[bytes, int] = {}
    charges = 0
    for _ in range(count):
        before = spent(session)
        answer = session.query(variant(chance))
        paid = spent(session) > before
        assert paid == (answer.privacy.loss is not None)
        assert paid == (not answer.privacy.stored)
        key = repr([column.to_pylist() for column in answer.table.columns]).encode()
        # A draw that nobody paid for would be a new answer without a charge.
        assert paid or key in answers
        answers[key] = answers.get(key, 0) + 1
        charges += paid
    assert len(answers) == charges
    return charges


def test_a_variant_that_is_bounded_otherwise_is_charged_anew(session: Session) -> None:
    # NOT isn't narrowed by, so the sum is clamped to another interval: another draw, and paid for.
    sql = "SELECT sum(o_totalprice) FROM orders WHERE {}"
    session.query(sql.format("o_totalprice > 1000"))
    before = spent(session)
    answer = session.query(sql.format("NOT (o_totalprice <= 1000)"))
    assert (spent(session) > before) == (not answer.privacy.stored)


def test_variants_of_one_query_are_one_release(session: Session) -> None:
    assert ask_variants(session, 60, 1) == 1


@pytest.mark.slow
def test_a_thousand_variants_of_one_query_are_one_release(session: Session) -> None:
    assert ask_variants(session, 1000, 2) == 1


DIFFERENT = [
    "SELECT count(*) FROM orders WHERE o_custkey > 10",
    "SELECT count(*) FROM orders WHERE o_custkey >= 10",
    "SELECT count(*) FROM orders WHERE o_custkey < 10",
    "SELECT count(*) FROM orders WHERE 10 <= o_totalprice",
    "SELECT count(*) FROM orders WHERE o_custkey > 10 OR o_totalprice > 10",
    "SELECT count(*) FROM orders WHERE o_custkey > 10 AND o_totalprice > 10",
    "SELECT count(nullif(o_totalprice, 1)) FROM orders WHERE o_custkey > 10",
    "SELECT sum(o_totalprice) FROM orders WHERE o_custkey > 10",
    "SELECT sum(2 * o_totalprice) FROM orders WHERE o_custkey > 10",
    "SELECT sum(l_quantity - l_discount) FROM lineitem",
    "SELECT sum(l_discount - l_quantity) FROM lineitem",
    "SELECT avg(o_totalprice) FROM orders WHERE o_custkey > 10",
    "SELECT count(*) FILTER (WHERE o_totalprice > 10) FROM orders WHERE o_custkey > 10",
    "SELECT count(*) FROM lineitem WHERE l_orderkey > 10",
    "SELECT o_orderpriority, count(*) FROM orders WHERE o_custkey > 10 GROUP BY 1",
    "SELECT o_orderstatus, count(*) FROM orders WHERE o_custkey > 10 GROUP BY 1",
    "SELECT o_orderstatus, o_orderpriority, count(*) FROM orders GROUP BY 1, 2",
    "SELECT o_orderpriority, o_orderstatus, count(*) FROM orders GROUP BY 1, 2",
    "SELECT count(*) FROM orders JOIN customer ON o_custkey = c_custkey WHERE o_custkey > 10",
    "SELECT count(*) FROM customer LEFT JOIN orders ON o_custkey = c_custkey",
    "SELECT count(*) FROM customer LEFT JOIN orders ON o_custkey = c_custkey AND o_totalprice > 1",
    (
        "SELECT count(*) FROM customer LEFT JOIN orders ON o_custkey = c_custkey "
        "WHERE o_totalprice > 1"
    ),
    "SELECT count(*) FROM customer WHERE EXISTS (SELECT 1 FROM orders WHERE o_custkey = c_custkey)",
    (
        "SELECT count(*) FROM customer WHERE NOT EXISTS "
        "(SELECT 1 FROM orders WHERE o_custkey = c_custkey)"
    ),
    (
        "SELECT count(*) FROM (SELECT o_custkey, row_number() OVER "
        "(PARTITION BY o_custkey ORDER BY o_totalprice) AS n FROM orders) WHERE n = 1"
    ),
    (
        "SELECT count(*) FROM (SELECT o_custkey, row_number() OVER "
        "(PARTITION BY o_custkey ORDER BY o_orderdate) AS n FROM orders) WHERE n = 1"
    ),
]


def test_queries_of_different_meanings_share_nothing(session: Session) -> None:
    keys = [release.key for sql in DIFFERENT for release in session.compile(sql).releases]
    assert len(set(keys)) == len(keys) == len(DIFFERENT)


SAME = [
    (
        "SELECT count(*) FROM orders JOIN customer ON o_custkey = c_custkey WHERE c_acctbal > 0",
        "SELECT count(*) FROM customer, orders WHERE 0 < c_acctbal AND c_custkey = o_custkey",
    ),
    (
        "SELECT sum(l_extendedprice * (1 - l_discount)) FROM lineitem",
        "SELECT sum(r) FROM (SELECT (1 - l_discount) * l_extendedprice AS r FROM lineitem)",
    ),
    (
        "SELECT count(*) FROM orders WHERE o_custkey = 1 OR o_custkey = 2 OR o_custkey > 9",
        "SELECT count(*) FROM orders WHERE o_custkey > 9 OR o_custkey = 2 OR 1 = o_custkey",
    ),
    (
        "SELECT o_orderstatus, count(*) FROM orders GROUP BY 1 ORDER BY 2 DESC LIMIT 1",
        "SELECT count(*), o_orderstatus AS s FROM orders GROUP BY s HAVING count(*) > 5",
    ),
]


@pytest.mark.parametrize(("first", "second"), SAME)
def test_queries_of_one_meaning_share_their_release(
    session: Session, first: str, second: str
) -> None:
    one, other = (session.compile(sql).releases for sql in (first, second))
    assert [release.key for release in one] == [release.key for release in other]


def test_a_mean_takes_both_of_its_parts_from_one_answer(session: Session) -> None:
    # Of a stored count and a new sum, or the other way round, no mean is made: each is one release.
    session.query("SELECT count(o_totalprice) FROM orders")
    before = spent(session)
    mean = session.query("SELECT avg(o_totalprice) FROM orders")
    assert spent(session) > before
    assert not mean.privacy.stored


@pytest.mark.parametrize("setting", ["0.02", "0.005"])
def test_another_epsilon_is_another_release(session: Session, setting: str) -> None:
    sql = "SELECT count(*) FROM orders"
    session.query(sql)
    before = spent(session)
    session.query(sql, QueryOptions(Fraction(setting)))
    assert spent(session) > before


def test_leaving_small_groups_out_is_another_release(session: Session) -> None:
    sql = "SELECT o_orderpriority, count(DISTINCT o_custkey) AS n FROM orders GROUP BY 1"
    whole = session.query(sql).table
    options = QueryOptions(release=ReleaseOptions(min_units=10**6))
    assert whole.num_rows > 0
    assert session.query(sql, options).table.num_rows == 0


def test_only_what_is_new_of_a_statement_is_charged(session: Session) -> None:
    session.query("SELECT count(*) FROM orders", QueryOptions(Fraction("0.01")))
    half = session.query(
        "SELECT (SELECT count(*) FROM orders), (SELECT count(*) FROM customer)",
        QueryOptions(Fraction("0.02")),
    )
    assert half.privacy.loss is not None
    again = session.query(
        "SELECT (SELECT count(*) FROM customer), (SELECT count(*) FROM orders)",
        QueryOptions(Fraction("0.02")),
    )
    assert again.privacy.stored
    first, second = (column.to_pylist() for column in half.table.columns)
    assert [column.to_pylist() for column in again.table.columns] == [second, first]


DASHBOARD = [
    "SELECT count(*) FROM orders",
    "SELECT o_orderstatus, count(*) FROM orders GROUP BY 1",
    "SELECT o_orderpriority, count(*), sum(o_totalprice) FROM orders GROUP BY 1 ORDER BY 1",
    "SELECT year(o_orderdate) AS y, count(*) FROM orders GROUP BY 1 ORDER BY 1",
    "SELECT c_mktsegment, count(*) FROM customer GROUP BY 1",
    "SELECT c_mktsegment, avg(c_acctbal) FROM customer GROUP BY 1 ORDER BY 2 DESC LIMIT 3",
    "SELECT n_name, count(*) FROM customer JOIN nation ON c_nationkey = n_nationkey GROUP BY 1",
    "SELECT l_returnflag, l_linestatus, sum(l_quantity) FROM lineitem GROUP BY 1, 2",
    "SELECT l_shipmode, count(*) FROM lineitem GROUP BY 1 HAVING count(*) > 100",
    "SELECT sum(l_extendedprice * l_discount) FROM lineitem WHERE l_quantity < 24",
    "SELECT avg(o_totalprice) FROM orders WHERE o_orderpriority = '1-URGENT'",
    "SELECT o_orderstatus, count(*) * 1.0 / (SELECT count(*) FROM orders) FROM orders GROUP BY 1",
]


def refresh(tpch_schema: Path, times: int) -> None:
    def stream(table: pa.Table) -> bytes:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        return bytes(sink.getvalue())

    def load(session: Session) -> list[bytes]:
        return [stream(session.query(sql).table) for sql in DASHBOARD]

    first = Session(tpch_schema, epsilon="0.01", randomness=SeededRandomness("dashboard"))
    shown, cost = load(first), spent(first)
    first.close()
    # Half of the refreshes reconnect, and none has the noise of the first.
    for number in range(2):
        again = Session(tpch_schema, epsilon="0.01", randomness=SeededRandomness(f"again {number}"))
        for _ in range(times // 2):
            assert load(again) == shown
        assert spent(again) == cost
        again.close()


def test_a_dashboard_costs_what_it_cost_once_and_shows_the_same_bytes(tpch_schema: Path) -> None:
    refresh(tpch_schema, 4)


@pytest.mark.slow
def test_a_dashboard_refreshed_a_hundred_times_costs_what_it_cost_once(tpch_schema: Path) -> None:
    refresh(tpch_schema, 100)


def test_a_stored_answer_is_given_when_the_budget_is_spent(tpch_schema: Path) -> None:
    text = tpch_schema.read_text()
    tpch_schema.write_text(text + "analysts: {poor: {epsilon: 0.01}}\n")
    poor = Session(tpch_schema, analyst="poor", epsilon="0.01")
    first = poor.query("SELECT count(*) FROM orders")
    with pytest.raises(BudgetSpent):
        poor.query("SELECT count(*) FROM customer")
    again = poor.query("WITH o AS (SELECT * FROM orders) SELECT count(*) FROM o")
    assert again.table.column(0).to_pylist() == first.table.column(0).to_pylist()
    poor.close()


@pytest.mark.parametrize(("store", "shared"), [("", True), ("shared", True), ("private", False)])
def test_analysts_share_answers_unless_the_schema_says_otherwise(
    tpch_schema: Path, store: str, *, shared: bool
) -> None:
    tpch_schema.write_text(tpch_schema.read_text() + (f"store: {store}\n" if store else ""))
    answers: dict[str, list[Answer]] = {}
    for analyst in ("alice", "bob", "alice"):
        asking = Session(tpch_schema, analyst=analyst, epsilon="0.01")
        answer = asking.query("SELECT count(*) FROM orders")
        answers.setdefault(analyst, []).append(answer)
        cost = spent(asking)
        asking.close()
    first, again = answers["alice"]
    assert again.privacy.stored
    assert again.table == first.table
    (other,) = answers["bob"]
    assert other.privacy.stored is shared
    assert (other.table == first.table) is shared
    assert first.privacy.loss is not None
    assert (cost < 2 * first.privacy.loss.amount) is shared


def test_another_word_for_the_store_is_a_fault(tpch_schema: Path) -> None:
    tpch_schema.write_text(tpch_schema.read_text() + "store: secret\n")
    with pytest.raises(SchemaFault, match="store"):
        Session(tpch_schema)


def test_a_balance_is_the_datasets_or_one_analysts(tpch_schema: Path) -> None:
    tpch_schema.write_text(tpch_schema.read_text() + "analysts: {alice: {epsilon: 0.5}}\n")
    alice = Session(tpch_schema, analyst="alice", epsilon="0.01")
    alice.query("SELECT count(*) FROM orders")
    assert alice.balance("alice").spent == alice.balance().spent
    assert alice.balance("bob").cap is None
    cap, left = alice.balance("alice").cap, alice.balance("alice").left
    assert cap is not None
    assert left == cap - alice.balance("alice").spent.amount
    alice.close()
