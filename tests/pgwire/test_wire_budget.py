"""What is charged over the wire: once for each execution, and never for a description."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pgwire.pressure import charged, question
from pgwire.shop import Served, served
from waiting import HANGS_AFTER

psycopg = pytest.importorskip("psycopg")

BY_STATUS = "SELECT status, count(*) FROM orders GROUP BY status"


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path / "shop") as found:
        yield found


def spent(connection: Any) -> float:
    row = connection.execute("SHOW dpsql.budget").fetchone()
    return float(row[2])


def test_describing_is_free_and_running_costs_once(fresh: Served) -> None:
    with psycopg.connect(fresh.dsn, autocommit=True) as connection:
        raw = connection.pgconn
        for number in range(20):
            raw.prepare(f"s{number}".encode(), BY_STATUS.encode())
            assert raw.describe_prepared(f"s{number}".encode()).nfields == 2
        assert spent(connection) == 0
        for number in range(20):
            assert raw.exec_prepared(f"s{number}".encode(), None).ntuples >= 4
        once = spent(connection)
        assert 0.49 < once <= 0.5


def test_what_is_left_is_told_as_of_an_answers_own_charge_or_as_it_is_now(fresh: Served) -> None:
    """Beside an answer that is charged what its charge left, beside a stored one what is left."""

    def left(connection: Any) -> str:
        row = connection.execute("SHOW dpsql.budget").fetchone()
        return f"left: epsilon = {float(row[3]):.4g} of {float(row[1]):.4g}"

    with (
        psycopg.connect(fresh.dsn, autocommit=True) as connection,
        psycopg.connect(fresh.dsn.replace("alice", "dave"), autocommit=True) as other,
    ):
        told: list[str] = []
        connection.add_notice_handler(lambda notice: told.append(str(notice.message_primary)))
        for number in range(3):
            connection.execute(f"SELECT count(*) FROM orders WHERE qty > {number}")
            assert left(connection) in told[-1]
        other.execute("SELECT count(*) FROM orders WHERE qty > 40")
        assert left(connection) not in told[-1]
        connection.execute("SELECT count(*) FROM orders WHERE qty > 2")
        assert left(connection) in told[-1]
        connection.execute("SELECT count(*) FROM orders WHERE qty > 3")
        assert left(connection) in told[-1]


def test_a_unit_of_time_that_is_a_parameter_has_columns_before_its_value(server: Served) -> None:
    sql = b"SELECT date_trunc($1, ts), count(*) FROM orders GROUP BY 1"
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.pgconn.prepare(b"by", sql)
        assert connection.pgconn.describe_prepared(b"by").nfields == 2
        assert connection.pgconn.exec_prepared(b"by", [b"year"]).ntuples == 4


def test_an_answer_that_is_read_in_parts_costs_once(server: Served) -> None:
    with psycopg.connect(server.dsn) as connection:
        with connection.cursor(name="c") as cursor:
            before = spent(connection)
            cursor.execute("SELECT region_id, count(*) FROM orders WHERE qty <> 976 GROUP BY 1")
            assert spent(connection) == before
            cursor.fetchone()
            once = spent(connection)
            rest = cursor.fetchall()
        assert len(rest) >= 3
        assert before < once == spent(connection)


def test_all_connections_share_one_ledger_and_each_analyst_has_a_cap(fresh: Served) -> None:
    def ask(user: str, where: str) -> None:
        with psycopg.connect(fresh.dsn.replace("alice", user), autocommit=True) as connection:
            connection.execute(f"SELECT count(*) FROM orders WHERE {where}")

    for number in range(3):
        ask("dave", f"qty > {number}")
    ask("carol", "qty > 10")
    ask("carol", "qty > 11")
    for number in range(12, 20):
        try:
            ask("carol", f"qty > {number}")
        except psycopg.errors.ConfigurationLimitExceeded:
            break
    else:
        pytest.fail("carol's cap of 1 was passed")
    ask("dave", "qty > 20")


def test_a_cancelled_statement_says_whether_it_was_charged(server: Served) -> None:
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        before = spent(connection)
        cancelled = 0
        for number in range(12):
            timer = threading.Timer(0.002 * number, connection.cancel)
            timer.start()
            sql = (
                f"SELECT status, count(*), avg(amount) FROM orders WHERE qty <> {number} GROUP BY 1"
            )
            try:
                connection.execute(sql)
            except psycopg.errors.QueryCanceled as error:
                cancelled += 1
                stands = "its charge stands" in str(error)
                assert stands is (spent(connection) > before)
            timer.join()
            time.sleep(0.05)
            before = spent(connection)


def test_a_cancel_stops_one_run_of_a_prepared_statement(server: Served) -> None:
    """One that comes when nothing runs stops nothing, in a transaction as outside."""
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        raw = connection.pgconn
        raw.prepare(b"s", BY_STATUS.encode())
        connection.execute("BEGIN")
        for _ in range(2):
            connection.cancel()
            time.sleep(0.2)
            assert raw.exec_prepared(b"s", None).ntuples >= 4
        connection.execute("COMMIT")
        connection.cancel()
        time.sleep(0.2)
        assert raw.exec_prepared(b"s", None).ntuples >= 4


def test_what_several_ask_at_the_same_time_is_charged_once(server: Served) -> None:
    together = threading.Barrier(8)
    answers = []

    def ask() -> None:
        with psycopg.connect(server.dsn, autocommit=True) as connection:
            together.wait(HANGS_AFTER)
            answers.append(connection.execute(question(977)).fetchall())

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [answers[0]] * 8
    assert charged(server)[977] == 1
