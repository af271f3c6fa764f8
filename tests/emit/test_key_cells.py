from __future__ import annotations

import datetime as dt
from fractions import Fraction

import duckdb
import pytest
from sqlglot import exp

from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.emit.dialect.key_cells import OF_GROUPS, OF_UNITS, KeyCells, with_cells
from dpsql.emit.dialect.nodes import listed_key
from dpsql.emit.release.contribution import number_of_rows
from dpsql.emit.release.contributions import grouped, select_from
from dpsql.emit.sql.clauses import joined, select_of
from dpsql.emit.sql.identifier import column_ref, table, with_alias
from dpsql.plan.bounded_release.engine_query import DomainTable
from dpsql.privacy.domain import Value
from dpsql.release.columns.group_keys import domain_table
from dpsql.schema.sql_type import (
    BIGINT,
    Boolean,
    Date,
    Decimal,
    Double,
    Integer,
    SqlType,
    Timestamp,
    Uuid,
    Varchar,
)

DAY = dt.date(1992, 2, 29)
TEXTS = ("", " ", "a", "A", "a'b", '"', "é", "e\u0301", "NULL", "\\", "%")


def key_cells(values: tuple[Value | None, ...], kind: SqlType) -> KeyCells:
    return KeyCells("g0", "k0_0", values, kind)


def both(cell: KeyCells) -> tuple[str, str]:
    """The cells of the keys in `rows` by a join, and by comparisons."""
    items = [with_alias(number_of_rows(), "s0")]
    sums = grouped(select_of([exp.Star()], table("rows")), [column_ref("k0_0")], items)
    own = column_ref("cell", table="d0")
    sums = select_from(sums, [with_alias(own, "g0"), column_ref("s0", table="t")])
    equal = exp.NullSafeEQ if None in cell.values else exp.EQ
    same = equal(
        this=column_ref("k0_0", table="t"),
        expression=listed_key(column_ref("k0", table="d0"), cell.kind),
    )
    by_join = joined(sums, table("domain 0", "d0"), "INNER", same)
    columns = [column_ref("g0"), column_ref("s0")]
    known = exp.Not(this=exp.Is(this=column_ref("g0"), expression=exp.null()))
    by_key = select_from(with_cells(by_join, [cell], "s0"), columns).where(known)
    return rendered(by_join), rendered(by_key)


def connection(cell: KeyCells, keys: str) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE rows AS SELECT k::{cell.kind} AS k0_0 FROM ({keys}) AS t(k)")
    cells = tuple((value,) for value in cell.values)
    connection.register("domain 0", domain_table(DomainTable("domain_0", (cell.kind,), cells)))
    return connection


INTEGERS = "SELECT * FROM range(-3, 5) UNION ALL SELECT NULL UNION ALL SELECT 127"


@pytest.mark.parametrize(
    ("cell", "keys"),
    [
        (key_cells((*TEXTS, None), Varchar()), "SELECT unnest($1) UNION ALL SELECT 'b'"),
        (key_cells(TEXTS, Varchar()), "SELECT unnest($1) UNION ALL SELECT NULL"),
        *((key_cells((None, -3, 2, 0, 127), Integer(bits)), INTEGERS) for bits in (8, 16, 32, 64)),
        (key_cells((-(2**63), 2**63 - 1), BIGINT), "VALUES (-9223372036854775808), (1), (NULL)"),
        (key_cells((True, None), Boolean()), "VALUES (TRUE), (FALSE), (NULL)"),
        (key_cells((False, True), Boolean()), "VALUES (TRUE), (FALSE), (NULL)"),
        (key_cells((DAY, dt.date.max), Date()), "VALUES (DATE '1992-02-29'), ('infinity'), (NULL)"),
    ],
)
def test_a_key_says_its_cell_as_a_join_does(cell: KeyCells, keys: str) -> None:
    assert cell.can_be_compared(OF_GROUPS)
    assert cell.can_be_compared(OF_UNITS) == (len(cell.values) <= OF_UNITS)
    by_join, by_key = both(cell)
    assert "domain 0" not in by_key
    listed = ", ".join("'" + text.replace("'", "''") + "'" for text in TEXTS)
    with connection(cell, keys.replace("$1", f"[{listed}]")) as con:
        # Groups of units are chosen by hashes of cells, in statements of both kinds: of one type.
        found, compared = (
            sorted(con.execute(f"SELECT *, hash(g0, 'salt'), typeof(g0) FROM ({sql})").fetchall())
            for sql in (by_join, by_key)
        )
        assert found
        assert compared == found


@pytest.mark.parametrize(
    "cell",
    [
        key_cells(tuple(range(OF_GROUPS + 1)), BIGINT),
        key_cells(("a\0b",), Varchar()),
        key_cells(("a\nb",), Varchar()),
        key_cells((1,), Integer(128)),
        key_cells((Fraction(1, 2),), Double()),
        key_cells((Fraction(1, 2),), Decimal(5, 1)),
        key_cells((dt.datetime(1992, 2, 29),), Timestamp()),  # noqa: DTZ001 - days have no zone
        key_cells(("6f1f8e9a-0000-4000-8000-000000000000",), Uuid()),
        key_cells((None, True), BIGINT),
        key_cells((1,), Varchar()),
    ],
)
def test_other_keys_are_looked_up(cell: KeyCells) -> None:
    assert not cell.can_be_compared(OF_GROUPS)


def test_a_cell_is_asked_of_sums_and_not_of_rows() -> None:
    cell = key_cells((1, 2, None), BIGINT)
    with connection(cell, "VALUES (1), (2), (3)") as con:
        shown = con.execute(f"EXPLAIN {both(cell)[1]}").fetchall()
    above, below = str(shown).upper().split("GROUP BY", 1)
    assert "FILTER" in above
    assert "FILTER" not in below


def test_what_is_written_twice_is_the_same() -> None:
    cell = key_cells(("a", None), Varchar())
    sums = select_of([column_ref("k0_0"), column_ref("s0")], table("sums"))
    tree = with_cells(sums, [cell], "s0")
    assert rendered(tree) == rendered(tree)
