"""How a CSV file is written, by its line of names, and by its first bytes for the owner who asks.

Names of columns are no secret, so that a delimiter is read off them. Which bytes follow depends on
rows: these are read only where `dpsql init --sample` says so.
"""

from __future__ import annotations

import codecs
import csv
from itertools import islice
from pathlib import Path
from typing import Final

from dpsql.engine.source import UTF_8, CsvForm

_DELIMITERS: Final = ",;\t|"
_MARKS: Final = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_OTHERWISE: Final = "windows-1252"
"""What isn't UTF-8 is most often of this, which Latin-1 is a part of; the owner corrects it."""

_MAX_LINE: Final = 2**20


def csv_form(file: Path, sample: int | None) -> CsvForm:
    """The form of `file`, by its first line, and by `sample` lines of rows unless that is None."""
    try:
        with file.open("rb") as stream:
            first = stream.readline(_MAX_LINE)
            rows = [] if sample is None else list(islice(stream, sample))
    except OSError:
        return CsvForm()
    encoding = _encoding(first, rows)
    # A line of UTF-16 ends in the middle of its line break.
    names = first.decode(encoding, errors="ignore").lstrip("\ufeff").rstrip("\r\n\0")
    return CsvForm(_delimiter(names), encoding)


def _encoding(first: bytes, rows: list[bytes]) -> str:
    for mark, encoding in _MARKS.items():
        if first.startswith(mark):
            return encoding
    try:
        for line in (first, *rows):
            line.decode(UTF_8)
    except UnicodeDecodeError:
        return _OTHERWISE
    return UTF_8


def _delimiter(names: str) -> str:
    """What parts the names into most fields; a comma, if nothing does."""

    def fields(delimiter: str) -> int:
        try:
            return len(next(csv.reader([names], delimiter=delimiter), ()))
        except csv.Error:
            return 0

    return max(_DELIMITERS, key=fields)
