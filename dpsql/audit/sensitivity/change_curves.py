"""The largest changes between neighbors, against their distance or against their size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from fractions import Fraction

from msgspec import Struct

from dpsql.audit.databases.search_space import Size
from dpsql.audit.sensitivity.exhaustive_audit import Finding, SensitivityAudit, audit_sensitivity
from dpsql.schema.model import Neighbors, Schema
from dpsql.structs import replace


class Against(Enum):
    """What changes are tabulated against."""

    DISTANCE = "distance"
    SIZE = "size"


class ChangeCurve(Struct, frozen=True):
    """A number of a release, or of the plain answer, under one relation: its change at each point.

    `derived` is None where no bound is claimed.
    """

    description: str
    neighbors: Neighbors
    observed: tuple[Fraction, ...]
    derived: tuple[Fraction, ...] | None


class ChangeCurves(Struct, frozen=True):
    """All curves of a statement over the same `points`; `violations` name exceeded bounds.

    `held` is what all points have in common: the size of databases, or the distance of neighbors.
    """

    sql: str
    against: Against
    points: tuple[int, ...]
    held: str
    curves: tuple[ChangeCurve, ...]
    violations: tuple[str, ...]


def change_curves(
    sql: str, schema: Schema, relations: Sequence[Neighbors], against: Against, size: Size
) -> ChangeCurves:
    """Audit `sql` at each point: up to `size.distance` units apart, or over each number of units.

    Curves of one number stand side by side, one for each of `relations`.
    """
    for relation in relations:
        size.of_larger(relation)
    sizes = _sizes(against, size)
    curves: dict[tuple[str, int], list[ChangeCurve]] = {}
    violations: list[str] = []
    for relation in relations:
        audits = [audit_sensitivity(sql, schema, relation, each) for each in sizes.values()]
        violations += [text for audit in audits for text in audit.violations]
        for key, findings in _by_number(audits).items():
            bounds = [each.derived for each in findings if each.derived is not None]
            curve = ChangeCurve(
                key[0],
                relation,
                tuple(each.observed for each in findings),
                tuple(bounds) if len(bounds) == len(findings) else None,
            )
            curves.setdefault(key, []).append(curve)
    return ChangeCurves(
        sql,
        against,
        tuple(sizes),
        _held(against, size),
        tuple(curve for same in curves.values() for curve in same),
        tuple(dict.fromkeys(violations)),
    )


def _sizes(against: Against, size: Size) -> Mapping[int, Size]:
    """The enumeration at each point."""
    if against is Against.DISTANCE:
        return {k: replace(size, distance=k) for k in range(1, size.distance + 1)}
    # No database of fewer units has a neighbor at that distance.
    numbers = range(max(size.min_units, size.distance), size.max_units + 1)
    return {n: replace(size, around=n) for n in numbers}


def _held(against: Against, size: Size) -> str:
    if against is Against.SIZE:
        return f"neighbours {size.distance} apart"
    if size.around is not None:
        return f"one neighbour of {size.around} unit{'s' * (size.around != 1)}"
    return f"databases of {size.min_units} to {size.max_units} units"


def _by_number(audits: Sequence[SensitivityAudit]) -> Mapping[tuple[str, int], list[Finding]]:
    """The findings at all points of each number that is known at all of them.

    A number is its description and, since two releases may each count rows, how often that came
    before. One group changes where there are no others, as where the plain answer is compared.
    """
    numbers: dict[tuple[str, int], list[Finding]] = {}
    for audit in audits:
        times: dict[str, int] = {}
        for finding in (*audit.plain, *audit.findings):
            if audit.plain and finding.description == "groups":
                continue
            number = times[finding.description] = times.get(finding.description, -1) + 1
            numbers.setdefault((finding.description, number), []).append(finding)
    return {key: findings for key, findings in numbers.items() if len(findings) == len(audits)}
