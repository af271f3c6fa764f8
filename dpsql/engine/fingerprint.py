"""Which version of the data the source's files hold.

A file of up to 64 MiB is identified by its content, so that a copy, a restore or `touch` makes no
new version (a new version costs budget: stored answers and verified keys are bound to it). Reading
more at every start is too slow; larger files are identified as rsync and git's index do it: size,
time of modification and inode, which a replacement by rename changes even if the others agree. The
device's number is left out: a reboot, another order of disks or a container's overlay gives the
same file another one. Instead, the first and last MiB tell files of two disks apart, since formats
keep counts and checksums there; these ends alone are no identity: a row changed in between would
keep verified keys alive.

A fingerprint is a function of private rows. It is compared and stored, and never shown to analysts:
one who knows all rows but one could compute it for each guess of the last.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import Final

from dpsql.engine.source import PLAIN_CSV, DuckDBSource, Source, SourceTable
from dpsql.errors import SourceFault

BY_CONTENT_UP_TO_BYTES: Final = 64 * 1024 * 1024

_END_BYTES: Final = 1024 * 1024

Identity = tuple[tuple[str, int, int, int, int, int], ...]
"""For each file its role, device, inode, size, time of modification, and time of the last change.

The first time is whatever the last writer says, as `cp -p` and archives do; the system sets the
second one whenever bytes, names or rights change, and lets nobody set it. So bytes that are written
over, and a file that is renamed away and back while it was read, are seen. It is no part of a
fingerprint: a backup by hard links changes it, and a new version costs budget.
"""


def identity(source: Source) -> Identity:
    """The file system's facts about the source's files, which show that a file has changed.

    Of a server there are none: its owner states the version, which is a part of the source.
    """
    return identity_reader(source)()


def identity_reader(source: Source) -> Callable[[], Identity]:
    """What reads the `identity` of `source` again and again, and lists its files once."""
    if not isinstance(source, DuckDBSource):
        return tuple
    files = tuple((role, file, role == "log") for role, file in _files(source))
    return lambda: tuple([_stat(role, file, missing_ok=log) for role, file, log in files])


def fingerprint(source: DuckDBSource) -> str:
    """Identify the version of the data, wherever its files are; SourceFault if one is missing."""
    digest = hashlib.sha256()
    for role, file in _files(source):
        name = role.encode()
        digest.update(len(name).to_bytes(4) + name)
        _, _, inode, size, modified, _ = _stat(role, file, missing_ok=role == "log")
        if size <= BY_CONTENT_UP_TO_BYTES:
            digest.update(b"content" + _content(file))
        else:
            stated = f"{inode} {size} {modified}".encode()
            digest.update(b"stated" + hashlib.sha256(stated).digest() + _ends(file))
    return digest.hexdigest()


def _files(source: DuckDBSource) -> Iterator[tuple[str, str]]:
    if source.database is not None:
        yield "database", source.database
        # Committed rows stay in the write-ahead log until a checkpoint moves them.
        yield "log", source.database + ".wal"
    for table in sorted(source.tables, key=lambda table: (table.name, table.file or "")):
        if table.file is not None:
            yield f"table {table.name}{_form(table)}", table.file


def _form(table: SourceTable) -> str:
    """How a CSV file is written: the same bytes have other rows in another encoding."""
    if table.csv == PLAIN_CSV or not table.is_delimited:
        return ""
    return f" parted by {table.csv.delimiter!r}, in {table.csv.encoding}"


def _stat(role: str, file: str, *, missing_ok: bool) -> tuple[str, int, int, int, int, int]:
    try:
        status = os.stat(file)  # noqa: PTH116 - follows links, as the engine does
    except OSError:
        if missing_ok:
            return role, 0, 0, 0, 0, 0
        raise SourceFault(f"{file} is missing", hint="restore it, or correct the source") from None
    size, modified, changed = status.st_size, status.st_mtime_ns, status.st_ctime_ns
    return role, status.st_dev, status.st_ino, size, modified, changed


def _content(file: str) -> bytes:
    return _digest(file, lambda stream: hashlib.file_digest(stream, "sha256").digest())


def _ends(file: str) -> bytes:
    def read(stream: BufferedReader) -> bytes:
        digest = hashlib.sha256(stream.read(_END_BYTES))
        stream.seek(max(0, stream.seek(0, os.SEEK_END) - _END_BYTES))
        digest.update(stream.read(_END_BYTES))
        return digest.digest()

    return _digest(file, read)


def _digest(file: str, read: Callable[[BufferedReader], bytes]) -> bytes:
    try:
        with Path(file).open("rb") as stream:
            return read(stream)
    except FileNotFoundError:
        return hashlib.sha256().digest()
    except OSError:
        raise SourceFault(f"{file} can't be read", hint="check its permissions") from None
