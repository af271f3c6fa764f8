"""A constant beside an expression of its type is read in that type, and as that very value."""

from __future__ import annotations

from fractions import Fraction

import pytest
from data.database import attached

from dpsql.emit.dialect.duckdb.literal import emit_literal, untyped_literal
from dpsql.schema.sql_type import Decimal, Double, Integer, SqlType

KINDS: list[SqlType] = [
    *(Integer(bits, signed) for bits in (8, 16, 32, 64, 128) for signed in (True, False)),
    *(
        Decimal(*digits)
        for digits in [(4, 0), (4, 4), (15, 2), (18, 18), (19, 2), (38, 2), (38, 38)]
    ),
    Double(),
]


def values(kind: SqlType) -> list[int | Fraction]:
    """Both ends of what a type holds, and what is next to 0."""
    match kind:
        case Integer(bits=bits, signed=signed):
            least, most = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
            return [least, most, 0, 1, min(most, 1000)]
        case Decimal(precision=precision, scale=scale):
            steps = [-(10**precision) + 1, -1, 0, 1, 10**precision - 1]
            return [Fraction(n, 10**scale) for n in steps]
        case _:
            return [Fraction(-1, 4), Fraction(0), Fraction(10**20)]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_it_is_read_in_the_type_of_what_it_stands_beside(kind: SqlType) -> None:
    with attached() as connection:
        connection.execute(f"CREATE TABLE t (x {kind})")
        for value in values(kind):
            plain, typed = (f(value, kind).sql("duckdb") for f in (untyped_literal, emit_literal))
            connection.execute(f"DELETE FROM t; INSERT INTO t SELECT {typed}")
            found = connection.execute(
                f"SELECT typeof(CASE WHEN x < {plain} THEN {plain} ELSE x END), x = {plain},"
                f" x < {plain}, x > {plain}, x IN ({plain}), {plain} = {typed} FROM t"
            ).fetchone()
            assert found is not None
            named = connection.execute("SELECT typeof(x) FROM t").fetchone()
            assert found == (*(named or ()), True, False, False, True, True), (plain, typed)


def test_most_have_no_cast() -> None:
    assert untyped_literal(12, Integer(16, signed=False)).sql("duckdb") == "12"
    assert untyped_literal(Fraction(1, 20), Decimal(15, 2)).sql("duckdb") == "0.05"
    assert untyped_literal(Fraction(-3), Decimal(15, 2)).sql("duckdb") == "(-3.00)"
