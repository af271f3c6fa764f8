"""One table that an analyst keeps, and its rows: cells as they are kept, or a margin of them."""

from __future__ import annotations

import pyarrow as pa
from msgspec import Struct

from dpsql.bind.scope import quoted_name
from dpsql.ledger.saved_release import SavedReleaseInfo
from dpsql.privacy.margin_grid import MarginGrid
from dpsql.release.synopsis.factored.factored_table import StoredMargins
from dpsql.schema.model import Public, Table
from dpsql.session.compile.margin_reading import read_by_row
from dpsql.session.saved.metadata import SavedReleaseMetadata, decode_metadata
from dpsql.session.saved.synopsis_law import SynopsisLaw
from dpsql.structs import replace


class SavedTable(Struct, frozen=True):
    """One kept table: what the ledger has of it, what its maker says of it, how it is scanned."""

    info: SavedReleaseInfo
    metadata: SavedReleaseMetadata
    table: Table


def saved_table(named: SavedReleaseInfo) -> SavedTable:
    """The table that the ledger has as `named`."""
    about = decode_metadata(named.metadata)
    margins, grid = _stored_margins(about), None
    if margins is not None:
        grid = MarginGrid(margins.axes, margins.shape, (margins.value,))
    table = Table(about.name, about.columns, Public(), comment=about.comment, grid=grid)
    return SavedTable(named, about, replace(table, saved_entry=named.entry))


def read_rows(saved: SavedTable, table: Table, stored: pa.Table) -> pa.Table:
    """The rows of `table`, of what is `stored` of it: of a margin, its cells."""
    margins = _stored_margins(saved.metadata)
    if margins is None:
        return stored
    if table.grid is None or table.grid.read is None:
        raise read_by_row(saved.table)
    return margins.read(stored, table.grid.read)


def first_reading(table: Table) -> str:
    """A statement that reads all that is kept of `table`."""
    read = "*" if table.grid is None else f"sum({quoted_name(table.grid.values[0])})"
    return f"SELECT {read} FROM {quoted_name(table.name)}"  # noqa: S608 - for people to write


def _stored_margins(about: SavedReleaseMetadata) -> StoredMargins | None:
    """The margins that are kept in the place of too many cells; None of any other table."""
    return about.law.margins if isinstance(about.law, SynopsisLaw) else None
