"""Types of a CSV file's columns, inferred from its first rows, which its owner has to confirm.

Such a type depends on rows: one 'n/a' among the ages makes them text. So queries never infer types;
a draft has them for the owner to correct, and from then on they are declared.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Final

import duckdb
from sqlglot import exp

from dpsql.engine.duckdb.csv import as_utf_8, header, read_delimited
from dpsql.engine.duckdb.lockdown import configure
from dpsql.engine.source import UTF_8, CsvForm
from dpsql.errors import SourceFault

_WHOLE: Final = r"[+-]?(0|[1-9][0-9]{0,17})"
"""A number that begins with a zero is a code: 01234."""

_NUMBER: Final = r"[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]{1,3})?"
_DAY: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CODE: Final = r"[+-]?0[0-9].*"

_VALUE: Final = exp.column("v")

_MISSING: Final = ("NA", "N/A", "n/a", "NULL", "null", "None", "-")
"""What other programs write for a value that isn't there; read as a number or a day, it is NULL."""


def sampled_types(file: str, form: CsvForm, rows: int) -> Mapping[str, str]:
    """The narrowest type, by column, that all values of the first `rows` rows have.

    Values of several types are text. Columns without a value are left out, and all columns are if
    the file can't be read, which `dpsql check` reports.
    """
    names = header(file, form)
    conditions = [(name, kind) for name in names for kind in _CONDITIONS]
    row = _sample_row(file, form, rows, [_holds(name, kind) for name, kind in conditions])
    types: dict[str, str] = {}
    for (name, kind), holds in zip(conditions, row or (), strict=row is not None):
        if holds:
            types.setdefault(name, kind)
    return types


def _sample_row(
    file: str, form: CsvForm, rows: int, items: list[exp.Expr]
) -> tuple[object, ...] | None:
    """The values of the aggregates `items` over the first rows; None if these can't be read."""
    with duckdb.connect(":memory:") as connection:
        configure(connection)
        if form.encoding == UTF_8:
            with suppress(duckdb.Error):
                return _first(connection, read_delimited(file, form), rows, items)
        with suppress(duckdb.Error, SourceFault), as_utf_8(file, form) as text:
            return _first(connection, read_delimited(file, form, text), rows, items)
    return None


def _first(
    connection: duckdb.DuckDBPyConnection, lines: exp.Table, rows: int, items: list[exp.Expr]
) -> tuple[object, ...] | None:
    sample = exp.select("*").from_(lines).limit(rows).subquery("sample")
    return connection.execute(exp.select(*items).from_(sample).sql("duckdb")).fetchone()


def _matches(pattern: str) -> exp.Expr:
    return exp.Anonymous(
        this="regexp_full_match", expressions=[_VALUE.copy(), exp.Literal.string(pattern)]
    )


def _converts(kind: str) -> exp.Expr:
    cast = exp.TryCast(this=_VALUE.copy(), to=exp.DataType.build(kind, dialect="duckdb"))
    return exp.Not(this=exp.Is(this=cast, expression=exp.null()))


_CONDITIONS: Final[Mapping[str, exp.Expr]] = {
    "boolean": _matches("(?i)true|false"),
    "bigint": _matches(_WHOLE),
    "double": exp.and_(_matches(_NUMBER), exp.Not(this=_matches(_CODE))),
    "date": exp.and_(_matches(_DAY), _converts("DATE")),
    "timestamp": exp.and_(_matches(f"{_DAY}[ T].*"), _converts("TIMESTAMP")),
    "varchar": exp.true(),
}
"""The condition that each value `v` of a column of that type fulfills, the narrowest first."""


def _holds(name: str, kind: str) -> exp.Expr:
    """The aggregate that tells whether all values of a column are of type `kind`; NULL if none."""
    column = exp.column(name, quoted=True)

    def of_column(node: exp.Expr) -> exp.Expr:
        return column.copy() if node == _VALUE else node

    every = exp.Anonymous(this="bool_and", expressions=[_CONDITIONS[kind].transform(of_column)])
    missing = exp.In(
        this=column.copy(), expressions=[exp.Literal.string(text) for text in _MISSING]
    )
    # No value of a column of NA alone is left, so that the column stays to be decided.
    there = exp.and_(
        exp.Not(this=exp.Is(this=column, expression=exp.null())), exp.Not(this=missing)
    )
    return exp.Filter(this=every, expression=exp.Where(this=there))
