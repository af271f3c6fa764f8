"""A draft from a DuckDB file, or from a folder of Parquet and CSV files.

No row is read, unless the owner asks for types of CSV columns, which come from a sample of rows.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from dpsql.cli.init.csv_form import csv_form
from dpsql.cli.init.draft import SAMPLED, TEXT, Draft, DraftColumn, DraftTable
from dpsql.cli.init.sampled_types import sampled_types
from dpsql.engine.duckdb.catalog import read_catalog
from dpsql.engine.duckdb.declared_keys import Declared, read_declarations
from dpsql.engine.source import Columns, DuckDBSource, SourceTable
from dpsql.errors import SourceFault
from dpsql.schema.load.identifiers import is_plain
from dpsql.schema.load.table_section.column_types import known_type

_FORMS = frozenset({".parquet", ".csv"})


def of_database(path: Path, source: str) -> Draft:
    """A draft of all base tables of a DuckDB file, with the keys and comments it declares."""
    tables = read_catalog(DuckDBSource(str(path)))
    declared = read_declarations(str(path))
    return _draft(
        path,
        source,
        tuple(
            draft_table(name, columns, declared.get(name, Declared()))
            for name, columns in tables.items()
        ),
    )


def of_folder(path: Path, source: str, sample: int | None) -> Draft:
    """A draft of TABLE.parquet and TABLE.csv, and of SCHEMA/TABLE.parquet and the like.

    Only the line of names of a CSV file is read, and `sample` rows more unless that is None.
    """
    files = sorted(_files(path))
    for one, other in itertools.pairwise(files):
        if one.with_suffix("") == other.with_suffix(""):
            raise SourceFault(f"both {one.name} and {other.name} exist", hint="remove one of them")
    tables = tuple(
        SourceTable(_table_name(file, path), str(file), csv=csv_form(file, sample))
        if file.suffix == ".csv"
        else SourceTable(_table_name(file, path), str(file))
        for file in files
    )
    columns = read_catalog(DuckDBSource(None, tables))
    return _draft(
        path,
        source,
        tuple(
            _delimited(table, columns[table.name], sample)
            if table.is_delimited
            else draft_table(table.name, columns[table.name], Declared())
            for table in tables
        ),
        sample,
    )


def _files(folder: Path) -> Iterator[Path]:
    for entry in folder.iterdir():
        # A folder such as year=2024 is a partition, not a schema.
        inside = entry.iterdir() if entry.is_dir() and is_plain(entry.name) else [entry]
        yield from (file for file in inside if file.suffix in _FORMS and file.is_file())


def _table_name(file: Path, folder: Path) -> str:
    parts = file.relative_to(folder).with_suffix("").parts
    # a.b.parquet is not the table b of a schema a.
    dotted = any("." in part for part in parts)
    return ".".join(parts) if not dotted else str(file.relative_to(folder))


def dataset_name(path: Path) -> str:
    """A name for a dataset, from its source's file name; the owner may change it."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", path.stem).strip("._-")[:64] or "dataset"


def _draft(
    path: Path, source: str, tables: tuple[DraftTable, ...], sample: int | None = None
) -> Draft:
    if not tables:
        raise SourceFault(
            f"{path} has no tables",
            hint="name a DuckDB file with tables, or a folder of Parquet or CSV files",
        )
    return Draft(
        dataset_name(path.absolute()),
        source,
        f"the catalogue of {path.absolute().name}",
        tables,
        sample=sample,
    )


def _delimited(table: SourceTable, columns: Columns, sample: int | None) -> DraftTable:
    """The table of a CSV file, whose columns are text, or have the types of its first rows."""
    assert table.file is not None
    types = {} if sample is None else sampled_types(table.file, table.csv, sample)
    return DraftTable(
        table.name,
        tuple(
            DraftColumn(name, types.get(name, "varchar"), SAMPLED if name in types else TEXT)
            for name, _ in columns
        ),
        csv=table.csv,
    )


def draft_table(name: str, columns: Columns, declared: Declared) -> DraftTable:
    """A table of the catalog, with what is declared of it."""
    return DraftTable(
        name,
        tuple(_column(column, kind, declared) for column, kind in columns),
        declared.key,
        comment=declared.comments.get("", ""),
    )


def _column(name: str, source_type: str, declared: Declared) -> DraftColumn:
    offered = known_type(source_type)
    return DraftColumn(
        name,
        None if offered is None else str(offered).lower(),
        source_type,
        nullable=name not in declared.not_null,
        references=declared.references.get(name),
        comment=declared.comments.get(name, ""),
    )
