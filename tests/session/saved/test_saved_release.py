"""CREATE RELEASE: an answer is kept, and read like a public table by all who may see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path

import pytest
from narrowed import integer

from dpsql.dbapi.connection import Connection
from dpsql.errors import (
    BadName,
    BudgetSpent,
    DuplicateColumn,
    Error,
    NameTaken,
    NotOwner,
    QuotaSpent,
    Refused,
    SyntaxFault,
    TypeFault,
    UnknownRelease,
    UnknownTable,
    WouldShowIndividuals,
)
from dpsql.ledger.chain.entry import Charged, Dropped, Saved
from dpsql.session.ledger_access import recorded_ledger
from dpsql.session.session import Session

FIXTURES = Path(__file__).parent.parent.parent.parent / "fixtures"
BY_STATUS = "SELECT o_orderstatus, count(*) AS n FROM orders GROUP BY 1"

BY_RELEASE = (
    "SELECT s.o_orderstatus, count(*) FROM orders o JOIN by_status s"
    " ON o.o_orderstatus = s.o_orderstatus GROUP BY 1"
)

Open = Callable[..., Connection]


@pytest.fixture
def schema(tpch_folder: Path, tmp_path: Path) -> Path:
    text = (FIXTURES / "tpch" / "schema.yaml").read_text(encoding="utf-8")
    path = tmp_path / "schema.yaml"
    text = text.replace("source: data", f"source: {tpch_folder}")
    path.write_text(text + "analysts: {capped: {epsilon: 0.25}}\n", encoding="utf-8")
    return path


@pytest.fixture
def opened(schema: Path) -> Iterator[Open]:
    open_now: list[Connection] = []

    def connect(analyst: str = "alice", path: Path = schema) -> Connection:
        open_now.append(Connection(Session(path, analyst=analyst, epsilon="0.1")))
        return open_now[-1]

    yield connect
    for connection in open_now:
        connection.__exit__(None, None, None)


def spent(connection: Connection) -> Decimal:
    return connection.budget.dataset.epsilon_spent


def told(connection: Connection, sql: str) -> Sequence[tuple[object, ...]]:
    return connection.execute(sql).fetchall()


def test_a_release_is_its_answer_and_is_charged_once(opened: Open) -> None:
    alice = opened()
    answer = alice.execute(f"CREATE RELEASE by_status AS {BY_STATUS}")
    rows, cost = answer.fetchall(), spent(alice)
    assert answer.privacy is not None
    assert answer.privacy.loss is not None
    assert len(rows) == 3
    assert told(alice, "SELECT * FROM by_status ORDER BY 1") == rows
    assert told(alice, "SELECT sum(n) FROM By_Status") == [(sum(integer(n) for _, n in rows),)]
    assert told(alice, BY_STATUS) == rows
    assert spent(alice) == cost > 0


def test_others_read_it_and_others_may_not_drop_it(opened: Open) -> None:
    rows = told(opened(), f"CREATE RELEASE by_status AS {BY_STATUS}")
    bob = opened("bob")
    assert told(bob, "SELECT * FROM by_status ORDER BY 1") == rows
    for statement in ("DROP RELEASE by_status", "DROP RELEASE IF EXISTS by_status"):
        with pytest.raises(NotOwner):
            bob.execute(statement)
    with pytest.raises(NotOwner):
        bob.execute(f"CREATE OR REPLACE RELEASE by_status AS {BY_STATUS}")
    with pytest.raises(NameTaken):
        bob.execute(f"CREATE RELEASE BY_STATUS AS {BY_STATUS}")
    assert told(bob, "SELECT * FROM by_status ORDER BY 1") == rows


def test_a_dropped_release_is_gone_and_nothing_is_given_back(opened: Open) -> None:
    alice = opened()
    alice.execute(f"CREATE RELEASE by_status AS {BY_STATUS}")
    cost = spent(alice)
    alice.execute("DROP RELEASE By_Status;")
    with pytest.raises(UnknownTable):
        alice.execute("SELECT * FROM by_status")
    with pytest.raises(UnknownRelease):
        alice.execute("DROP RELEASE by_status")
    alice.execute("DROP RELEASE IF EXISTS by_status")
    assert spent(alice) == cost
    # The answer is stored, whatever it is called: to keep it anew is free.
    alice.execute(f"CREATE RELEASE by_status AS {BY_STATUS}")
    assert spent(alice) == cost


def test_it_survives_a_restart_and_is_part_of_what_is_verified(opened: Open) -> None:
    alice = opened()
    rows = told(alice, f"CREATE RELEASE by_status AS {BY_STATUS}")
    alice.close()
    again = opened()
    assert told(again, "SELECT * FROM by_status ORDER BY 1") == rows
    with recorded_ledger(again.schema) as ledger:
        ledger.verify()
        events = [entry.event for entry in ledger.history()]
    assert sum(isinstance(event, Charged) for event in events) == 1
    assert sum(isinstance(event, Saved) for event in events) == 1
    assert not any(isinstance(event, Dropped) for event in events)


def test_its_values_are_group_keys_of_private_rows(opened: Open) -> None:
    alice = opened()
    alice.execute(f"CREATE RELEASE by_status AS {BY_STATUS}")
    assert sorted(str(row[0]) for row in told(alice, BY_RELEASE)) == ["F", "O", "P"]
    assert "Release" in str(alice.explain(BY_RELEASE))


def test_a_release_may_be_compared_with_private_rows_and_public_ones(opened: Open) -> None:
    alice = opened()
    # Of 15,000 orders some 7,000 are above a mean that is off by 5,000; the count is off by 200.
    # Farther than twenty times that is less likely than 10^-80.
    alice.execute("SET dpsql.epsilon = 1")
    alice.execute("CREATE RELEASE mean_price AS SELECT avg(o_totalprice) AS m FROM orders")
    above = "SELECT count(*) FROM orders o, mean_price p WHERE o.o_totalprice > p.m"
    ((count,),) = told(alice, above)
    assert 0 < integer(count) < 15_000
    alice.execute(
        "CREATE RELEASE nations AS SELECT n_name, m FROM nation, mean_price WHERE n_nationkey < 3"
    )
    assert len(told(alice, "SELECT * FROM nations JOIN nation USING (n_name)")) == 3


def test_a_dropped_name_given_again_is_another_table(opened: Open) -> None:
    alice = opened()
    kept = "SELECT o_orderstatus AS k, count(*) AS n FROM orders WHERE o_orderstatus {} GROUP BY 1"
    asked = "SELECT t.k, count(*) FROM orders o JOIN t ON o.o_orderstatus = t.k GROUP BY 1"
    alice.execute("CREATE RELEASE t AS " + kept.format("= 'F'"))
    first = told(alice, asked)
    alice.execute("CREATE OR REPLACE RELEASE t AS " + kept.format("<> 'F'"))
    assert {row[0] for row in first}.isdisjoint(row[0] for row in told(alice, asked))


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        (f"CREATE RELEASE orders AS {BY_STATUS}", NameTaken),
        (f"CREATE RELEASE pg_mine AS {BY_STATUS}", BadName),
        (f'CREATE RELEASE "my own" AS {BY_STATUS}', BadName),
        (f"CREATE RELEASE {'x' * 64} AS {BY_STATUS}", BadName),
        (
            "CREATE RELEASE t AS SELECT count(*) AS n, sum(o_totalprice) AS N FROM orders",
            DuplicateColumn,
        ),
        ("CREATE RELEASE t AS SELECT NULL AS nothing, count(*) AS n FROM orders", TypeFault),
        ("CREATE RELEASE t AS SELECT o_orderkey FROM orders", WouldShowIndividuals),
        (f"CREATE RELEASE AS {BY_STATUS}", SyntaxFault),
        ("CREATE RELEASE t", SyntaxFault),
        ("DROP RELEASE", SyntaxFault),
        ("DROP RELEASE a, b", SyntaxFault),
        ("DROP RELEASE orders", UnknownRelease),
    ],
)
def test_what_is_refused_is_refused_for_nothing(
    opened: Open, statement: str, error: type[Error]
) -> None:
    alice = opened()
    with pytest.raises(error):
        alice.execute(statement)
    assert spent(alice) == 0
    assert told(alice, "SHOW dpsql.releases") == []


def test_one_analyst_keeps_so_many_and_no_more(opened: Open, schema: Path) -> None:
    with schema.open("a", encoding="utf-8") as file:
        file.write("releases: 3\n")
    alice = opened()
    for number in range(3):
        alice.execute(f"CREATE RELEASE r{number} AS {BY_STATUS}")
    with pytest.raises(QuotaSpent):
        alice.execute("CREATE RELEASE more AS SELECT count(*) AS n FROM lineitem")
    before = spent(alice)
    alice.execute(f"CREATE OR REPLACE RELEASE r0 AS {BY_STATUS}")
    opened("bob").execute(f"CREATE RELEASE more AS {BY_STATUS}")
    assert spent(alice) == before
    # One that is lowered takes nothing away.
    schema.write_text(schema.read_text(encoding="utf-8").replace("releases: 3", "releases: 0"))
    nobody = opened()
    assert len(told(nobody, "SELECT * FROM r1")) == 3
    with pytest.raises(QuotaSpent, match="at most 0"):
        nobody.execute(f"CREATE RELEASE r3 AS {BY_STATUS}")
    assert spent(nobody) == before


def test_a_reader_with_a_cap_pays_for_it_once(opened: Open) -> None:
    told(opened(), f"CREATE RELEASE by_status AS {BY_STATUS}")
    capped = opened("capped")
    assert told(capped, "SHOW dpsql.releases")[0][4] is None
    with pytest.raises(Refused, match="opened"):
        capped.explain(BY_RELEASE)
    own = capped.budget.own
    assert own.epsilon_spent == 0
    told(capped, "SELECT * FROM by_status")
    paid = capped.budget.own.epsilon_spent
    assert float(paid) == pytest.approx(0.1, rel=0.01)
    told(capped, "SELECT count(*) FROM by_status")
    assert capped.budget.own.epsilon_spent == paid
    assert told(capped, "SHOW dpsql.releases")[0][4] == 3
    capped.explain(BY_RELEASE)


def test_what_a_cap_does_not_hold_is_not_seen(opened: Open) -> None:
    alice = opened()
    for number in range(12):
        rows = f"FROM orders WHERE o_custkey > {number}"
        alice.execute(f"CREATE RELEASE t{number} AS SELECT count(*) AS n {rows}")
    capped = opened("capped")
    answered = [seen(capped, f"SELECT * FROM t{number}") for number in range(12)]
    assert answered == sorted(answered, reverse=True)
    assert {True, False} == set(answered)


def seen(connection: Connection, sql: str) -> bool:
    try:
        connection.execute(sql)
    except BudgetSpent:
        return False
    return True


def test_a_release_of_a_release_costs_its_reader_both(opened: Open) -> None:
    alice = opened()
    alice.execute(f"CREATE RELEASE by_status AS {BY_STATUS}")
    cost = spent(alice)
    alice.execute("CREATE RELEASE total AS SELECT sum(n) AS n FROM by_status")
    assert spent(alice) == cost
    capped = opened("capped")
    told(capped, "SELECT * FROM total")
    assert capped.budget.own.epsilon_spent > 0
    paid = capped.budget.own.epsilon_spent
    told(capped, "SELECT * FROM by_status")
    assert capped.budget.own.epsilon_spent == paid


def test_where_answers_are_not_shared_a_release_is_its_makers_alone(
    opened: Open, schema: Path
) -> None:
    text = schema.read_text(encoding="utf-8")
    schema.write_text(text + "store: private\n", encoding="utf-8")
    opened().execute(f"CREATE RELEASE by_status AS {BY_STATUS}")
    bob = opened("bob")
    with pytest.raises(UnknownTable):
        bob.execute("SELECT * FROM by_status")
    with pytest.raises(UnknownRelease):
        bob.execute("DROP RELEASE by_status")
    assert told(bob, "SHOW dpsql.releases") == []
    # That the name is another's is not told either: it is free here.
    bob.execute(f"CREATE RELEASE by_status AS {BY_STATUS}")


def test_show_tells_what_is_kept(opened: Open) -> None:
    alice = opened()
    alice.execute(f"CREATE RELEASE By_Status AS {BY_STATUS}")
    (row,) = told(alice, "SHOW dpsql.releases")
    name, kind, owner, columns, rows, _, version, data, epsilon, statement = row
    assert (name, kind, owner, columns, rows) == ("By_Status", "release", "alice", 2, 3)
    assert version is None
    assert data == "current"
    assert epsilon == pytest.approx(0.1, rel=0.01)
    assert statement == f"CREATE RELEASE By_Status AS {BY_STATUS}"
    assert "By_Status" in alice.catalog.tables
    assert "By_Status" not in alice.schema.tables


def test_types_survive(opened: Open) -> None:
    alice = opened()
    made = alice.execute(
        "CREATE RELEASE t AS SELECT o_orderstatus AS s, count(*) AS n, sum(o_totalprice) AS d,"
        " avg(o_totalprice) AS f, sum(o_shippriority) AS h, DATE '2020-02-29' AS day, true AS yes"
        " FROM orders GROUP BY 1"
    )
    types = [column[1] for column in made.description or ()]
    rows = made.fetchall()
    again = alice.execute("SELECT * FROM t ORDER BY s")
    assert [column[1] for column in again.description or ()] == types
    assert again.fetchall() == rows


def test_a_price_is_told_for_nothing(opened: Open) -> None:
    alice = opened()
    asked = alice.explain(f"CREATE RELEASE t AS {BY_STATUS}")
    assert "epsilon" in str(asked)
    listed = told(alice, f"EXPLAIN PRIVACY CREATE RELEASE t AS {BY_STATUS}")
    assert listed == told(alice, f"EXPLAIN PRIVACY {BY_STATUS}")
    assert spent(alice) == 0
