"""CSV files: everything is text, nothing is sniffed.

The types that a sniffer infers depend on rows: ages 30 and 40 make BIGINT, one 'n/a' more makes
VARCHAR, and whether SUM is answered or refused would then tell of one row. So the dialect is fixed
(commas, double quotes doubled inside, UTF-8, one line of names), an empty field is NULL, and types
are declared. A byte that isn't UTF-8 is read as ?, as it is in Parquet: one field of one person
would else fail the start, and with it all statements.
"""

from __future__ import annotations

import codecs
import csv
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from sqlglot import exp

from dpsql.errors import SourceFault

_DIALECT: Final = {
    "auto_detect": exp.false(),
    "header": exp.true(),
    "delim": exp.Literal.string(","),
    "quote": exp.Literal.string('"'),
    "escape": exp.Literal.string('"'),
    "nullstr": exp.Literal.string(""),
    "allow_quoted_nulls": exp.false(),  # "" is an empty text, not NULL
    "strict_mode": exp.true(),
    "hive_partitioning": exp.false(),  # a folder's name is no column
}


def header(file: str) -> tuple[str, ...]:
    """The names of the columns, in the file's first line; SourceFault unless they are distinct."""
    try:
        # Lines that follow are read along with the first.
        with Path(file).open(encoding="utf-8-sig", errors="surrogateescape", newline="") as lines:
            names = tuple(next(csv.reader(lines, strict=True), ()))
        "".join(names).encode()
    except (OSError, ValueError, csv.Error):
        names = ()
    if not names or len({name.casefold() for name in names}) < len(names):
        raise malformed(file)
    return names


def read_delimited(file: str, text: str | None = None) -> exp.Table:
    """The rows of a CSV file, as a relation whose columns are all text.

    `text` is the path of a file that has the lines instead, None if `file` itself is read.
    """
    types = [
        exp.PropertyEQ(this=exp.Literal.string(name), expression=exp.Literal.string("VARCHAR"))
        for name in header(file)
    ]
    options = _DIALECT | {"columns": exp.Struct(expressions=types)}
    return exp.Table(this=reader("read_csv", text or file, options))


@contextmanager
def as_utf_8(file: str) -> Iterator[str]:
    """The path of a copy of `file` in memory, with ? for each byte that isn't UTF-8.

    Raises SourceFault on a system without files in memory: rows aren't written to a disk.
    """
    if not hasattr(os, "memfd_create"):
        raise malformed(file)
    text = Path(file).read_bytes().decode("utf-8", errors=_REPLACING)
    with os.fdopen(os.memfd_create("text"), "wb") as lines:
        lines.write(text.encode())
        lines.flush()
        yield f"/proc/self/fd/{lines.fileno()}"


def _question_marks(fault: UnicodeError) -> tuple[str, int]:
    assert isinstance(fault, UnicodeDecodeError)
    return "?" * (fault.end - fault.start), fault.end


_REPLACING: Final = "dpsql.question_marks"
codecs.register_error(_REPLACING, _question_marks)


def reader(function: str, file: str, options: Mapping[str, exp.Expression]) -> exp.Anonymous:
    """The call of a table function that reads one file."""
    named = [exp.EQ(this=exp.to_identifier(name), expression=to) for name, to in options.items()]
    return exp.Anonymous(this=function, expressions=[exp.Literal.string(file), *named])


def malformed(file: str) -> SourceFault:
    """The one error for a CSV file that can't be read: which line breaks it would reveal data."""
    return SourceFault(
        f"{file} is not a readable CSV file",
        hint="write UTF-8, commas, one line of distinct names, as many fields in every line",
    )
