"""The law of a synopsis' noise, as the ledger keeps it: of it follow errors of margins' sums."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

import pyarrow as pa
from msgspec import Struct

from dpsql.errors import LedgerFault
from dpsql.plan.expression import Column
from dpsql.plan.operator import Project
from dpsql.privacy.allocation.mwem_calibration import MwemParameters
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.release.dashboard.chart_error import HALF_WIDTHS, linear, worths
from dpsql.release.synopsis.cell_partition import Partition
from dpsql.release.synopsis.factored.factored_table import StoredMargins
from dpsql.release.synopsis.margin_error import (
    MEASURED,
    SYNOPSIS_NOISE,
    MeasuredNoise,
    decode_bounds,
    decode_measured,
    encode_bounds,
)
from dpsql.session.answer.stored_answer import from_bytes
from dpsql.session.compile.compiled import CompiledStatement

_OF_LAPLACE: Final = 2.118379
"""ln(20)/√2: of one draw of Laplace noise; of sums of several, less would do."""


_MARGINS: Final = 1
"""The version of how margins are kept: `dpsql.release.synopsis.factored.factored_table`."""


class SynopsisLaw(Struct, frozen=True):
    """The noise of a kept table's estimates, by their names.

    `axes` has the names of each axis' keys, as measured partitions have the axes. `noise` is that
    of each statistic; a value is the sum of worths times statistics, by their indices, in `values`.
    What was measured was chosen by private scores, so that a law is as secret as the rows are. If
    it `keeps_margins`, the table has these in place of its cells.
    """

    axes: tuple[tuple[str, ...], ...]
    values: Mapping[str, tuple[tuple[Fraction, int], ...]]
    noise: tuple[MeasuredNoise, ...]
    keeps_margins: bool = False

    @property
    def margins(self) -> StoredMargins | None:
        """What a table of too many cells to list keeps in their place; None if they are listed."""
        if not self.keeps_margins:
            return None
        (value,), (noise,) = self.values, self.noise
        return StoredMargins(self.axes, value, noise.measured[0][0].shape, noise.measured)

    @property
    def mechanism(self) -> str:
        """The mechanism's name in reports."""
        return SYNOPSIS_NOISE

    def variance(self, value: str, single: Collection[str]) -> Fraction | None:
        """The variance of the sum of `value` over all cells that have one value of `single` keys.

        None where no round measured such sums, and of some keys of an axis alone.
        """
        held, in_part = self._held(single, ())
        if in_part or value not in self.values:
            return None
        total = Fraction(0)
        for worth, index in self.values[value]:
            variance = self.noise[index].variance(held)
            if variance is None:
                return None
            total += worth**2 * Fraction(variance)
        return total

    def bound(
        self, value: str, single: Collection[str], several: Collection[str] = ()
    ) -> float | None:
        """How far off the sum of `value` is at most with 95 %, where no round measured it.

        It is over all cells with one value of `single` keys, and with some values of `several`.
        None of a synopsis that an earlier version made, and of margins that are too fine.
        """
        if value not in self.values:
            return None
        held, in_part = self._held(single, several)
        total = Fraction(0)
        for worth, index in self.values[value]:
            bound = self.noise[index].bound(held, in_part)
            if bound is None:
                return None
            total += abs(worth) * bound
        return float(total)

    def _held(
        self, single: Collection[str], several: Collection[str]
    ) -> tuple[list[int], list[int]]:
        """The axes that `single` keys hold to one value, and those of which keys choose several.

        So does one value of some of an axis' keys.
        """
        held: list[int] = []
        in_part: list[int] = []
        for axis, names in enumerate(self.axes):
            if {*names} <= {*single}:
                held.append(axis)
            elif {*names} & {*single, *several}:
                in_part.append(axis)
        return held, in_part

    def half_width(self, variance: Fraction) -> float:
        """The 95 % half-width of a sum whose noise has this variance."""
        return self.noise[0].half_widths * math.sqrt(variance)


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
        {names[one.column]: worths(linear(one.estimator)) for one in bounded.outputs},
        decode_measured(
            table[MEASURED][0].as_py(),
            tuple(len(domain.cells) for domain in domains),
            _OF_LAPLACE if is_laplace else HALF_WIDTHS,
        ),
        release.step.is_factored,
    )


def saved_rows(
    compiled: CompiledStatement,
    answer: pa.Table,
    stored_answers: Callable[[Sequence[str]], Sequence[bytes]],
) -> pa.Table:
    """The rows that are kept of `compiled`: those of its `answer`.

    Of a factored synopsis they are those of its stored answer: what they are is said by their
    order, which no engine promises.
    """
    plan = compiled.statement.plan
    if len(compiled.releases) != 1 or not isinstance(plan, Project):
        return answer
    (release,) = compiled.releases
    if not release.step.is_factored:
        return answer
    (stored,) = stored_answers([release.key])
    columns = [output.expression for output in plan.outputs]
    names = [f"c{column.id}" for column in columns if isinstance(column, Column)]
    return from_bytes(stored, release.columns).select(names)


def encode_synopsis_law(law: SynopsisLaw) -> dict[str, Any]:
    """`law` for JSON."""
    return {
        "axes": law.axes,
        "values": {
            name: [[str(worth), index] for worth, index in terms]
            for name, terms in law.values.items()
        },
        "shape": law.noise[0].measured[0][0].shape,
        "measured": [
            [[partition.sizes, variance] for partition, variance in one.measured]
            for one in law.noise
        ],
        "half_widths": law.noise[0].half_widths,
        **({"margins": _MARGINS} if law.keeps_margins else {}),
        "bounds": encode_bounds([one.bounds for one in law.noise]),
    }


def decode_synopsis_law(fields: Mapping[str, Any]) -> SynopsisLaw:
    """What `encode_synopsis_law` wrote; what it wrote before there were sums has a list of one.

    Before there were bounds it wrote none.
    """
    shape, named, measured = tuple(fields["shape"]), fields["values"], fields["measured"]
    if isinstance(named, list):
        (name,) = named
        named, measured = {name: [["1", 0]]}, [measured]
    bounds = decode_bounds(fields.get("bounds", [[]] * len(measured)))
    noise = tuple(
        MeasuredNoise(
            tuple((Partition(shape, tuple(sizes)), variance) for sizes, variance in one),
            fields["half_widths"],
            of,
        )
        for one, of in zip(measured, bounds, strict=True)
    )
    values = {
        name: tuple((Fraction(worth), index) for worth, index in terms)
        for name, terms in named.items()
    }
    if fields.get("margins", _MARGINS) != _MARGINS:
        raise LedgerFault(
            "a synopsis keeps margins in a way that isn't known here",
            hint="use the version of dpsql that kept it",
        )
    axes = tuple(tuple(names) for names in fields["axes"])
    return SynopsisLaw(axes, values, noise, "margins" in fields)
