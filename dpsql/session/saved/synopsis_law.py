"""The law of a synopsis' noise, as the ledger keeps it: of it follow errors of margins' sums."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from msgspec import Struct

from dpsql.plan.operator import Project
from dpsql.privacy.allocation.mwem_calibration import MwemParameters
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.release.dashboard.chart_error import HALF_WIDTHS
from dpsql.release.synopsis.cell_partition import Partition
from dpsql.release.synopsis.margin_error import MEASURED, MeasuredNoise, decode_measured
from dpsql.session.answer.stored_answer import from_bytes
from dpsql.session.compile.compiled import CompiledStatement

_OF_LAPLACE: Final = 2.118379
"""ln(20)/√2: of one draw of Laplace noise; of sums of several, less would do."""


class SynopsisLaw(Struct, frozen=True):
    """The noise of a kept table's estimated counts, whose column is the only one of `values`.

    `axes` has the names of each axis' keys, as the measured partitions of `noise` have the axes.
    What was measured was chosen by private scores, so that a law is as secret as the rows are.
    """

    axes: tuple[tuple[str, ...], ...]
    values: tuple[str, ...]
    noise: MeasuredNoise

    @property
    def mechanism(self) -> str:
        """The mechanism's name in reports."""
        return "multiplicative weights"

    def variance(self, value: str, single: Collection[str]) -> Fraction | None:
        """The variance of the sum of `value` over all cells that have one value of `single` keys.

        None where no round measured such sums, and of some keys of an axis alone.
        """
        if value not in self.values:
            return None
        held: list[int] = []
        for axis, names in enumerate(self.axes):
            named = sum(name in single for name in names)
            if named not in (0, len(names)):
                return None
            if named:
                held.append(axis)
        variance = self.noise.variance(held)
        return None if variance is None else Fraction(variance)

    def half_width(self, variance: Fraction) -> float:
        """The 95 % half-width of a sum whose noise has this variance."""
        return self.noise.half_widths * math.sqrt(variance)


def synopsis_law(
    compiled: CompiledStatement,
    stored_answers: Callable[[Sequence[str]], Sequence[bytes]],
) -> SynopsisLaw | None:
    """The law of what `compiled` made, by its stored answer; None of no synopsis.

    A synopsis that an older version stored doesn't say what was measured: it has none either.
    """
    if len(compiled.releases) != 1:
        return None
    (release,), plan = compiled.releases, compiled.statement.plan
    parameters = release.step.measurement.table_mechanism
    if not isinstance(parameters, MwemParameters) or not isinstance(plan, Project):
        return None
    (answer,) = stored_answers([release.key])
    table = from_bytes(answer, release.columns)
    if MEASURED not in table.column_names or not table.num_rows:
        return None
    bounded = release.step.bounded
    named = zip(plan.outputs, compiled.statement.names, strict=True)
    names = {output.expression: name for output, name in named}
    keys = [names[key.column] for key in bounded.contributions.keys]
    domains = bounded.contributions.domains
    is_laplace = isinstance(parameters.total, DiscreteLaplace)
    return SynopsisLaw(
        tuple(tuple(keys[k] for k in domain.keys) for domain in domains),
        (names[bounded.outputs[0].column],),
        decode_measured(
            table[MEASURED][0].as_py(),
            tuple(len(domain.cells) for domain in domains),
            _OF_LAPLACE if is_laplace else HALF_WIDTHS,
        ),
    )


def encode_synopsis_law(law: SynopsisLaw) -> dict[str, Any]:
    """`law` for JSON."""
    measured = law.noise.measured
    return {
        "axes": law.axes,
        "values": law.values,
        "shape": measured[0][0].shape,
        "measured": [[partition.sizes, variance] for partition, variance in measured],
        "half_widths": law.noise.half_widths,
    }


def decode_synopsis_law(fields: Mapping[str, Any]) -> SynopsisLaw:
    """What `encode_synopsis_law` wrote."""
    shape = tuple(fields["shape"])
    measured = tuple((Partition(shape, tuple(s)), variance) for s, variance in fields["measured"])
    return SynopsisLaw(
        tuple(tuple(names) for names in fields["axes"]),
        tuple(fields["values"]),
        MeasuredNoise(measured, fields["half_widths"]),
    )
