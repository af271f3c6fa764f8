"""The tasks of a worker, and its replies as bytes.

Tasks are pickled by the server, which the worker trusts. Replies are not pickled: a worker has seen
private rows, so that the server reads its bytes as Arrow tables, as a text or as a mark only.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow as pa
from msgspec import Struct

from dpsql.engine.arrow_result import stream
from dpsql.engine.read_limit import ReadLimit
from dpsql.engine.sandbox.database import Contents, SandboxQuery
from dpsql.engine.sidecar.file import Sidecar
from dpsql.engine.source import Columns, Source
from dpsql.errors import ExecutionFailed, ExecutionStopped, SourceFault, SourceLocked
from dpsql.release.job import Job

TABLES, TEXT, FAILED, NO_SOURCE = b"T", b"V", b"F", b"S"
"""The first byte of a reply: tables or a text follow; the task failed; the source can't be read."""

STOPPED, LACKED, TOO_LARGE, NOT_LOADED, UNANSWERED = b"X", b"G", b"L", b"N", b"U"
"""STOPPED: the task was cancelled or took too long. LACKED: it ran out of memory, or its process or
its version of the data is gone. TOO_LARGE: so is its answer. NOT_LOADED: the catalogue, or the job,
has to be sent first. UNANSWERED: the query has no answer; an SQLSTATE follows, or the public reason
of a statement over public tables."""

LOCKED = b"B"
"""Another process has the source open for writing."""


@dataclass(frozen=True, slots=True)
class RunJob:
    """Execute and release `job`.

    `version` is the data's fingerprint that the charge was made for, None where the schema declares
    the version. Statements also read the tables of `sidecar`, if there is one, and the tables
    `released`, which are Arrow streams by name.
    """

    job: Job
    version: str | None
    sidecar: Sidecar | None = None
    released: Mapping[str, bytes] = field(default_factory=dict, repr=False)


class Expect(Struct, frozen=True):
    """`job` is about to be charged: what needs no row of it is done meanwhile. It has no reply."""

    job: RunJob


class RunExpected(Struct, frozen=True):
    """Run the job that was expected under `number`; NOT_LOADED if the process has it no more."""

    number: int


class ReadPublic(Struct, frozen=True):
    """Read rows of public tables: `source` has no others. More than `limit` are `TOO_LARGE`."""

    source: Source
    sql: str
    limit: ReadLimit | None = None


class Fingerprint(Struct, frozen=True):
    """Compute the fingerprint of a source's data."""

    source: Source


class Ping(Struct, frozen=True):
    """Find out whether a source is there, as a job would find it."""

    source: Source


class ReadColumns(Struct, frozen=True):
    """Read the names and types of the columns of a source's tables."""

    source: Source


class ReadPrepared(Struct, frozen=True):
    """Read the names of the tables that can be read from `sidecar`."""

    source: Source
    sidecar: Sidecar


class AskCatalog(Struct, frozen=True):
    """Run one SELECT over the catalogue `name`; its answer has at most `rows` and `size` bytes."""

    name: str
    sql: str
    rows: int
    size: int


class LoadCatalog(Struct, frozen=True):
    """Load the catalogue `name`; `contents` are sent after a reply NOT_LOADED, else None."""

    name: str
    contents: Contents | None = None


Task = (
    RunJob
    | RunExpected
    | ReadPublic
    | Fingerprint
    | Ping
    | ReadColumns
    | ReadPrepared
    | LoadCatalog
    | AskCatalog
    | SandboxQuery
)


def packed(tables: Mapping[str, pa.Table]) -> bytes:
    """The reply that has `tables`, by name, as Arrow streams."""
    parts = [TABLES]
    for name, table in tables.items():
        for part in (name.encode(), stream(table)):
            parts += [struct.pack("!Q", len(part)), part]
    return b"".join(parts)


def from_bytes(data: bytes) -> pa.Table:
    """The table of an Arrow stream; raises if its offsets or lengths are wrong."""
    with pa.ipc.open_stream(data) as reader:
        table = reader.read_all()
    table.validate(full=True)
    return table


def tables_of(reply: bytes) -> dict[str, pa.Table]:
    """The tables of a reply by name; raises one of dpsql's errors for a reply without tables."""
    _check(reply, TABLES)
    parts = list(_parts(reply))
    return {
        name.decode(): from_bytes(data) for name, data in zip(parts[::2], parts[1::2], strict=True)
    }


def text_of(reply: bytes) -> str:
    """The text of a reply; raises one of dpsql's errors for a reply without a text."""
    _check(reply, TEXT)
    return reply[1:].decode()


def names_of(reply: bytes) -> frozenset[str]:
    """Names of tables, from a reply's text."""
    return frozenset(map(str, json.loads(text_of(reply))))


def columns_of(reply: bytes) -> dict[str, Columns]:
    """Names and types by table, from a reply's text."""
    columns_by_table: Mapping[str, list[tuple[str, str]]] = json.loads(text_of(reply))
    return {
        str(table): tuple((str(name), str(kind)) for name, kind in columns)
        for table, columns in columns_by_table.items()
    }


def _check(reply: bytes, kind: bytes) -> None:
    if reply[:1] == LOCKED:
        raise SourceLocked(
            "the source is open for writing in another process",
            hint="the lines of workers in this log name it",
        )
    if reply[:1] == NO_SOURCE:
        raise SourceFault(
            "the source can't be read as the schema declares it",
            hint="the owner can run dpsql check",
        )
    if reply[:1] in {STOPPED, LACKED}:
        raise ExecutionStopped
    if reply[:1] != kind:
        raise ExecutionFailed


def _parts(reply: bytes) -> Iterator[bytes]:
    at = 1
    while at < len(reply):
        (length,) = struct.unpack_from("!Q", reply, at)
        yield reply[at + 8 : at + 8 + length]
        at += 8 + length
