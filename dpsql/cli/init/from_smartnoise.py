"""A draft from a metadata file of SmartNoise, with what its owner has declared there.

The file nests engine → schema → table → columns, with the table's options among the columns
(docs.smartnoise.org/sql/metadata.html).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

from dpsql.cli.init.draft import Draft, DraftColumn, DraftTable
from dpsql.cli.init.from_database import dataset_name
from dpsql.errors import SourceFault

_TYPES = {
    "int": "bigint",
    "float": "double",
    "string": "varchar",
    "boolean": "boolean",
    "datetime": "timestamp",
}
_DEEP = 3


def of_metadata(path: Path) -> Draft:
    """A draft of the tables that the file names; the file doesn't say where their rows are."""
    tables: list[DraftTable] = []
    kinds: dict[str, str] = {}
    for name, written in _tables(path):
        columns = tuple(_columns(written))
        owner = next((column for column, of in _described(written) if of.get("private_id")), None)
        unit = _unit(name, owner, kinds, by_row=written.get("row_privacy") is True)
        max_rows = next((written[k] for k in ("max_ids", "max_contrib") if k in written), None)
        tables.append(
            DraftTable(
                name,
                columns,
                unit=unit,
                max_rows=max_rows if isinstance(max_rows, int) and owner is not None else None,
            )
        )
    return Draft(
        dataset_name(path.absolute()),
        "data",
        f"{path.name}, metadata of SmartNoise",
        tuple(tables),
        tuple((owner, table, owner) for owner, table in kinds.items()),
    )


def _unit(name: str, owner: str | None, kinds: dict[str, str], *, by_row: bool) -> str | None:
    """The unit of a table as YAML; None if it isn't declared.

    The first table with the identifier `owner` lists the units; later ones reference that table.
    `kinds` has that first table by identifier, and is updated.
    """
    if by_row:
        return "row"
    if owner is None:
        return None
    if owner not in kinds:
        kinds[owner] = name
        return owner
    return f"{{column: {owner}, references: {kinds[owner]}.{owner}}}"


def _tables(path: Path) -> Iterator[tuple[str, Mapping[str, object]]]:
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError):
        raise SourceFault(f"{path} is not YAML that can be read", hint="correct the file") from None
    tables = list(_nested(data, _DEEP, ""))
    if not tables:
        raise SourceFault(
            f"{path} has no tables of SmartNoise's metadata",
            hint="name a file with engine, schema, table and columns, one below the other",
        )
    yield from tables


def _nested(data: object, deep: int, name: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    if not isinstance(data, dict):
        return
    if deep == 0:
        yield name, {str(key): value for key, value in data.items()}
        return
    for key, inside in data.items():
        yield from _nested(inside, deep - 1, str(key))


def _described(written: Mapping[str, object]) -> Iterator[tuple[str, Mapping[str, object]]]:
    for name, described in written.items():
        if isinstance(described, dict):
            yield name, described


def _columns(written: Mapping[str, object]) -> Iterator[DraftColumn]:
    for name, of in _described(written):
        written_type = str(of.get("type", ""))
        low, high = of.get("lower"), of.get("upper")
        yield DraftColumn(
            name,
            _TYPES.get(written_type),
            written_type,
            bounds=None if low is None or high is None else (str(low), str(high)),
            nullable=of.get("nullable") is not False,
        )
