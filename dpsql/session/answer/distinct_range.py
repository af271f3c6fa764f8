"""Counts of distinct values are shown within what there can be: from 0 to all that are declared.

    SELECT count(DISTINCT sex) FROM patients     0, 1 or 2, of two values, whatever noise is

It is computed of noisy counts, after they were stored, so that the stored answer is the same where
`SET dpsql.clamped = off` shows them as they were drawn. The exact count lies in the range, and so
what is moved into it comes nearer to it: the half-width of its noise holds as it is. Only what is
computed of many such values is moved by it: counts near an end are pushed inwards in the mean, and
a note beside the answer says of how many.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import pyarrow as pa
from msgspec import Struct

from dpsql.analysis.domains.column_domains import column_domains
from dpsql.analysis.domains.expression_domain import domain
from dpsql.plan.aggregate import OutputKind
from dpsql.plan.bounded_release.estimator import LinearEstimator
from dpsql.plan.bounded_release.statistic import DistinctValues
from dpsql.plan.expression import Expression
from dpsql.privacy.domain import Domain
from dpsql.schema.sql_type import Boolean, Date, Integer
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.compiled_release import CompiledRelease

_MAX_VALUES = 2**62
"""A range that is longer bounds nothing that is counted."""


class DistinctRange(Struct, frozen=True):
    """A column of `release` that counts distinct values, of which there are so many `values`.

    `name` is what people call it.
    """

    release: str
    column: str
    name: str
    values: int

    @property
    def text(self) -> str:
        """The range in words."""
        return f"{self.name}: of 0 to {self.values} distinct values, no more exist (dpsql.clamped)"


def distinct_ranges(compiled: CompiledStatement) -> tuple[DistinctRange, ...]:
    """The counts of distinct values in the releases of `compiled` that are to be clamped."""
    if not compiled.options.answer.clamped:
        return ()
    return tuple(one for release in compiled.releases for one in _of_release(release))


def clamped_tables(
    ranges: tuple[DistinctRange, ...], tables: Mapping[str, pa.Table]
) -> dict[str, pa.Table]:
    """`tables`, by their releases' names, with the values of `ranges` within them."""
    if not ranges:
        return dict(tables)
    import pyarrow.compute as pc  # noqa: PLC0415 - few answers need it

    clamped = dict(tables)
    for one in ranges:
        table = clamped[one.release]
        counts = table.column(one.column)
        low, high = (pa.scalar(end, counts.type) for end in (0, one.values))
        moved = pc.max_element_wise(pc.min_element_wise(counts, high), low)
        index = table.schema.get_field_index(one.column)
        clamped[one.release] = table.set_column(index, one.column, moved)
    return clamped


def clamp_notes(ranges: tuple[DistinctRange, ...], tables: Mapping[str, pa.Table]) -> Iterator[str]:
    """What is said of columns of `tables` that have values beyond their ranges."""
    if not ranges:
        return
    import pyarrow.compute as pc  # noqa: PLC0415 - few answers need it

    for one in ranges:
        counts = tables[one.release].column(one.column)
        outside = pc.or_(pc.less(counts, 0), pc.greater(counts, one.values))
        beyond = pc.sum(outside).as_py()
        if beyond:
            yield f"{one.text}: noise has put {beyond} of {len(counts)} beyond"


def _of_release(release: CompiledRelease) -> Iterator[DistinctRange]:
    bounded = release.step.bounded
    statistics = bounded.contributions.statistics
    if release.opaque is not None or release.step.measurement.table_mechanism is not None:
        # How many values a column has that a view hides is as hidden as its name.
        return
    for output in bounded.outputs:
        formula = output.estimator
        if output.output_kind is not OutputKind.VALUE or not isinstance(formula, LinearEstimator):
            continue
        if formula.step != 1 or formula.constant or formula.row_variance is not None:
            continue
        match [(statistics[index].term, factor) for index, factor in formula.summands]:
            case [(DistinctValues(argument=argument), 1)]:
                known = domain(argument, column_domains(bounded.contributions.source))
                values = _number_of_values(argument, known)
                if values is not None:
                    name, column = release.display_name(output.column), output.column
                    yield DistinctRange(release.name, f"c{column.id}", name, values)
            case _:
                pass


def _number_of_values(argument: Expression, known: Domain) -> int | None:
    """How many values `known` has, beside NULL; None if that isn't known."""
    if known.values is not None:
        return len(known.values)
    ends = None if known.bounds is None else known.bounds.ends
    match argument.type:
        case Boolean():
            return 2
        case Integer() | Date() if ends is not None:
            values = max(0, math.floor(ends[1]) - math.ceil(ends[0]) + 1)
            return values if values < _MAX_VALUES else None
        case _:
            return None
