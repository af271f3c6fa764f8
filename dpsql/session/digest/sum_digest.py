"""What values mean that are plain sums over rows, so that those of disjoint groups add up."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from dpsql.engine.digest import Digest, digest_of, encoded
from dpsql.plan.aggregate import OutputKind
from dpsql.plan.bounded_release.bounded_release import BoundedRelease
from dpsql.plan.bounded_release.estimator import EstimatedColumn, LinearEstimator
from dpsql.plan.bounded_release.statistic import NonNullCount, RowCount, Sum
from dpsql.session.digest.canonical_digest import digests


class SumDigests(Struct, frozen=True):
    """What a release sums, part by part: its rows, its keys, and its values, whatever their type.

    A value that is no such sum has None.
    """

    rows: Digest
    keys: tuple[Digest, ...]
    values: tuple[Digest | None, ...]


def sum_digests(bounded: BoundedRelease) -> SumDigests:
    """The parts of `bounded`, which reads no other release."""
    parts = digests(bounded)
    values = tuple(_value(output, bounded, parts.statistics) for output in bounded.outputs)
    return SumDigests(parts.rows, parts.keys, values)


def _value(
    output: EstimatedColumn, bounded: BoundedRelease, statistics: Sequence[Digest]
) -> Digest | None:
    formula = output.estimator
    if (
        output.output_kind is not OutputKind.VALUE
        or not isinstance(formula, LinearEstimator)
        or (formula.minimum, formula.row_variance, formula.cross_group) != (None, None, None)
    ):
        return None
    terms = [bounded.contributions.statistics[index].term for index, _ in formula.summands]
    if not all(isinstance(term, RowCount | NonNullCount | Sum) for term in terms):
        return None
    summands = sorted((statistics[index], factor) for index, factor in formula.summands)
    worths = [encoded(each) for each in (formula.step, formula.constant)]
    parts = [f"{encoded(factor)} {digest}" for digest, factor in summands]
    return digest_of("sum", *worths, *parts)
