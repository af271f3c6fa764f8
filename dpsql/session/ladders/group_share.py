"""Which part of all units a release reads, by the units that a calibration counted in groups."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
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


def share_of_each(
    ladders: StoredLadders,
    listed: Mapping[Digest, frozenset[Value]],
    key: Digest,
    values: Sequence[Value | None],
) -> tuple[Fraction, ...] | None:
    """The part of the counted units that has each of `values` of a key, among those that are read.

    As few as noise moves a number of units by are taken to be that many, as in `counted_share`.
    None where the ladders have no units by this key.
    """
    if key not in ladders.about.known or not ladders.group_units:
        return None
    others = {digest: own for digest, own in listed.items() if digest != key}
    own, fewest = ladders.about.known.index(key), max(1, ladders.about.unit_deviation)
    units: defaultdict[str, int] = defaultdict(int)
    for group, count in _read(ladders, others):
        units[json.dumps(group[own])] += count
    total = sum(max(fewest, count) for count in ladders.group_units.values())
    return tuple(
        Fraction(max(fewest, units[json.dumps(value, default=str)]), total) for value in values
    )


def _read(
    ladders: StoredLadders, listed: Mapping[Digest, frozenset[Value]]
) -> list[tuple[list[object], int]]:
    """The groups that are read, of `listed` values of their keys, and their units."""
    fewest = max(1, ladders.about.unit_deviation)
    # As JSON has values, so that a day is compared with the text that it was kept as.
    narrowed = {
        index: [json.loads(json.dumps(value, default=str)) for value in listed[digest]]
        for index, digest in enumerate(ladders.about.known)
        if digest in listed
    }
    counts = [(json.loads(key), max(fewest, count)) for key, count in ladders.group_units.items()]
    return [
        (key, count)
        for key, count in counts
        if all(key[n] in values for n, values in narrowed.items())
    ]


def counted_share(
    ladders: StoredLadders, listed: Mapping[Digest, frozenset[Value]]
) -> tuple[Fraction, int] | None:
    """The part of the counted units that a release reads, and in how many groups they are.

    A group that seems to have fewer units than noise moves their number by is taken to have as
    many: to cut off what few units have would cost more than to allow for some that aren't there.
    None where the ladders have no units by group.
    """
    fewest = max(1, ladders.about.unit_deviation)
    read = [count for _, count in _read(ladders, listed)]
    if not read:
        return None
    total = sum(max(fewest, count) for count in ladders.group_units.values())
    return Fraction(sum(read), total), len(read)
