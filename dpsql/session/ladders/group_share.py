"""Which part of all units a release reads, by the units that a calibration counted in groups."""

from __future__ import annotations

import json
from collections.abc import Mapping
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

    A group that seems to have fewer units than noise moves their number by is taken to have as
    many: to cut off what few units have would cost more than to allow for some that aren't there.
    None where the ladders have no units by group.
    """
    fewest = max(1, ladders.about.unit_deviation)
    # As JSON has values, so that a day is compared with the text that it was kept as.
    narrowed = {
        index: [json.loads(json.dumps(value, default=str)) for value in listed[digest]]
        for index, digest in enumerate(ladders.about.known)
        if digest in listed
    }
    counts = [(json.loads(key), max(fewest, count)) for key, count in ladders.group_units.items()]
    read = [c for key, c in counts if all(key[n] in values for n, values in narrowed.items())]
    if not read:
        return None
    return Fraction(sum(read), sum(count for _, count in counts)), len(read)
