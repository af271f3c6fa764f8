"""CSV files: everything is text, nothing is sniffed.

What a sniffer finds depends on rows: ages 30 and 40 make BIGINT, one 'n/a' more makes VARCHAR, and
whether SUM is answered or refused would then tell of one row. So the dialect is fixed (commas,
double quotes doubled inside, UTF-8, one line of names), an empty field is NULL, and types are
declared.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
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
    """Read the names in the first line."""
    try:
        with Path(file).open(encoding="utf-8-sig", newline="") as lines:
            names = tuple(next(csv.reader(lines, strict=True), ()))
    except (OSError, ValueError, csv.Error):
        names = ()
    if not names or len({name.casefold() for name in names}) < len(names):
        raise malformed(file)
    return names


def read_delimited(file: str) -> exp.Table:
    """Name the rows of a CSV file as a relation whose columns are all text."""
    types = [
        exp.PropertyEQ(this=exp.Literal.string(name), expression=exp.Literal.string("VARCHAR"))
        for name in header(file)
    ]
    options = _DIALECT | {"columns": exp.Struct(expressions=types)}
    return exp.Table(this=reader("read_csv", file, options))


def reader(function: str, file: str, options: Mapping[str, exp.Expression]) -> exp.Anonymous:
    """Call a table function that reads one file."""
    named = [exp.EQ(this=exp.to_identifier(name), expression=to) for name, to in options.items()]
    return exp.Anonymous(this=function, expressions=[exp.Literal.string(file), *named])


def malformed(file: str) -> SourceFault:
    """Give the one message for a CSV file that can't be read; where it breaks is data."""
    return SourceFault(
        f"{file} is not a readable CSV file",
        hint="write UTF-8, commas, one line of distinct names, as many fields in every line",
    )
