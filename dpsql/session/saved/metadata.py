"""What is said of a kept table beside its rows, as the ledger keeps it: JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping

from msgspec import Struct

from dpsql.errors import LedgerFault
from dpsql.schema.model import Column
from dpsql.schema.sql_type import parse_type
from dpsql.session.ladders.stored_ladders import LadderMetadata, decode_ladders, encode_ladders
from dpsql.session.saved.table_law import TableLaw, decode_table_law, encode_table_law


class SavedReleaseMetadata(Struct, frozen=True):
    """A kept table's name as it was written, its kind, its columns, and the statement.

    `version` is that of the data it was made of: as the schema stated it if `states_version`, else
    a fingerprint, which is only ever compared. `rows` is how many there are, as secret as they are.
    Of ladders, `ladders` says what they are of; of dashboards and synopses, `law` says how their
    values are off.
    """

    name: str
    kind: str
    columns: Mapping[str, Column]
    rows: int
    statement: str
    version: str
    states_version: bool
    ladders: LadderMetadata | None = None
    law: TableLaw | None = None

    @property
    def comment(self) -> str:
        """One line for listings."""
        return f"{self.kind}: {' '.join(self.statement.split())}"[:200]


def encode_metadata(about: SavedReleaseMetadata) -> str:
    """`about` as text."""
    columns = [[column.name, str(column.type)] for column in about.columns.values()]
    fields = {
        "name": about.name,
        "kind": about.kind,
        "columns": columns,
        "rows": about.rows,
        "statement": about.statement,
        "version": about.version,
        "states_version": about.states_version,
    }
    if about.ladders is not None:
        fields["ladders"] = encode_ladders(about.ladders)
    if about.law is not None:
        fields["law"] = encode_table_law(about.law)
    return json.dumps(fields, sort_keys=True)


def decode_metadata(text: str) -> SavedReleaseMetadata:
    """What `encode_metadata` wrote."""
    fields = json.loads(text)
    columns: dict[str, Column] = {}
    for name, written in fields["columns"]:
        kind = parse_type(written)
        if kind is None:
            raise LedgerFault(
                f"column {name} of {fields['name']} has type {written}, which isn't known here",
                hint="use the version of dpsql that kept it",
            )
        columns[name] = Column(name, kind)
    return SavedReleaseMetadata(
        fields["name"],
        fields["kind"],
        columns,
        fields["rows"],
        fields["statement"],
        fields["version"],
        fields["states_version"],
        decode_ladders(fields["ladders"]) if "ladders" in fields else None,
        decode_table_law(fields["law"]) if "law" in fields else None,
    )
