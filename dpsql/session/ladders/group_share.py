"""Which part of all units a release reads, by the units that a calibration counted in groups."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from fractions import Fraction

from dpsql.analysis.domains.column_domains import column_domains
from dpsql.analysis.domains.expression_domain import domain
from dpsql.engine.digest import Digest
from dpsql.plan.operator import Release
from dpsql.plan.output_columns import output_columns
from dpsql.plan.traversal import operators
from dpsql.privacy.domain import Value
from dpsql.session.digest.source_digests import SourceDigests
from dpsql.session.ladders.stored_ladders import StoredLadders


def listed_values(release: Release, digests: SourceDigests) -> Mapping[Digest, frozenset[Value]]:
    """The values of columns to which conditions of a release narrow them, by what they mean."""
    below = column_domains(release.source)
    listed: dict[Digest, frozenset[Value]] = {}
    for part in operators(release.source):
        for column in output_columns(part):
            values = domain(column, below).values
            if values is not None:
                listed[digests.of(column)] = frozenset(values)
    return listed


def counted_share(
    ladders: StoredLadders, listed: Mapping[Digest, frozenset[Value]]
) -> tuple[Fraction, int] | None:
    """The part of the counted units that a release reads, and in how many groups they are.

    None where the ladders have no units by group.
    """
    counts = [(json.loads(key), max(1, count)) for key, count in ladders.group_units.items()]
    read = [count for key, count in counts if _is_read(key, ladders, listed)]
    if not read:
        return None
    return Fraction(sum(read), sum(count for _, count in counts)), len(read)


def _is_read(
    key: list[object], ladders: StoredLadders, listed: Mapping[Digest, frozenset[Value]]
) -> bool:
    return all(value in texts for value, texts in _conditions(key, ladders, listed))


def _conditions(
    key: list[object], ladders: StoredLadders, listed: Mapping[Digest, frozenset[Value]]
) -> Iterator[tuple[object, set[object]]]:
    """Each value of a key whose column is narrowed, and what it is narrowed to, as JSON has it."""
    for value, digest in zip(key, ladders.about.known, strict=True):
        if digest in listed:
            yield value, {json.loads(json.dumps(v, default=str)) for v in listed[digest]}
