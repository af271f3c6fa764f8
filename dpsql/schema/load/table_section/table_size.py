"""What is public of the number of a table's rows: the number, a least one, or what it is made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dpsql.schema.load.yaml_document import Document, DocumentPath
from dpsql.schema.model import Neighbors, RowUnit, Table

_MAX_ROWS: Final = 2**40


def check_sizes(document: Document, tables: Mapping[str, Table], neighbors: Neighbors) -> None:
    """Refuse numbers of rows that would tell neighbours apart, or that nothing can be made of.

    Where a unit may be missing, or has several rows, `rows` tells the neighbours apart. Under
    change_one all have equally many rows, so that `rows` says more than the other two do.
    """
    for name, table in tables.items():
        sizes = {"rows": table.rows, "at_least": table.min_rows, "resize": table.resized}
        written = [size for size, number in sizes.items() if number is not None]
        for size in written:
            path: DocumentPath = ("tables", name, size)
            if not isinstance(table.ownership, RowUnit):
                raise document.error(
                    path, "is for tables whose rows are units of their own", "remove it"
                )
            if not 1 <= (sizes[size] or 0) <= _MAX_ROWS:
                raise document.error(path, "out of range", f"write a number from 1 to {_MAX_ROWS}")
            if len(written) > 1:
                raise document.error(path, f"{name} has {' and '.join(written)}", "keep one")
            if size == "rows" and neighbors is not Neighbors.CHANGE_ONE:
                raise document.error(
                    path,
                    "the number of rows is what hides whether a row is there",
                    "remove it, or write neighbors: change_one, under which it isn't hidden",
                )
            if size != "rows" and neighbors is Neighbors.CHANGE_ONE:
                raise document.error(
                    path,
                    "under change_one the number of rows isn't hidden",
                    "write rows: with the number",
                )
