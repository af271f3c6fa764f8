"""What clients write: several statements, commands, PostgreSQL's dialect, columns' names."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pgwire.shop import FIXTURES

from dpsql.errors import Error
from dpsql.pgwire.codec import oid
from dpsql.pgwire.sql import commands as c
from dpsql.pgwire.sql.cursor_statement import Fetch
from dpsql.pgwire.sql.metadata_probe import asks_for_columns
from dpsql.pgwire.sql.transaction_statement import Begin, End, GoBack, SetTransaction
from dpsql.pgwire.sql.translate import translated
from dpsql.pgwire.sql.types.parameter_types import parameter_types
from dpsql.schema.load.load import load_schema
from dpsql.sqltext.split import split

SCHEMA = load_schema(FIXTURES / "schema.yaml")


def test_statements_are_split_at_semicolons_that_end_them() -> None:
    text = """SELECT ';' ; /* ; /* ; */ ; */ ; SELECT $x$ ; $x$ -- ;
    ; SELECT E'\\';' ; SELECT "a;b\""""
    assert [piece.sql.strip()[:8] for piece in split(text)] == [
        "SELECT '",
        "SELECT $",
        "SELECT E",
        'SELECT "',
    ]
    assert all(text[p.start : p.start + len(p.sql)] == p.sql for p in split(text))


@given(st.text(alphabet="ab;'\"$-/*\\E\n ", max_size=60))
def test_splitting_never_fails(text: str) -> None:
    for piece in split(text):
        assert text[piece.start : piece.start + len(piece.sql)] == piece.sql


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("begin read only", Begin),
        ("START TRANSACTION ISOLATION LEVEL SERIALIZABLE", Begin),
        ("rollback to savepoint a", GoBack),
        ("ABORT", End),
        ("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", SetTransaction),
        ("/* x */ set dpsql.epsilon to 0.1", c.Set),
        ("show transaction isolation level", c.Show),
        ("deallocate all", c.Deallocate),
        ('FETCH FORWARD 10 FROM "C_1"', Fetch),
        ("close all", c.CloseCursor),
        ("copy (select ')' ) to stdout csv header", c.Copy),
        ("UNLISTEN *", c.NoOp),
        ("WITH x AS (SELECT 1) SELECT * FROM x", c.Query),
    ],
)
def test_a_command_is_told_by_its_words(sql: str, kind: type) -> None:
    assert isinstance(c.read_command(sql), kind)


def test_case_of_names_is_kept_only_in_quotes() -> None:
    assert c.read_command('DEALLOCATE "_PLAN0x1"') == c.Deallocate("_PLAN0x1")
    assert c.read_command("DEALLOCATE Plan") == c.Deallocate("plan")


@pytest.mark.parametrize("sql", ["INSERT INTO orders VALUES (1)", "drop table orders"])
def test_what_would_write_is_refused_as_read_only(sql: str) -> None:
    with pytest.raises(c.ReadOnly) as raised:
        c.read_command(sql)
    assert raised.value.sqlstate == "25006"


@given(st.text(max_size=60))
def test_reading_a_command_fails_only_as_statements_do(text: str) -> None:
    with suppress(Error):
        c.read_command(text)


@pytest.mark.parametrize(
    ("written", "ours"),
    [
        ("SELECT qty / 2 FROM orders", "SELECT qty // 2 FROM orders"),
        ("SELECT amount / 2 FROM orders", "SELECT amount / 2 FROM orders"),
        ("SELECT sum(qty) / count(*) FROM orders", "SELECT SUM(qty) // COUNT(*) FROM orders"),
        ("SELECT qty::float8 / 2 FROM orders", "SELECT CAST(qty AS DOUBLE) / 2 FROM orders"),
        (
            "SELECT x.n / 2 FROM (SELECT count(*) AS n FROM orders) x",
            "SELECT x.n // 2 FROM (SELECT COUNT(*) AS n FROM orders) AS x",
        ),
        (
            "SELECT status FROM public.orders ORDER BY 1 DESC",
            "SELECT status FROM orders ORDER BY 1 DESC NULLS FIRST",
        ),
        ("SELECT count(*) FROM shop.public.orders", "SELECT COUNT(*) FROM orders"),
    ],
)
def test_postgresqls_meaning_is_kept(written: str, ours: str) -> None:
    assert translated(written, SCHEMA).sql == ours


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("SELECT count(*), Sum(qty), qty + 1 FROM orders", ("count", "sum", "?column?")),
        ("SELECT Status, amount::int4, 1::int8, 'x'::text", ("status", "amount", "int8", "text")),
        ('SELECT "Status" AS "A b", date_trunc(\'day\', ts) FROM orders', ("A b", "date_trunc")),
        ("SELECT CASE WHEN paid THEN 1 ELSE qty END, EXISTS (SELECT 1)", ("qty", "exists")),
        ("SELECT coalesce(a, b), (SELECT max(x) FROM t), TRUE", ("coalesce", "max", "bool")),
    ],
)
def test_columns_are_called_as_postgresql_calls_them(sql: str, names: tuple[str, ...]) -> None:
    assert translated(sql, SCHEMA).names == names


def test_a_place_in_our_text_is_one_in_theirs() -> None:
    written = "SELECT   count ( * )  FROM public.orders WHERE nope = 1"
    found = translated(written, SCHEMA)
    at = found.sql.index("nope")
    from dpsql.errors import Span

    place = found.position(Span(at, at + 4))
    assert place is not None
    assert written[place.start : place.end] == "nope"


def test_parameters_have_the_types_of_their_places() -> None:
    sql = """SELECT count(*), $1::date FROM orders WHERE qty > $2 AND amount BETWEEN $3 AND $4
    AND status IN ($5, 'new') AND ts < $6 AND score * 2 > $7 LIMIT $8"""
    kinds = parameter_types(translated(sql, SCHEMA).tree, (), SCHEMA)
    numeric = oid.NUMERIC
    expected = (oid.DATE, oid.INT4, numeric, numeric, oid.TEXT, oid.TIMESTAMP, oid.FLOAT8, oid.INT8)
    assert kinds == expected


def test_a_type_that_is_given_is_taken() -> None:
    tree = translated("SELECT count(*) FROM orders WHERE qty > $1", SCHEMA).tree
    assert parameter_types(tree, (oid.INT8,), SCHEMA) == (oid.INT8,)


@pytest.mark.parametrize(
    ("sql", "asks"),
    [
        ("SELECT * FROM orders LIMIT 0", True),
        ("SELECT * FROM orders LIMIT 1", True),
        ("SELECT 1 AS a FROM orders LIMIT 0", True),
        ("SELECT 1 AS a FROM orders LIMIT 1", False),
        ("SELECT * FROM orders WHERE 1 = 0", True),
        ("SELECT * FROM orders WHERE paid AND (1 <> 1)", True),
        ("SELECT DISTINCT customer_id FROM orders", True),
        ("SELECT * FROM orders LIMIT 100", False),
        ("SELECT * FROM orders WHERE paid OR 1 = 0", False),
        ("SELECT * FROM orders WHERE 1 = 1", False),
    ],
)
def test_questions_for_columns_are_told_from_the_text(sql: str, *, asks: bool) -> None:
    assert asks_for_columns(translated(sql, SCHEMA).tree) is asks
