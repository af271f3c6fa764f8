"""Where what memory doesn't hold is written: beside the ledger, or where the schema says."""

from __future__ import annotations

from pathlib import Path

from dpsql.engine.source import Spill
from dpsql.schema.load.file_format import SpillSection, fill
from dpsql.schema.load.paths import path_next_to_ledger
from dpsql.schema.load.yaml_document import Document
from dpsql.schema.source_location import ServerSource, Source
from dpsql.structs import replace

_MAX_GIGABYTES = 1_000_000


def with_spill(
    document: Document,
    source: Source | ServerSource,
    written: dict[str, object] | None,
    ledger: Path | str,
    anchor: Path,
) -> Source | ServerSource:
    """`source` with what `spill` says; SchemaFault where its rows aren't in files."""
    if written is None:
        return source
    if isinstance(source, ServerSource):
        raise document.error(("spill",), "is for rows in files: a server has its own", "remove it")
    section = fill(SpillSection, document, ("spill",), written)
    if not 1 <= section.gigabytes <= _MAX_GIGABYTES:
        raise document.error(
            ("spill", "gigabytes"), "out of range", f"write a number from 1 to {_MAX_GIGABYTES:,}"
        )
    # One name for each ledger: of two datasets that share a folder, neither removes the other's.
    target = path_next_to_ledger(ledger, anchor, "spill")
    if section.folder is not None:
        folder = document.path.parent.absolute() / Path(section.folder).expanduser()
        target = folder / target.name
    return replace(source, spill=Spill(str(target), section.gigabytes))
