"""What a schema declares of the sizes of tables, as text, and where the data have other sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dpsql.schema.model import Schema, Table


def size_text(table: Table) -> str:
    """The number of rows of a unit, and what is declared of that of all units."""
    if table.rows is not None:
        return f"1 row, of {table.rows}"
    if table.min_rows is not None:
        return f"1 row, of {table.min_rows} at least"
    if table.resized is not None:
        return f"1 row, of {table.resized} that it is resized to"
    return "1 row"


def wrong_sizes(schema: Schema, rows: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Each wrong declaration with what to write; `rows` has the numbers of rows that are there."""
    for name, table in schema.tables.items():
        if table.rows is not None and rows[name] != table.rows:
            yield (
                f"{name} is declared with {table.rows} rows, and has {rows[name]}",
                f"write rows: {rows[name]}; until then its answers are off, and no less private",
            )
        if table.min_rows is not None and rows[name] < table.min_rows:
            what = f"{name} is declared with {table.min_rows} rows at least, and has {rows[name]}"
            fix = f"write at_least: {max(1, rows[name])} or less"
            yield what, f"{fix}; until then its means are off, and no less private"
