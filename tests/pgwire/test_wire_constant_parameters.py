"""Patterns, time zones and lengths of time may be bound: each is read as the constant it is."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from pgwire.shop import Served

from dpsql.errors import Span
from dpsql.pgwire.query_service import QueryService
from dpsql.pgwire.sql.types.constant_parameters import Use, with_constants
from dpsql.plan.expression import Literal
from dpsql.schema.sql_type import Null, Varchar

LENGTH = timedelta(days=3, seconds=5)
WRITTEN = "('3 days 5 seconds'::interval)"
ASKED = [
    ("SELECT to_char(ts, {}) FROM t ORDER BY id", "YYYY-MM", "'YYYY-MM'"),
    ("SELECT to_char(ts, {}::varchar) FROM t ORDER BY id", '"it\'s" YYYY', "'\"it''s\" YYYY'"),
    ("SELECT to_char(d, {}::text) FROM t ORDER BY id", "999.99", "'999.99'"),
    ("SELECT ts AT TIME ZONE {} FROM t ORDER BY id", "Europe/Berlin", "'Europe/Berlin'"),
    ("SELECT timezone({}, ts) FROM t ORDER BY id", "Europe/Berlin", "'Europe/Berlin'"),
    ("SELECT ts - {} AS x, day + {} FROM t ORDER BY id", LENGTH, WRITTEN),
    ("SELECT ts + 2 * {} FROM t ORDER BY id", LENGTH, WRITTEN),
    ("SELECT ts - CAST({} AS interval) FROM t ORDER BY id", LENGTH, WRITTEN),
    ("SELECT count(*) FROM t WHERE ts > now() - {}::interval", LENGTH, WRITTEN),
    ("SELECT i, sum(i) OVER (ORDER BY ts RANGE {} PRECEDING) FROM t ORDER BY id", LENGTH, WRITTEN),
    ("SELECT {} = interval '3 days 5 seconds' AS same", LENGTH, WRITTEN),
]


@pytest.mark.parametrize(("sql", "value", "constant"), ASKED)
@pytest.mark.parametrize("binary", [False, True])
def test_a_parameter_is_its_constant(
    ours: Any, sql: str, value: object, constant: str, *, binary: bool
) -> None:
    values = [value] * sql.count("{}")
    cursor = ours.cursor(binary=binary)
    bound = cursor.execute(sql.replace("{}", "%s"), values).fetchall()
    assert bound == cursor.execute(sql.replace("{}", constant)).fetchall()


@pytest.mark.parametrize(("sql", "value"), [(sql, value) for sql, value, _ in ASKED])
def test_a_parameter_is_postgresqls(ours: Any, theirs: Any, sql: str, value: object) -> None:
    bound = [c.execute(sql.replace("{}", "%s"), [value] * sql.count("{}")) for c in (ours, theirs)]
    mine, others = ([(d.name, d.type_code) for d in c.description] for c in bound)
    assert mine == others
    assert bound[0].fetchall() == bound[1].fetchall()


@pytest.mark.parametrize("bound", ["%s", "%s::interval"])
def test_a_length_moves_private_moments(server: Served, bound: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    sql = "SELECT count(*) FROM orders WHERE ts BETWEEN TIMESTAMP '2024-03-04' - {} AND now()"
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        notices: list[str] = []
        told = connection.execute(sql.format(WRITTEN)).fetchone()
        connection.add_notice_handler(lambda notice: notices.append(notice.message_primary))
        for _ in range(2):  # the second time, the event loop has the answer
            assert connection.execute(sql.format(bound), [LENGTH]).fetchone() == told
    assert all("answered before" in notice for notice in notices)


@pytest.mark.parametrize(
    ("sql", "parameter", "column"),
    [
        ("SELECT to_char(ts, $1) FROM t", 25, 25),
        ("SELECT to_char(d, $1) FROM t", 25, 25),
        ("SELECT ts AT TIME ZONE $1 FROM t", 25, 1184),
        ("SELECT ts + $1 FROM t", 1186, 1114),
        ("SELECT ts - $1::interval FROM t", 1186, 1114),
    ],
)
def test_a_statement_is_described_before_its_constants_are_known(
    ours: Any, sql: str, parameter: int, column: int
) -> None:
    wire = ours.pgconn
    assert wire.prepare(b"", sql.encode()).error_message == b""
    described = wire.describe_prepared(b"")
    assert (described.param_type(0), described.ftype(0)) == (parameter, column)


def test_errors_point_into_the_clients_text(ours: Any) -> None:
    psycopg = pytest.importorskip("psycopg")
    sql = "SELECT ts AT TIME ZONE $1, nothing FROM t WHERE ts > now() - $2 AND i=$3AND t = $1"
    with pytest.raises(psycopg.errors.UndefinedColumn) as raised:
        psycopg.RawCursor(ours).execute(sql, ["Europe/Berlin", LENGTH, 3])
    assert int(raised.value.diag.statement_position) == sql.index("nothing") + 1


def test_a_null_stays_a_parameter(ours: Any) -> None:
    rows = ours.execute("SELECT ts + %s FROM t", [None]).fetchall()
    assert rows == [(None,)] * 5


def test_constants_are_quoted_and_their_parameters_go() -> None:
    values = {"1": Literal("it's $2", Varchar()), "2": Literal(None, Null())}
    uses = {"1": Use.PATTERN, "2": Use.ZONE}
    text, (insertion,), left = with_constants("SELECT $1, '$1', $2", values, uses)
    assert text == "SELECT 'it''s $2', '$1', $2"
    assert (insertion.start, insertion.end, insertion.growth) == (7, 17, 8)
    assert left == {"2": values["2"]}


def test_a_position_in_a_constant_is_its_parameters(alice: QueryService) -> None:
    sql = "SELECT to_char(ts, $1 ) FROM orders"
    query = alice.reader.read(sql, ()).query
    values = {"1": Literal("YYYY-MM", Varchar())}
    text, insertions, _ = with_constants(query.written, values, query.uses)
    assert insertions
    constant, behind = text.index("'YYYY"), text.index("orders")
    placed = type(query)(text, text, None, None, insertions=insertions, blanks=query.blanks)
    at = placed.in_client_text(Span(constant + 2, constant + 4))
    assert at is not None
    assert at.start == sql.index("$1")
    assert placed.in_client_text(Span(behind, behind + 6)) == Span(
        sql.index("orders"), sql.index("orders") + 6
    )
