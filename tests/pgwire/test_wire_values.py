"""Values in both formats, compared with what psycopg reads and writes."""

from __future__ import annotations

import datetime as dt
import struct
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsql.pgwire.codec import binary, oid, text
from dpsql.pgwire.codec.copy import CopyOptions, copied
from dpsql.pgwire.codec.oid import Column
from dpsql.pgwire.codec.parameter import BadValue, python_value

decimals = st.decimals(
    allow_nan=False, allow_infinity=False, min_value=Decimal(-(10**30)), max_value=Decimal(10**30)
)
VALUES: dict[int, st.SearchStrategy[object]] = {
    oid.BOOL: st.booleans(),
    oid.INT2: st.integers(-(2**15), 2**15 - 1),
    oid.INT4: st.integers(-(2**31), 2**31 - 1),
    oid.INT8: st.integers(-(2**63), 2**63 - 1),
    oid.FLOAT8: st.floats(allow_nan=False),
    oid.TEXT: st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    oid.DATE: st.dates(),
    oid.TIMESTAMP: st.datetimes(),
    oid.NUMERIC: decimals,
    1009: st.lists(st.text(alphabet='ab,{}"\\ N', max_size=4), max_size=4),
    1016: st.lists(st.integers(-9, 9), max_size=4),
}


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("form", [0, 1])
def test_psycopg_reads_what_is_written(kind: int, form: int) -> None:
    psycopg = pytest.importorskip("psycopg")
    from psycopg.pq import Format

    def check(value: object) -> None:
        module = binary if form else text
        transformer = psycopg.adapt.Transformer()
        loader = transformer.get_loader(kind, Format(form))
        assert loader.load(module.encoder(kind)(value)) == value

    given(VALUES[kind])(check)()


@pytest.mark.parametrize("kind", set(VALUES) - {1009, 1016})
@pytest.mark.parametrize("form", [0, 1])
def test_a_parameter_is_what_was_bound(kind: int, form: int) -> None:
    def check(value: object) -> None:
        module = binary if form else text
        assert python_value(1, module.encoder(kind)(value), kind, form) == value

    given(VALUES[kind])(check)()


def test_a_time_of_a_zone_is_its_text_in_either_format() -> None:
    """psycopg binds datetime.time with a zone so, whose bytes were no text."""
    packed = struct.pack("!qi", 3_723_000_000, -3600)  # seconds west of UTC
    assert python_value(1, packed, oid.TIMETZ, 1) == "01:02:03+01:00"
    assert python_value(1, b"01:02:03+01", oid.TIMETZ, 0) == "01:02:03+01"


@given(st.sampled_from(sorted(VALUES)), st.sampled_from([0, 1]), st.binary(max_size=40))
def test_any_bytes_are_a_value_or_a_fault_that_quotes_nothing(
    kind: int, form: int, data: bytes
) -> None:
    said = ""
    try:
        python_value(7, data, kind, form)
    except BadValue as error:
        said = error.message
    assert said in {"", "parameter 7 isn't written as its type is"}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (1e15, "1e+15"),
        (123456.0, "123456"),
        (1e-5, "1e-05"),
        (float("inf"), "Infinity"),
        (Decimal("1E+3"), "1000"),
        (dt.datetime.fromisoformat("2024-01-02 03:04:05.600"), "2024-01-02 03:04:05.6"),
        (dt.timedelta(days=1, seconds=3661), "1 day 01:01:01"),
        (["a b", None, "NULL", ""], '{"a b",NULL,"NULL",""}'),
        (b"\x00\xff", "\\x00ff"),
    ],
)
def test_text_is_postgresqls(value: object, said: str) -> None:
    assert text.written(value) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.1 + 0.2, "0.30000000000000004"),
        (1e20, "100000000000000000000"),
        (1e-7, "0.0000001"),
        (2.0, "2"),
        (-0.0, "0"),
        (7, "7"),
        (Decimal("2.50"), "2.50"),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
    ],
)
def test_a_float_is_a_numeric_of_its_digits(value: object, said: str) -> None:
    assert text.encoder(oid.NUMERIC)(value).decode() == said


COLUMNS = (Column("a", oid.TEXT), Column("b", oid.INT4))
ROWS = [("x\ty", 1), (None, None), ('q",\n', -1)]


def test_copy_escapes_text() -> None:
    assert b"".join(copied(COLUMNS, ROWS, CopyOptions())) == b'x\\ty\t1\n\\N\t\\N\nq",\\n\t-1\n'


def test_copy_quotes_csv() -> None:
    options = CopyOptions("csv", header=True, delimiter=",", null="")
    assert b"".join(copied(COLUMNS, ROWS, options)) == b'a,b\nx\ty,1\n,\n"q"",\n",-1\n'


def test_binary_copy_has_a_head_and_an_end() -> None:
    parts = list(copied(COLUMNS, ROWS[:1], CopyOptions("binary")))
    assert parts[0].startswith(b"PGCOPY\n\xff\r\n\0")
    assert parts[-1] == struct.pack("!h", -1)
    assert next(copied(COLUMNS, [], CopyOptions("binary"))).endswith(b"\xff\xff")
