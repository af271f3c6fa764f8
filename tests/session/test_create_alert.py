"""CREATE ALERT and CHECK ALERT: what they cost, what they say again, and when they are used up."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from privacy.seeded import SeededRandomness

from dpsql.dbapi.connection import Connection
from dpsql.errors import (
    BadParameter,
    BudgetSpent,
    Error,
    ExecutionCancelled,
    ExecutionFailed,
    ExecutionStopped,
    FailedBefore,
    NameTaken,
    OperationalError,
    OverTarget,
    Refused,
    SyntaxFault,
    UnknownRelease,
    UnknownTable,
)
from dpsql.ledger.charge import Charge
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.privacy.mechanisms.selection.above_threshold import ThresholdMoves
from dpsql.session.alerts.check import check_alert
from dpsql.session.alerts.check_log import check_history, request_id
from dpsql.session.alerts.saved_alerts import saved_alert
from dpsql.session.interruptible import RUNNING
from dpsql.session.ledger_access import open_ledger
from dpsql.session.run import execution as module
from dpsql.session.saved.saved_releases import WrongKind
from dpsql.session.session import Session
from dpsql.structs import replace

SCHEMA = """\
dataset: shop
source: data
units: {person: {table: people, key: id}}
tables:
  people: {key: id, unit: person, columns: {id: {type: bigint}}}
  visits:
    unit: {column: id, references: people.id}
    limits: {groups: 3, rows_per_group: 2, rows: 6}
    columns:
      id: {type: bigint}
      ward: {type: varchar, values: [a, b, c]}
budget: {epsilon: 200, delta: 1e-6, accounting: zcdp, allow_large_epsilon: true}
per_query: {epsilon: 1, max_epsilon: 90}
analysts: {carl: {epsilon: 1}}
ledger: ledger.db
"""
MADE = "CREATE ALERT busy WHEN count(*) > 1000 FROM visits BY ward LIMIT 2 WITH (epsilon = 20)"
CHECK = "CHECK ALERT busy"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DPSQL_STATE", str(tmp_path / "state"))
    (tmp_path / "data").mkdir()
    path = tmp_path / "schema.yaml"
    path.write_text(SCHEMA)
    pq.write_table(pa.table({"id": range(4000)}), tmp_path / "data/people.parquet")
    write(path, {"a": 100, "b": 100})
    return path


def write(schema: Path, counts: dict[str, int]) -> None:
    """So many visits in each ward, of different people."""
    rows = [(number, ward) for ward, count in counts.items() for number in range(count)]
    table = pa.table({"id": [n for n, _ in rows], "ward": [ward for _, ward in rows]})
    pq.write_table(table, schema.parent / "data/visits.parquet")


def opened(schema: Path, analyst: str = "alice") -> Connection:
    return Connection(Session(schema, analyst=analyst, randomness=SeededRandomness("create alert")))


def asked(schema: Path, sql: str, analyst: str = "alice") -> Sequence[tuple[object, ...]]:
    """The rows of one statement in a session of its own."""
    with opened(schema, analyst) as connection:
        return connection.execute(sql).fetchall()


def spent(schema: Path) -> float:
    with opened(schema) as connection:
        return float(connection.budget.dataset.epsilon_spent)


def left(schema: Path) -> tuple[object, object, object]:
    """How often the one alert was checked, and named a condition, and how often it may still."""
    ((_, _, checks, _, named, of_it, *_),) = asked(schema, "SHOW ALERTS")
    return checks, named, of_it


def test_it_is_paid_for_once_and_used_up_by_what_it_names(shop: Path) -> None:
    with opened(shop) as connection:
        cursor = connection.execute(MADE)
        ((name, firings, error),) = cursor.fetchall()
        assert (name, firings) == ("busy", 2)
        assert isinstance(error, float)
        assert cursor.privacy is not None
        assert cursor.privacy.epsilon == pytest.approx(20, rel=1e-6)
        assert cursor.privacy.receipt
    paid = spent(shop)
    for size in (101, 102):
        write(shop, {"a": size, "b": 100})
        assert asked(shop, CHECK) == []
    assert left(shop) == (2, 0, 2)
    # Of two wards that hold the first is named, and the other isn't tried.
    for checks, size in ((3, 2000), (4, 3000)):
        write(shop, {"a": 10, "b": size, "c": 3000})
        assert asked(shop, CHECK) == [("b", "COUNT(*) > 1000")]
        assert left(shop) == (checks, checks - 2, 4 - checks)
        # Once more of the same data is no other check.
        assert asked(shop, CHECK) == [("b", "COUNT(*) > 1000")]
        assert left(shop) == (checks, checks - 2, 4 - checks)
    write(shop, {"a": 1})
    with pytest.raises(Refused, match="used up"):
        asked(shop, CHECK)
    assert spent(shop) == paid
    with open_ledger(Session(shop).schema) as ledger:
        ledger.verify()


def test_one_of_the_same_name_is_another_one(shop: Path) -> None:
    asked(shop, MADE)
    write(shop, {"a": 2000})
    assert asked(shop, CHECK)
    with pytest.raises(NameTaken):
        asked(shop, MADE)
    asked(shop, MADE.replace("CREATE", "CREATE OR REPLACE"))
    assert left(shop) == (0, 0, 2)
    assert asked(shop, CHECK)
    with opened(shop) as connection:
        connection.execute("DROP ALERT busy")
        connection.execute("DROP ALERT IF EXISTS busy")
        assert connection.execute("SHOW dpsql.alerts").fetchall() == []
        with pytest.raises(UnknownRelease, match="no alert busy"):
            connection.execute(CHECK)
    assert spent(shop) == pytest.approx(40, rel=0.3)  # zcdp: two of rho


def test_alerts_and_tables_do_not_replace_each_other(shop: Path) -> None:
    asked(shop, MADE)
    paid = spent(shop)
    counts = "SELECT ward, count(*) AS n FROM visits GROUP BY ward"
    release = f"CREATE OR REPLACE RELEASE busy AS {counts}"
    synopsis = "CREATE OR REPLACE SYNOPSIS busy ON SELECT ward FROM visits WITH (epsilon = 1)"
    dashboard = f"CREATE OR REPLACE DASHBOARD busy AS ({counts}) WITH (epsilon = 1)"
    for table in (release, synopsis, dashboard):
        with pytest.raises(NameTaken, match="there is an alert busy of yours already"):
            asked(shop, table)
    with pytest.raises(NameTaken) as again:
        asked(shop, MADE.replace("busy", "Busy"))
    told = "CREATE OR REPLACE it, or DROP ALERT Busy first, or choose another name"
    assert again.value.hint == told
    assert (spent(shop), left(shop)) == (paid, (0, 0, 2))
    with opened(shop) as connection:
        for kind in ("RELEASE", "SYNOPSIS", "DASHBOARD IF EXISTS", "LADDER"):
            with pytest.raises(WrongKind) as other_kind:
                connection.execute(f"DROP {kind} Busy")
            assert other_kind.value.hint == "write DROP ALERT Busy"
        assert left(shop) == (0, 0, 2)
        connection.execute("DROP ALERT Busy")
        connection.execute(release)
        with pytest.raises(NameTaken) as other:
            connection.execute(MADE.replace("CREATE", "CREATE OR REPLACE"))
        assert other.value.hint == "DROP RELEASE busy first, or choose another name"
        assert connection.execute("SELECT count(*) FROM busy").fetchall() == [(4,)]
        connection.execute("DROP RELEASE busy")
        connection.execute(MADE.replace("CREATE", "CREATE OR REPLACE"))


def test_no_look_is_had_for_nothing_by_ending_a_check(shop: Path) -> None:
    asked(shop, MADE)
    session = Session(shop, analyst="alice")
    alert = saved_alert(session._context, "busy")
    ledger = open_ledger(session.schema)
    zero = PrivacyLoss(session.schema.budget.accounting, Fraction(0))
    own = request_id(alert.key, 0)
    policy = session.schema.policy_hash
    begun = Charge(own, own, "alice", zero, None, "v", policy, CHECK, paid_by=alert.key)
    assert ledger.charge(begun).fresh
    with pytest.raises(OperationalError, match="is being checked"):
        asked(shop, CHECK)
    ledger.close()  # without an answer
    assert asked(shop, CHECK) == []
    assert left(shop) == (2, 1, 1)
    session.close()


def test_a_check_that_is_stopped_as_it_begins_keeps_nobody_from_the_next(shop: Path) -> None:
    """The connection lives on, and the ledger is open in it: nobody would end the check."""
    asked(shop, MADE)
    stopped = True

    def stop(step: str) -> None:
        nonlocal stopped
        if step == RUNNING and stopped:
            stopped = False
            raise ExecutionCancelled

    session = Session(shop, analyst="alice", progress=stop)
    connection = Connection(session)
    with pytest.raises(ExecutionCancelled):
        connection.run(CHECK)
    assert connection.run(CHECK) is not None
    assert left(shop) == (1, 0, 2)  # what was stopped before it began isn't counted
    session.close()


@pytest.mark.parametrize("failed", [ExecutionFailed, ExecutionStopped])
def test_a_check_that_fails_counts_as_one_that_names(
    shop: Path, monkeypatch: pytest.MonkeyPatch, failed: type[Error]
) -> None:
    asked(shop, MADE)

    def fail(*_: object) -> None:
        raise failed

    with monkeypatch.context() as patched:
        patched.setattr(module, "run", fail)
        with pytest.raises(failed):
            asked(shop, CHECK)
    assert left(shop) == (1, 1, 1)
    if failed is ExecutionFailed:
        with pytest.raises(FailedBefore):
            asked(shop, CHECK)
        write(shop, {"a": 99})
    assert asked(shop, CHECK) == []
    assert left(shop) == (2, 1, 1)


def test_history_is_found_whatever_its_length(shop: Path) -> None:
    asked(shop, MADE.replace("LIMIT 2", "LIMIT 9"))
    with opened(shop) as connection:
        session = connection._session
        alert = saved_alert(session._context, "busy")
        ledger = session._context.ledger.open()
        for number in range(6):
            write(shop, {"a": 100 + number})
            assert asked(shop, CHECK) == []
            history = check_history(ledger, alert.key)
            assert (history.checks, history.used, history.running) == (number + 1, 0, False)


def test_it_is_its_makers_alone(shop: Path) -> None:
    asked(shop, MADE)
    for sql in (CHECK, "DROP ALERT busy"):
        with pytest.raises(Error):
            asked(shop, sql, "bob")
    assert asked(shop, "SHOW ALERTS", "bob") == []
    for analyst in ("alice", "bob"):
        with pytest.raises(UnknownTable):
            asked(shop, "SELECT * FROM busy", analyst)
        assert asked(shop, "SHOW dpsql.releases", analyst) == []


def test_an_own_cap_pays_for_it_and_stays_enough_for_its_checks(shop: Path) -> None:
    with pytest.raises(BudgetSpent):
        asked(shop, MADE, "carl")
    asked(shop, MADE.replace("= 20", "= 1").replace("> 1000", "> 3900"), "carl")
    assert asked(shop, CHECK, "carl") == []
    with pytest.raises(BudgetSpent):
        asked(shop, "SELECT count(*) FROM visits", "carl")


def test_of_another_policy_it_is_refused_and_of_another_version_it_is_checked(shop: Path) -> None:
    shop.write_text(SCHEMA + "version: one\n")
    asked(shop, MADE)
    assert asked(shop, CHECK) == []
    shop.write_text(SCHEMA + "version: two\n")
    assert asked(shop, CHECK) == []
    assert left(shop) == (2, 0, 2)
    # Stricter, so that the ledger takes it.
    shop.write_text(SCHEMA.replace("rows_per_group: 2", "rows_per_group: 1") + "version: three\n")
    with pytest.raises(Refused, match="the schema was changed since"):
        asked(shop, CHECK)


def test_what_a_unit_moves_more_than_was_paid_for_is_refused(shop: Path) -> None:
    asked(shop, MADE)
    with opened(shop) as connection:
        context = connection._session._context
        alert = saved_alert(context, "busy")
        compiled = connection._session.compile(
            alert.stored.sql, alert.stored.options, request=alert.stored.request
        )
        threshold = alert.stored.threshold
        above = replace(threshold.mechanism, moves=ThresholdMoves(1, 1))
        less = replace(alert.stored, threshold=replace(threshold, mechanism=above))
        with pytest.raises(Refused, match="by more than was paid for"):
            check_alert(context, replace(alert, stored=less), compiled, CHECK)


def test_its_own_limits_hold_for_all_checks_and_what_is_set_does_not(shop: Path) -> None:
    rows = [(n % 600, "a") for n in range(1200)]
    table = pa.table({"id": [n for n, _ in rows], "ward": [ward for _, ward in rows]})
    pq.write_table(table, shop.parent / "data/visits.parquet")
    with opened(shop) as connection:
        connection.execute(MADE)
        connection.execute(
            MADE.replace("busy", "one").replace("= 20)", "= 20, rows_per_group = 1)")
        )
        connection.execute("SET dpsql.rows_per_group = 1")
        connection.execute("SET dpsql.min_units = 50000")
        connection.execute("SET dpsql.max_error = 1")
        assert len(connection.execute(CHECK).fetchall()) == 1
        assert connection.execute("CHECK ALERT one").fetchall() == []


def test_what_it_costs_is_told_before_and_may_be_capped(shop: Path) -> None:
    with opened(shop) as connection:
        told = str(connection.explain(MADE))
        assert "in each check, of 4 comparisons the first that holds is named" in told
        assert "in all of 100 checks" in told
        assert re.search(r"cost: epsilon = 20\b", told)
        assert 0 < connection.share(MADE) < 1
        assert connection.share(CHECK) == 0
        connection.execute("SET dpsql.max_cost = 1")
        with pytest.raises(OverTarget):
            connection.execute(MADE)
    assert spent(shop) == 0


def test_more_checks_and_names_have_more_error(shop: Path) -> None:
    def error(sql: str) -> float:
        with opened(shop) as connection:
            (release,) = connection.explain(sql).report.releases
            (column,) = release.noise
            assert column.threshold_error is not None
            return column.threshold_error

    one = error(MADE.replace("LIMIT 2", ""))
    assert one < error(MADE.replace("LIMIT 2", "").replace("= 20", "= 20, checks = 9999"))
    assert one < error(MADE)


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (lambda sql: sql.replace("WITH (epsilon = 20)", ""), SyntaxFault),
        (lambda sql: sql.replace("epsilon", "checks"), SyntaxFault),
        (lambda sql: sql.replace("20", "20, checks = 0"), SyntaxFault),
        (lambda sql: sql.replace("20", "20, rounds = 3"), BadParameter),
        (lambda sql: sql.replace("busy", "pg_busy"), Error),
        (lambda sql: sql.replace("busy", "visits"), NameTaken),
        (lambda sql: sql.replace("WHEN", "IF"), SyntaxFault),
        (lambda sql: sql.replace("LIMIT 2", "LIMIT 2 OPTIONS (epsilon = 1)"), SyntaxFault),
        (lambda sql: sql.replace("20", "91"), Error),
        (lambda sql: f"{sql} SELECT 1", SyntaxFault),
        (lambda _: "CHECK ALERT busy now", SyntaxFault),
        (lambda _: "CHECK ALERT busy", UnknownRelease),
    ],
)
def test_what_is_written_otherwise_is_refused(
    shop: Path, change: Callable[[str], str], wrong: type[Error]
) -> None:
    with pytest.raises(wrong):
        asked(shop, change(MADE))
    assert spent(shop) == 0


def test_places_of_errors_are_those_of_the_statement(shop: Path) -> None:
    sql = MADE.replace("count(*)", "count(nothing)")
    with pytest.raises(Error) as refused:
        asked(shop, sql)
    assert refused.value.at is not None
    assert sql[refused.value.at.start :].startswith("nothing")
