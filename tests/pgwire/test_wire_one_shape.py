"""Over the wire, too, statements that differ in constants alone are what each is by itself.

Each is asked with its constants written out, with parameters as text and in binary, and in a
session of its own that has asked nothing before. All have one answer: a statement that was taken
for another would have another's key, and other noise.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pytest
from pgwire.shop import served

from dpsql.session.session import Session

COUNT = "SELECT count(*) FROM orders WHERE "

ASKED: tuple[tuple[str, Sequence[object]], ...] = (
    (COUNT + "qty > %s", (30, 31, 32, 9, 99, 0, -1, 40_000, 3_000_000_000)),
    (COUNT + "%s < qty AND paid", (30, 31, 32, 9)),
    (COUNT + "status = %s", ("new", "paid", "shipped", "no'ne", "")),
    (COUNT + "status = trim(%s)", ("new", "paid", " shipped ")),
    (COUNT + "amount <= %s", tuple(map(Decimal, ("9.50", "9.51", "0.50", "1234.5")))),
    (
        COUNT + "ts < %s",
        (*(dt.datetime.combine(dt.date(2024, n, 5), dt.time(6, 7)) for n in (1, 2, 3)),),
    ),
    (COUNT + "ts < %s", (*(dt.date(2024, n, 5) for n in (4, 5, 6)),)),
    ("SELECT count(*) FROM customers WHERE joined > %s", (*(dt.date(2021, 1, n) for n in (2, 3)),)),
    ("SELECT status, count(*) FROM orders WHERE qty >= %s GROUP BY 1 ORDER BY 1", (3, 4, 50)),
)

WRITTEN = (
    (COUNT + "ts < DATE '{}'", ("2024-01-01", "2024-01-02", "2024-01-03")),
    (COUNT + "qty > greatest({}, 20)", ("30", "31", "10")),
    (COUNT + "status = replace('{}', 'q', 'n')", ("new", "paid", "qew")),
)
"""Calls whose types PostgreSQL doesn't tell of parameters."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DPSQL_STATE", str(tmp_path / "state"))
    return tmp_path


def test_constants_and_parameters_have_the_answer_of_the_statement_alone(folder: Path) -> None:
    psycopg = pytest.importorskip("psycopg")
    with (
        served(folder) as server,
        psycopg.connect(server.dsn, autocommit=True) as one,
        psycopg.connect(server.dsn, autocommit=True) as other,
        psycopg.ClientCursor(one) as written,
    ):
        for sql, values in ASKED:
            for value in values:
                first = written.execute(sql, (value,)).fetchall()
                for binary in (False, True):
                    rows = other.execute(sql, (value,), binary=binary, prepare=True).fetchall()
                    assert rows == first, (sql, value, binary)
                _check_alone(server.schema, written.mogrify(sql, (value,)), first)
        for sql, texts in WRITTEN:
            for text in texts:
                first = written.execute(sql.format(text)).fetchall()
                assert other.execute(sql.format(text), prepare=True).fetchall() == first
                _check_alone(server.schema, sql.format(text), first)


def _check_alone(schema: Path, sql: str, rows: Sequence[tuple[object, ...]]) -> None:
    with closing(Session(schema, analyst="alice")) as session:
        answer = session.query(sql)
    assert answer.privacy.stored, sql
    assert [tuple(row.values()) for row in answer.table.to_pylist()] == [*rows], sql


def test_the_bits_of_a_type_are_no_constant(folder: Path) -> None:
    # Statements that differ in them alone are of two types, as float(24) and float(53) are.
    psycopg = pytest.importorskip("psycopg")
    sql = "SELECT cast(region_id / 3.0 AS float({}))::float8 FROM regions WHERE region_id = 1"
    single, double = 0.3333333432674408, 1 / 3
    with served(folder) as server, psycopg.connect(server.dsn, autocommit=True) as connection:
        for bits, third in ((53, double), (24, single), (25, double), (1, single), (53, double)):
            ((value,),) = connection.execute(sql.format(bits)).fetchall()
            assert value == third
