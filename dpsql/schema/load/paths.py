"""Where files lie on disk: the source relative to the schema file, the ledger in user folders."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import platformdirs

from dpsql.engine.connection_string import SERVER
from dpsql.engine.spark.address import SPARK
from dpsql.schema.load.yaml_document import Document
from dpsql.schema.qualified_name import bare
from dpsql.schema.source_location import ServerSource, Source

STATE: Final = "DPSQL_STATE"
"""The environment variable that names another folder for ledgers and their anchors."""

_DATABASES = frozenset({".duckdb", ".ddb", ".db"})
_FILES = frozenset({".parquet", ".csv"})
_DATASET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def check_dataset(document: Document, dataset: str) -> None:
    """Refuse a dataset's name that could not name a folder."""
    if not _DATASET.fullmatch(dataset):
        raise document.error(
            ("dataset",),
            f"{dataset!r:.80} does not name a dataset",
            "use up to 64 letters, digits, dots, - and _, and begin with a letter or digit",
        )


SERVERS: Final = (*SERVER, SPARK)
"""How connection strings of servers begin that a schema may name."""


def find_source(
    document: Document, written: str, tables: Iterable[str], override: Path | None
) -> Source | ServerSource:
    """The DuckDB file or the folder of files that `written` names, or `override` if it isn't None.

    The suffix decides which of the two it is, if it doesn't exist. The address of a PostgreSQL
    database or of Spark Connect names a server.
    """
    if override is None and "://" in written:
        if written.startswith(SERVERS):
            return ServerSource(written)
        raise document.error(
            ("source",),
            "not a path",
            "name a DuckDB file, a folder of Parquet or CSV files, postgresql://host/database or"
            " sc://host:15002",
        )
    path = (
        document.path.parent.absolute() / Path(written).expanduser()
        if override is None
        else override.absolute()
    )
    is_file = path.is_file() or (not path.exists() and path.suffix.lower() in _DATABASES)
    if path.suffix.lower() in _FILES and not path.is_dir():
        raise document.error(("source",), "is one table", "name the folder that holds the file")
    if is_file:
        return Source(path, {})
    return Source(path, {table: _file(document, path, table) for table in tables})


def _file(document: Document, folder: Path, table: str) -> Path:
    inside, name = folder.joinpath(*table.split(".")[:-1]), bare(table)  # sales/orders.parquet
    parquet, delimited = inside / f"{name}.parquet", inside / f"{name}.csv"
    if parquet.exists() and delimited.exists():
        raise document.error(
            ("tables", table), f"both {parquet.name} and {delimited.name} exist", "remove one"
        )
    if folder.exists() and not parquet.exists() and not delimited.exists():
        raise document.error(
            ("tables", table),
            f"the source has neither {parquet.relative_to(folder)} nor"
            f" {delimited.relative_to(folder)}",
            "add the file, or remove the table",
        )
    return delimited if delimited.exists() else parquet


def ledger_path(document: Document, written: str | None, dataset: str) -> Path | str:
    """The ledger's file, or its PostgreSQL connection string, if `written` is one.

    The default goes by the dataset's name, so that copying a folder makes no new budget.
    """
    if written is not None and "://" in written:
        if not written.startswith(SERVER):
            raise document.error(
                ("ledger",), "neither a file nor PostgreSQL", "write postgresql://host/database"
            )
        return written
    if written is not None:
        return document.path.parent.absolute() / Path(written).expanduser()
    return default_ledger(dataset)


def default_ledger(dataset: str) -> Path:
    """The ledger of a schema that names none: in the state folder, or in the user's own folder."""
    state = os.environ.get(STATE)
    folder = Path(state).absolute() if state else platformdirs.user_state_path("dpsql")
    return folder / dataset / "ledger.db"


def path_next_to_ledger(ledger: Path | str, anchor: Path, suffix: str) -> Path:
    """A file that belongs to a ledger: the ledger's name and `suffix`, so that no two share one.

    A ledger on a server has only its anchor on this disk: the file then lies beside that.
    """
    if isinstance(ledger, Path):
        return ledger.with_name(f"{ledger.name}.{suffix}")
    return anchor.with_suffix(f".{suffix}")


def anchor_path(dataset: str) -> Path:
    """The ledger's anchor, in another folder, so that a ledger that was copied back shows."""
    state = os.environ.get(STATE)
    folder = Path(state).absolute() if state else platformdirs.user_data_path("dpsql")
    return folder / "anchors" / f"{dataset}.anchor"
