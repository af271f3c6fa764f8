"""A release as the ledger keeps it: its noisy table as bytes, and how it was made."""

from __future__ import annotations

import pyarrow as pa

from dpsql.session.prepared import PreparedRelease


def detail(release: PreparedRelease) -> dict[str, str]:
    """What the ledger writes down of a release beside its loss: nothing that data decide."""
    step = release.step
    return {
        "release": release.key,
        "mechanisms": "; ".join(map(str, step.measurement.mechanisms)),
        "sensitivities": ", ".join(map(str, release.sensitivity.per_group)),
        "groups": str(release.sensitivity.groups),
        "threshold": str(step.measurement.threshold),
    }


def to_bytes(table: pa.Table) -> bytes:
    """A released table as the ledger stores it."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def from_bytes(data: bytes) -> pa.Table:
    """The table that `to_bytes` made `data` of."""
    with pa.ipc.open_stream(data) as reader:
        return reader.read_all()
