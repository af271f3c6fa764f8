"""Rows → the data of COPY … TO STDOUT: text, CSV or binary."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal

from msgspec import Struct

from dpsql.pgwire.codec import binary, text
from dpsql.pgwire.codec.oid import Column

Form = Literal["text", "csv", "binary"]

_ESCAPED: Final = {
    "\\": "\\\\",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
}


class CopyOptions(Struct, frozen=True):
    """How COPY writes rows: PostgreSQL's options of the same names; the defaults are of `text`."""

    form: Form = "text"
    header: bool = False
    delimiter: str = "\t"
    null: str = "\\N"
    quote: str = '"'
    escape: str = '"'
    force_quote: bool = False


def copied(
    columns: Sequence[Column], rows: Iterable[Sequence[object]], options: CopyOptions
) -> Iterator[bytes]:
    """The data of COPY: one chunk of bytes for each row, and for a header or trailer."""
    match options.form:
        case "binary":
            yield from _binary(columns, rows)
        case "text" | "csv":
            if options.header:
                yield _line([column.name for column in columns], options)
            encoders = [text.encoder(column.oid) for column in columns]
            for row in rows:
                texts = [
                    None if value is None else encode(value).decode()
                    for encode, value in zip(encoders, row, strict=True)
                ]
                yield _line(texts, options)


def _line(values: Sequence[str | None], options: CopyOptions) -> bytes:
    write = _quoted if options.form == "csv" else _escaped
    alone = len(values) == 1
    parts = [
        options.null if value is None else write(value, options, alone=alone) for value in values
    ]
    return (options.delimiter.join(parts) + "\n").encode()


def _escaped(value: str, options: CopyOptions, *, alone: bool) -> str:
    del alone
    escaped = "".join(_ESCAPED.get(c, c) for c in value)
    return (
        escaped.replace(options.delimiter, "\\" + options.delimiter)
        if options.delimiter != "\t"
        else escaped
    )


def _quoted(value: str, options: CopyOptions, *, alone: bool) -> str:
    marks = (options.delimiter, options.quote, "\n", "\r")
    # A line of \. alone would end the data.
    needed = (
        value == options.null or any(mark in value for mark in marks) or (alone and value == "\\.")
    )
    if not (needed or options.force_quote):
        return value
    inside = value.replace(options.quote, options.escape + options.quote)
    return options.quote + inside + options.quote


def _binary(columns: Sequence[Column], rows: Iterable[Sequence[object]]) -> Iterator[bytes]:
    encoders = [binary.encoder(column.oid) for column in columns]
    # The head comes with the first row, as in PostgreSQL: clients take each message for one row.
    head = b"PGCOPY\n\xff\r\n\0" + struct.pack("!ii", 0, 0)
    for row in rows:
        parts = [head, struct.pack("!h", len(row))]
        head = b""
        for encode, value in zip(encoders, row, strict=True):
            if value is None:
                parts.append(struct.pack("!i", -1))
            else:
                packed = encode(value)
                parts.append(struct.pack("!i", len(packed)) + packed)
        yield b"".join(parts)
    yield head + struct.pack("!h", -1)
