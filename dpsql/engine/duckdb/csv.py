"""CSV files: everything is text, nothing is sniffed.

The types that a sniffer infers depend on rows: ages 30 and 40 make BIGINT, one 'n/a' more makes
VARCHAR, and whether SUM is answered or refused would then tell of one row. So the dialect is fixed
(double quotes doubled inside, one line of names), an empty field is NULL, and types are declared,
as are a delimiter other than a comma and an encoding other than UTF-8. A byte that is no text there
is read as ?, as it is in Parquet: one field of one person would else fail the start, and with it
all statements.
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

from dpsql.engine.source import PLAIN_CSV, UTF_8, CsvForm
from dpsql.errors import SourceFault

_DIALECT: Final = {
    "auto_detect": exp.false(),
    "header": exp.true(),
    "quote": exp.Literal.string('"'),
    "escape": exp.Literal.string('"'),
    "nullstr": exp.Literal.string(""),
    "allow_quoted_nulls": exp.false(),  # "" is an empty text, not NULL
    "strict_mode": exp.true(),
    "hive_partitioning": exp.false(),  # a folder's name is no column
}


def header(file: str, form: CsvForm = PLAIN_CSV) -> tuple[str, ...]:
    """The names of the columns, in the file's first line; SourceFault unless they are distinct."""
    is_utf_8 = form.encoding == UTF_8
    encoding, errors = ("utf-8-sig", "surrogateescape") if is_utf_8 else (form.encoding, _REPLACING)
    try:
        # Lines that follow are read along with the first.
        with Path(file).open(encoding=encoding, errors=errors, newline="") as lines:
            names = tuple(next(csv.reader(lines, delimiter=form.delimiter, strict=True), ()))
        "".join(names).encode()
    except (OSError, ValueError, csv.Error):
        names = ()
    if not names or len({name.casefold() for name in names}) < len(names):
        raise malformed(file)
    return names


def read_delimited(file: str, form: CsvForm = PLAIN_CSV, text: str | None = None) -> exp.Table:
    """The rows of a CSV file, as a relation whose columns are all text.

    `text` is the path of a file that has the lines instead, None if `file` itself is read, which is
    UTF-8 then.
    """
    types = [
        exp.PropertyEQ(this=exp.Literal.string(name), expression=exp.Literal.string("VARCHAR"))
        for name in header(file, form)
    ]
    options = _DIALECT | {
        "delim": exp.Literal.string(form.delimiter),
        "columns": exp.Struct(expressions=types),
    }
    return exp.Table(this=reader("read_csv", text or file, options))


@contextmanager
def as_utf_8(file: str, form: CsvForm = PLAIN_CSV) -> Iterator[str]:
    """The path of a copy of `file` in UTF-8 and in memory, with ? for each byte that is no text.

    Raises SourceFault on a system without files in memory: rows aren't written to a disk.
    """
    if not hasattr(os, "memfd_create"):
        raise malformed(file)
    text = Path(file).read_bytes().decode(form.encoding, errors=_REPLACING)
    with os.fdopen(os.memfd_create("text"), "wb") as lines:
        lines.write(text.encode())
        lines.flush()
        yield f"/proc/self/fd/{lines.fileno()}"


def is_text(file: str, form: CsvForm) -> bool:
    """Whether each byte of `file` is text in its encoding; others are read as ?."""
    decoder = codecs.getincrementaldecoder(form.encoding)()
    try:
        with Path(file).open("rb") as stream:
            while part := stream.read(_BYTES_AT_ONCE):
                decoder.decode(part)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    except OSError:
        raise malformed(file) from None
    return True


_BYTES_AT_ONCE: Final = 2**20


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
        hint="write UTF-8, commas, one line of distinct names, as many fields in every line; or say"
        ' how it is written, in its table: csv: {delimiter: ";", encoding: latin-1}',
    )
