"""Releases as the ledger has them: their charge, how they were made, their tables as bytes."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator, Sequence
from fractions import Fraction

import pyarrow as pa

from dpsql.engine.arrow_result import stream
from dpsql.ledger.charge import Charge
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.privacy.mechanisms.noise.correlated import CorrelatedNoise
from dpsql.privacy.mechanisms.noise.k_norm import KNormNoise
from dpsql.privacy.mechanisms.noise.noise import Noise
from dpsql.privacy.mechanisms.one_direction import OneDirectionNoise
from dpsql.release.exact_answers import NoNoise
from dpsql.schema.model import Schema
from dpsql.session.compile.compiled_release import CompiledRelease


def charge_for(
    schema: Schema,
    analyst: str,
    sql: str,
    due: Sequence[CompiledRelease],
    version: str,
    loss: PrivacyLoss,
    cap: Fraction | None,
) -> Charge:
    """The charge of `loss` for all of `due` together, under an id of its own."""
    keys = tuple(release.key for release in due)
    request = f"{analyst}\0{','.join(keys)}"
    return Charge(
        request_id=secrets.token_hex(16),
        request_hash=hashlib.sha256(request.encode()).hexdigest(),
        analyst=analyst,
        loss=loss,
        analyst_cap=cap,
        data_version=version,
        policy_hash=schema.policy_hash,
        query=sql,
        detail=tuple(detail(r) for r in due),
        releases=keys,
    )


def detail(release: CompiledRelease) -> dict[str, str]:
    """What the ledger writes down of a release beside its loss: nothing that data decide."""
    step = release.step
    return {
        "release": release.key,
        "mechanisms": "; ".join(_mechanism_texts(step.measurement.mechanisms)),
        "sensitivities": ", ".join(map(str, release.sensitivity.per_group)),
        "groups": str(release.sensitivity.groups),
        "threshold": str(step.measurement.threshold),
    }


def _mechanism_texts(mechanisms: Sequence[Noise | NoNoise]) -> Iterator[str]:
    """Each of `mechanisms` as a text; a law that several are parts of is written beside the first.

    It has a number for each of its parts: beside each of 200 sums they would be more than 1 MiB,
    which is the longest that a charge may be.
    """
    first: dict[int, int] = {}
    for number, mechanism in enumerate(mechanisms, start=1):
        if isinstance(mechanism, CorrelatedNoise | KNormNoise | OneDirectionNoise):
            of = first.setdefault(id(mechanism.law), number)
            if of < number:
                kind = type(mechanism).__name__
                yield f"{kind}(law=that of mechanism {of}, index={mechanism.index})"
                continue
        yield str(mechanism)


def to_bytes(table: pa.Table) -> bytes:
    """A released table as the ledger stores it.

    Its columns are named by their positions: statements that share the answer number their own.
    """
    plain = table.rename_columns([str(index) for index in range(table.num_columns)])
    return stream(plain)


def from_bytes(data: bytes, columns: Sequence[str]) -> pa.Table:
    """The table that `to_bytes` made `data` of, under a statement's own names of its columns."""
    with pa.ipc.open_stream(data) as reader:
        return named(reader.read_all(), columns)


def named(table: pa.Table, columns: Sequence[str]) -> pa.Table:
    """A released table under a statement's own names of its columns."""
    # One without columns has only rows.
    # What stands beside the columns is last; an older version kept less there.
    return table.rename_columns(list(columns)[: table.num_columns]) if columns else table
