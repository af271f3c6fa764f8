"""Answers for programs: CSV, JSON and Parquet, with every digit of every value."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Iterable, Sequence
from decimal import Decimal

import msgspec
import pyarrow as pa

from dpsql.report.result.python_value import Row, Value
from dpsql.report.result.result import unique_names


def csv(names: Sequence[str], rows: Iterable[Row]) -> str:
    """CSV with commas, and double quotes where needed: an empty field is NULL, "" an empty text."""
    lines = [list(map(_quoted, names)), *(list(map(_field, row)) for row in rows)]
    return "".join(",".join(line) + "\n" for line in lines)


def json(names: Sequence[str], rows: Iterable[Row]) -> str:
    """A JSON list of objects, one a line. Names that repeat get a number: a, a_1."""
    keys = unique_names(names)
    encoder = msgspec.json.Encoder(decimal_format="number")
    objects = (
        encoder.encode(dict(zip(keys, map(_item, row), strict=True))).decode() for row in rows
    )
    return "[" + ",\n ".join(objects) + "]\n"


def parquet(table: pa.Table) -> bytes:
    """The bytes of a Parquet file with `table`."""
    from pyarrow import parquet as form  # noqa: PLC0415 - slow to import

    stream = io.BytesIO()
    form.write_table(table, stream)
    return stream.getvalue()


def _field(value: Value) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case str():
            return _quoted(value)
        case dt.date():
            return value.isoformat()
        case Decimal():
            return f"{value:f}"
        case _:
            return repr(value)


def _quoted(text: str) -> str:
    if text and not any(sign in text for sign in ',"\r\n'):
        return text
    return '"' + text.replace('"', '""') + '"'


def _item(value: Value) -> Value:
    """The value that JSON's encoder takes: an integer of more than 64 bits becomes a Decimal."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return Decimal(value)
    return value
