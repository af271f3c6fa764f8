"""Rows that don't fit in memory: into which folder they are written, and that they are enciphered.

DuckDB enciphers its temporary files by a key that it draws for each database and keeps in memory:
what a killed process leaves can't be read any more. It has no generator of its own that is fit for
keys and nonces, and takes OpenSSL's from its extension httpfs. Where that isn't installed, or marks
are found in what was written, nothing is spilled and nothing is opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Final

import duckdb
from sqlglot import exp

from dpsql.engine.atomic_file import remove_left_behind, unfinished
from dpsql.engine.duckdb.lockdown import NO_SPILLING
from dpsql.engine.source import Spill
from dpsql.errors import SourceFault

_MARK: Final = "dpsql spills nothing in clear"

_MARKED: Final = """
CREATE TEMP TABLE marked AS SELECT $1 || i AS mark, hash(i) AS other FROM range(300000) AS rows(i)
"""
"""Some 18 MB, of which the trial's memory holds less than half. DuckDB compresses blocks that it
spills, in which no mark would be found: the hashes keep it from compressing most."""

_MEMORY: Final = "8MB"

_ENOUGH_BYTES: Final = 2**20


def load_cipher(connection: duckdb.DuckDBPyConnection) -> None:
    """Load OpenSSL's ciphers and its random numbers; raises duckdb.Error if they aren't there."""
    connection.execute("SET GLOBAL autoinstall_known_extensions = false")
    connection.load_extension("httpfs")


def start_spilling(
    connection: duckdb.DuckDBPyConnection, spill: Spill | None, until: ExitStack
) -> Mapping[str, str]:
    """The settings by which `connection` spills, to a folder that is removed when `until` ends.

    Folders that killed processes left are removed before. Raises SourceFault unless this process
    has seen that DuckDB enciphers what it spills there. None: nothing is spilled.
    """
    if spill is None:
        return NO_SPILLING
    remove_left_behind(Path(spill.target))
    _check_enciphered(spill.target)
    try:
        load_cipher(connection)
        return _settings(until.enter_context(unfinished(Path(spill.target))), spill.gigabytes)
    except (duckdb.Error, OSError):
        raise _fault(spill.target) from None


@cache
def _check_enciphered(target: str) -> None:
    """Raise SourceFault unless rows that are spilled beside `target` can't be found there."""
    try:
        written = _written(target)
    except (duckdb.Error, OSError):
        raise _fault(target) from None
    if sum(map(len, written)) < _ENOUGH_BYTES or any(_MARK.encode() in data for data in written):
        raise SourceFault(
            f"DuckDB {duckdb.__version__} doesn't encipher what it spills",
            hint="install a release of DuckDB that dpsql was tested with, or remove spill: from"
            " the schema",
        )


def _written(target: str) -> list[bytes]:
    """What a DuckDB writes to its temporary files for a table of marks that memory doesn't hold."""
    with (
        unfinished(Path(target)) as folder,
        duckdb.connect(config={"threads": "1", "memory_limit": _MEMORY}) as connection,
    ):
        load_cipher(connection)
        for name, value in _settings(folder, 1).items():
            connection.execute(f"SET GLOBAL {name} = {value}")
        connection.execute(_MARKED, [_MARK])
        return [file.read_bytes() for file in folder.iterdir()]


def _settings(folder: Path, gigabytes: int) -> Mapping[str, str]:
    return {
        "temp_file_encryption": "true",
        "max_temp_directory_size": f"'{gigabytes}GB'",
        "temp_directory": exp.Literal.string(str(folder)).sql("duckdb"),
    }


def _fault(target: str) -> SourceFault:
    return SourceFault(
        f"nothing can be spilled beside {target}: DuckDB's extension httpfs, whose OpenSSL"
        " enciphers what is spilled, isn't installed, or nothing can be written there",
        hint="run python -c \"import duckdb; duckdb.connect().install_extension('httpfs')\" as who"
        " runs dpsql, or remove spill: from the schema",
    )
