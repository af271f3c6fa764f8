"""Arithmetic without TRY has the values that it has with one, whatever bits its operands have."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from data.database import attached
from functions.calls import TYPES, bind
from functions.samples import extreme
from sqlglot import parse_one

from dpsql.emit.dialect.duckdb.attempt.wide_arithmetic import wide_arithmetic
from dpsql.emit.dialect.duckdb.expression import emit_expression
from dpsql.errors import TypeFault
from dpsql.plan.numeric_types import is_number
from dpsql.schema.sql_type import Decimal, Double, SqlType

NUMBERS = [
    *(kind for kind in TYPES if is_number(kind) and kind != Double(32)),
    *(Decimal(9, 2), Decimal(15, 2), Decimal(19, 4), Decimal(30, 0)),
]
FORMS = (
    *("a + b", "a - b", "a * b", "a / b"),
    *("a * (1 - b)", "a * (1 - b) * (1 + b)", "a * b - b * a", "a * b / (a + b)", "a * 1.5 + 2"),
)


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with attached() as connection:
        for kind in NUMBERS:
            values = ", ".join(f"(CAST('{text}' AS {kind}))" for text in extreme(kind))
            connection.execute(f'CREATE TABLE "{kind}" AS SELECT v FROM (VALUES {values}) t(v)')
        yield connection


@pytest.mark.parametrize("form", FORMS)
def test_values_are_those_of_try(connection: duckdb.DuckDBPyConnection, form: str) -> None:
    compared = 0
    for left, right in itertools.product(NUMBERS, repeat=2):
        forms = _both(form, left, right)
        if forms is None:
            continue
        tried, wide = forms
        rows = f'(SELECT v AS c0 FROM "{left}") x, (SELECT v AS c1 FROM "{right}") y'
        differs = f"CAST({tried} AS VARCHAR) IS DISTINCT FROM CAST({wide} AS VARCHAR)"
        assert not connection.execute(f"SELECT c0, c1 FROM {rows} WHERE {differs}").fetchall()
        typed = f"SELECT DISTINCT typeof({tried}) = typeof({wide}) FROM {rows}"
        assert connection.execute(typed).fetchall() == [(True,)]
        compared += 1
    assert compared > 20


def _both(form: str, left: SqlType, right: SqlType) -> tuple[str, str] | None:
    """`form` with a TRY and without; None where it needs one, or there is no such operator."""
    try:
        found, _ = bind(parse_one(form, dialect="duckdb"), {"a": left, "b": right})
    except TypeFault:
        return None
    wide = wide_arithmetic(found)
    if wide is None:
        return None
    text = wide.sql(dialect="duckdb")
    assert "TRY(" not in text
    return emit_expression(found).sql(dialect="duckdb"), text


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kinds", [(15, 15), (15, 2), (18, 18), (18, 1), (9, 18)])
def test_decimals_of_more_digits_than_their_type_raise_nowhere(
    form: str, kinds: tuple[int, int], tmp_path: Path
) -> None:
    a, b = (
        Decimal(digits, min(digits - 1, scale)) for digits, scale in zip(kinds, (2, 7), strict=True)
    )
    forms = _both(form, a, b)
    if forms is None:
        return
    ends = [-(2**63), -(2**63) + 1, -(10**18), -1, 0, 1, 10**18, 2**63 - 1]
    pairs = list(itertools.product(ends, repeat=2))
    file = tmp_path / "odd.parquet"
    columns = {
        f"c{number}": _decimals([pair[number] for pair in pairs], kind)
        for number, kind in enumerate((a, b))
    }
    pq.write_table(pa.table(columns), file, store_decimal_as_integer=True)
    with attached() as connection:
        rows = connection.execute(
            f"SELECT count({forms[1]}) FROM (SELECT c0, c1 FROM '{file}')"
        ).fetchone()
    assert rows is not None


def _decimals(integers: list[int], kind: Decimal) -> pa.Array:
    """Decimals that are these integers without their point, however many digits these have."""
    bits = pa.array(integers, pa.int64()).buffers()
    return pa.Array.from_buffers(pa.decimal64(kind.precision, kind.scale), len(integers), bits)
