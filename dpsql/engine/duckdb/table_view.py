"""Each declared table as statements see it: its declared columns under their declared types."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from sqlglot import exp

from dpsql.engine.duckdb.csv import read_delimited, reader
from dpsql.engine.source import SourceTable

_DECIMAL: Final = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_WORD: Final = re.compile(r'"(?:[^"]|"")*"|\w+')

DATABASE: Final = "dpsql source"
"""The name under which a DuckDB file is attached; it has a space so that no schema can say it."""

_PARQUET: Final = {
    # Hive partitioning would make columns of folder names, and union_by_name is for many files.
    "hive_partitioning": exp.false(),
    "union_by_name": exp.false(),
    # Statistics of a file leave NaN out: `x > 100` passed over all rows with NaN, until one of 150
    # was among them. Where a file counts its NaN (nan_count), DuckDB believes that instead.
    "can_have_nan": exp.true(),
    # Bytes that aren't UTF-8 are read as ?: one of them would fail all statements of the column.
    "utf8_validation": exp.Literal.string("replace"),
}


def rows(table: SourceTable, text: str | None = None) -> exp.Table:
    """The source's table as a relation; `text` may be the path of a file with the CSV lines."""
    if table.file is None:
        space, name = table.location
        return exp.table_(name, db=space, catalog=DATABASE, quoted=True)
    if table.is_delimited:
        return read_delimited(table.file, table.csv, text)
    return exp.Table(this=reader("read_parquet", table.file, _PARQUET))


def create_view_sql(
    table: SourceTable,
    source_columns: Mapping[str, str],
    text: str | None = None,
    *,
    name: str | None = None,
) -> exp.Create:
    """The statement that creates a view of `table` with its declared columns, and no others.

    It is called `name`, or as the table is.

    `source_columns` are the types of the source. A column of another type goes through TRY_CAST: a
    value that doesn't fit is NULL, and never an error. A CSV file is read once, into a table: a
    line that can't be read then fails the start, not the statements that happen to read it. `text`
    is the path of a file that has the CSV lines instead.
    """
    stored = table.file is None
    columns = [
        _column(name, to, source_columns[own], own, stored=stored) for name, to, own in table.stored
    ]
    if table.is_delimited:
        # DuckDB 2.0 moves TRY_CAST into its CSV reader, where it raises (duckdb/duckdb#23818);
        # a materialised relation in between keeps it out.
        lines = exp.select("*").from_(rows(table, text))
        rendered = exp.select(*columns).from_("lines").with_("lines", as_=lines, materialized=True)
        kind = "TABLE"
    else:
        rendered, kind = exp.select(*columns).from_(rows(table)), "VIEW"
    view = exp.Table(this=exp.to_identifier(name or table.name, quoted=True))
    return exp.Create(this=view, kind=kind, expression=rendered)


def _column(name: str, declared: str, source_columns: str, own: str, *, stored: bool) -> exp.Expr:
    column = exp.column(own, quoted=True)
    if declared == source_columns == "VARCHAR" and stored:
        # A column may carry a collation, which no catalogue tells. 'er' = 'ER' under NOCASE: one
        # row would meet two filters that exclude each other, and two of the listed keys.
        return exp.alias_(exp.Collate(this=column, expression=exp.var("C")), name, quoted=True)
    read: exp.Expr = column if stored else _decimal_itself(column, source_columns)
    if declared != source_columns:
        read = exp.TryCast(this=column, to=exp.DataType.build(declared, dialect="duckdb"))
    if declared == "VARCHAR" and not stored:
        # Statistics and Bloom filters of a file are of its bytes: those that are read as ? would be
        # found in a file or not by what else is in it, if conditions reached the reader.
        read = exp.Coalesce(this=read, expressions=[exp.null()])
    return column if read is column and own == name else exp.alias_(read, name, quoted=True)


def digits_of(kind: str) -> int | None:
    """The digits of a decimal type; None of another type."""
    decimal = _DECIMAL.fullmatch(kind)
    return None if decimal is None else int(decimal[1])


def bytes_of_decimal(digits: int) -> int:
    """How many bytes DuckDB's integers for decimals of so many digits have."""
    return next((size for limit, size in ((4, 2), (9, 4), (18, 8)) if digits <= limit), 16)


def _decimal_itself(column: exp.Column, kind: str) -> exp.Expr:
    """A column of a Parquet file; of a decimal beyond its digits NULL, where DuckDB fails of it.

    A file's bytes hold more than the digits say. Groups of decimals of few digits are numbered by
    their digits, and the least integer of 16 bytes has no text and no double: -327.68 as a
    DECIMAL(3,2), of one person, failed GROUP BY for all. Those of 4 and 8 bytes fail nothing that
    is emitted, and are read as they are.

    No condition on them is asked of what a file says of its values: an old writer compared the
    bytes of decimals as signed ones, 0x0180 before 0x0101, and its file says that 2.57 is the
    largest of 2.57 and 3.84. DuckDB believes it: `c > 3` passed over all rows once 2.57 was there.
    COALESCE(c, NULL) is simplified before that, CASE isn't.
    """
    decimal = _DECIMAL.fullmatch(kind)
    if decimal is None:
        return column
    if bytes_of_decimal(int(decimal[1])) in (4, 8):
        return exp.case().when(column.is_(exp.null()).not_(), column.copy())
    digits, scale = int(decimal[1]), int(decimal[2])
    nines = "9" * digits
    largest = f"0{nines[: digits - scale]}.{nines[digits - scale :]}"
    to = exp.DataType.build(kind, dialect="duckdb")
    low, high = (exp.cast(exp.Literal.string(end), to) for end in (f"-{largest}", largest))
    return exp.case().when(exp.Between(this=column, low=low, high=high), column.copy())


def words(sql: str) -> frozenset[str]:
    """The words and quoted names in `sql`, folded: each table that it reads is among them."""
    names = (
        word[1:-1].replace('""', '"') if word[0] == '"' else word for word in _WORD.findall(sql)
    )
    return frozenset(name.casefold() for name in names)


def describe(table: SourceTable) -> exp.Select:
    """A SELECT of all columns of the source's table and none of its rows."""
    return exp.select("*").from_(rows(table)).limit(0)
