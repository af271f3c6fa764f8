"""A release as the ledger keeps it: its noisy table as bytes, and how it was made."""

from __future__ import annotations

from collections.abc import Sequence

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
    """A released table as the ledger stores it.

    Its columns are named by their places: statements that share the answer number their own.
    """
    plain = table.rename_columns([str(place) for place in range(table.num_columns)])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, plain.schema) as writer:
        writer.write_table(plain)
    return bytes(sink.getvalue())


def from_bytes(data: bytes, columns: Sequence[str]) -> pa.Table:
    """The table that `to_bytes` made `data` of, under a statement's own names of its columns."""
    with pa.ipc.open_stream(data) as reader:
        table = reader.read_all()
    # One without columns has only rows.
    return table.rename_columns(list(columns)) if columns else table
