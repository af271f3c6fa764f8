"""How released columns were made, and how far noise moves values that all have one error.

Told before anything runs: by the law of the noise alone, in which no data have a part.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from math import inf
from types import MappingProxyType
from typing import TypeAlias, assert_never

from dpsql.plan.bounded_release.estimator import (
    CellCount,
    ChosenValue,
    DividedSum,
    ExpertChoice,
    LinearEstimator,
    Mean,
    Moments,
    NamedCondition,
    OwnEstimator,
    QuantileValue,
    Variance,
    of_drawn,
)
from dpsql.plan.chart import Chart
from dpsql.privacy.allocation.mwem_calibration import MwemParameters
from dpsql.privacy.mechanisms.residual_gaussian import MarginalNoise
from dpsql.privacy.mechanisms.selection.above_threshold import AboveThreshold
from dpsql.privacy.mechanisms.selection.threshold_stream import ThresholdStream
from dpsql.privacy.mechanisms.selection.weighted_majority import WeightedMajority
from dpsql.release.alert import threshold_errors
from dpsql.release.columns.confidence_interval import (
    CONFIDENCE,
    NoiseSpread,
    half_width,
    linear_error,
    mean_rows_error,
)
from dpsql.release.columns.cross_group_terms import localize
from dpsql.release.dashboard.chart_error import chart_variances, linear, worths
from dpsql.release.dashboard.chart_error import half_width as chart_half_width
from dpsql.release.decision import expected_regret
from dpsql.release.selection_mechanism import (
    CountedTopMechanism,
    ScoreMechanism,
    SelectionMechanism,
)
from dpsql.release.synopsis.margin_error import SYNOPSIS_NOISE
from dpsql.session.answer.answer import ColumnPrivacy
from dpsql.session.answer.chart_reading import ChartReading
from dpsql.session.answer.rollup import RollUp
from dpsql.session.compile.column_provenance import Origin, origins
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.structs import replace

FreeWay: TypeAlias = RollUp | ChartReading
"""How a release follows of what is stored already."""

Rolled = Mapping[str, FreeWay]
NOTHING: Rolled = MappingProxyType({})
"""No release is summed from a stored one."""


def column_privacy(
    compiled: CompiledStatement, rolled: Rolled = NOTHING
) -> tuple[ColumnPrivacy, ...]:
    """How each released column was made; `rolled` are the releases that others are summed to."""
    return PrivacyReader(compiled, rolled).released_columns()


def answer_columns(
    compiled: CompiledStatement, rolled: Rolled = NOTHING
) -> tuple[ColumnPrivacy | None, ...]:
    """For each column of the answer how it was made, None if it isn't a released value.

    Of a column with values of several releases, how the noisiest were.
    """
    return PrivacyReader(compiled, rolled).answer_columns()


def below_max_error(rolled: Rolled, max_error: Fraction | None) -> dict[str, FreeWay]:
    """Those of `rolled` whose noise moves no value further than the error that will do, if one is.

    Cells of a finer answer met it each for itself: a sum of 27 of them is off five times as far.
    """
    return {
        name: way for name, way in rolled.items() if max_error is None or _error(way) <= max_error
    }


def _error(way: FreeWay) -> float:
    return max(inf if c.half_width is None else c.half_width for c in _columns(way))


def _columns(way: FreeWay) -> tuple[ColumnPrivacy, ...]:
    """How the columns of what `way` leads to are made."""
    match way:
        case RollUp(source=source, outputs=outputs):
            return tuple(way.noisier(column_of(source, index)) for index in outputs)
        case ChartReading(columns=columns):
            return columns
        case missing:
            assert_never(missing)


def column_of(
    release: CompiledRelease, index: int, spreads: Sequence[NoiseSpread] | None = None
) -> ColumnPrivacy:
    """How one column of `release` is made; `spreads` are its statistics' noise, if not as drawn."""
    mechanisms = release.step.measurement.mechanisms
    local = localize(release.step.bounded.outputs, mechanisms if spreads is None else spreads)
    output = local.outputs[index]
    name = release.display_name(output.column)
    match release.step.measurement.table_mechanism:
        case MwemParameters():
            # An estimate is off by what noise moved, and by what no round asked for.
            worth = worths(linear(release.step.bounded.outputs[index].estimator))
            scale = float(sum(w**2 * mechanisms[of].variance for w, of in worth)) ** 0.5
            return ColumnPrivacy(name, SYNOPSIS_NOISE, scale, None)
        case MarginalNoise():
            return _of_dashboard(release, index, name)
        case WeightedMajority() as majority:
            regret = float(expected_regret(release.step.bounded, majority))
            return ColumnPrivacy(name, majority.name, regret, None, regret=regret)
        case (AboveThreshold() | ThresholdStream()) as above:
            off = float(max(threshold_errors(release.step.bounded, above)))
            return ColumnPrivacy(name, above.name, off, None, threshold_error=off)
        case None:
            pass
        case other:
            assert_never(other)
    own = _own_column(release, of_drawn(output.estimator), name, local.spreads)
    if release.step.bounded.sampling is None:
        # What is made to add up has parts of what others lack.
        alone = spreads is None or tuple(spreads) == mechanisms
        return replace(own, bias=release.biases.get(output.column.id) if alone else None)
    # Beside noise there is what units are in no sample: how far that moves a value, values tell.
    mechanism = f"{own.mechanism}, of a sample"
    return ColumnPrivacy(name, mechanism, own.scale, None)


def _of_dashboard(release: CompiledRelease, index: int, name: str) -> ColumnPrivacy:
    """The noise of a cell of all keys, or of a fine chart; `dashboard_notes` tell of each chart."""
    bounded, noise = release.step.bounded, release.step.measurement.table_mechanism
    assert isinstance(noise, MarginalNoise)
    output = bounded.outputs[index].column
    every = Chart(tuple(key.column for key in bounded.contributions.keys), (output,))
    variances = chart_variances(bounded, noise, every, output)
    if variances is not None:
        largest = variances[1]
        return ColumnPrivacy(name, noise.name, largest**0.5, chart_half_width(largest))
    statistic, _ = linear(bounded.outputs[index].estimator).summands[0]
    step = bounded.contributions.statistics[statistic].step
    scale = noise.statistics[statistic].finest_variance ** 0.5 * float(step)
    return ColumnPrivacy(name, noise.name, scale, None)


def _own_column(
    release: CompiledRelease, estimator: OwnEstimator, name: str, spreads: Sequence[NoiseSpread]
) -> ColumnPrivacy:
    """How values are made of the rows that are read."""
    mechanisms = release.step.measurement.mechanisms
    statistics = release.step.bounded.contributions.statistics
    match estimator:
        case LinearEstimator(summands=terms):
            scale, width = linear_error(estimator, spreads)
            mechanism = mechanisms[terms[0][0]].name if terms else "public"
            if estimator.row_variance is not None and release.step.bounded.sampling is None:
                # Beside the noise there is what was randomised before, of all rows there are.
                return ColumnPrivacy(
                    name, f"{mechanism}, of randomised answers", float(scale), None
                )
            return ColumnPrivacy(name, mechanism, float(scale), float(width))
        case DividedSum():
            own = _own_column(release, estimator.farthest, name, spreads)
            return replace(own, mechanism=f"{own.mechanism}, at the highest cap")
        case Variance(index=chosen, scale=worth, is_root=is_root):
            known = None if is_root else float(half_width(spreads[chosen]) * worth)
            scale = float(spreads[chosen].variance) ** 0.5 * float(worth)
            return ColumnPrivacy(name, mechanisms[chosen].name, scale, known)
        case Mean(total=total):
            scale = float(spreads[total].variance) ** 0.5 * float(statistics[total].step)
            error = mean_rows_error(estimator, spreads)
            return ColumnPrivacy(name, mechanisms[total].name, scale, None, rows_error=error)
        case Moments(x=x):
            scale = float(spreads[x.total].variance) ** 0.5 * float(x.step)
            return ColumnPrivacy(name, mechanisms[x.total].name, scale, None)
        case QuantileValue(index=chosen) | ChosenValue(index=chosen):
            cells, chooser = _selection_mechanism(release, chosen)
            if isinstance(chooser, ScoreMechanism):
                off = float(min(chooser.score_error(CONFIDENCE), Fraction(sys.float_info.max)))
                return ColumnPrivacy(name, chooser.name, off, None, score_error=off)
            error = float(chooser.rank_error(cells, CONFIDENCE))
            return ColumnPrivacy(name, chooser.name, error, None, error)
        case CellCount(index=chosen):
            _, chooser = _selection_mechanism(release, chosen)
            assert isinstance(chooser, CountedTopMechanism)
            noise = chooser.noise
            return ColumnPrivacy(
                name, noise.name, float(noise.variance) ** 0.5, float(half_width(noise))
            )
        case ExpertChoice() | NamedCondition():
            raise TypeError("a table that is made as a whole has a mechanism of its own")
        case missing:
            assert_never(missing)


class PrivacyReader:
    """Finds how values of a statement's releases were made, and remembers it of each column."""

    def __init__(self, compiled: CompiledStatement, rolled: Rolled) -> None:
        self._compiled = compiled
        self._rolled = rolled
        self._consistency = compiled.consistency.without(rolled)
        self._columns: dict[Origin, ColumnPrivacy] = {}

    @cached_property
    def _indices(self) -> dict[Origin, tuple[CompiledRelease, int]]:
        return {
            (release.release, output.column.id): (release, index)
            for release in self._compiled.releases
            for index, output in enumerate(release.step.bounded.outputs)
        }

    def released_columns(self) -> tuple[ColumnPrivacy, ...]:
        """How each released column was made."""
        return tuple(
            self._column((release.release, output.column.id))
            for release in self._compiled.releases
            for output in release.step.bounded.outputs
        )

    def answer_columns(self) -> tuple[ColumnPrivacy | None, ...]:
        """For each column of the answer how its noisiest values were made."""
        columns = self._compiled.statement.columns
        return tuple(self.noisiest(origins(self._compiled.plan, c.id)) for c in columns)

    def release(self, origin: Origin) -> tuple[CompiledRelease, int]:
        """The release that a column is of, and the column's index among its outputs."""
        return self._indices[origin]

    def noisiest(self, origins: tuple[Origin, ...] | None) -> ColumnPrivacy | None:
        """How the noisiest of some values was made; None for keys and for what is computed."""
        candidates = [self._column(origin) for origin in origins or ()]
        if not candidates:
            return None
        widths = [one.half_width for one in candidates]
        known = [width for width in widths if width is not None]
        if len(known) < len(widths):
            open_ended = [one for one in candidates if one.half_width is None]
            return max(open_ended, key=lambda one: one.rank_error or one.rows_error or 0.0)
        noisiest = candidates[widths.index(max(known))]
        alike = len({one.bias for one in candidates}) == 1
        return noisiest if alike else replace(noisiest, bias=None)

    def _column(self, origin: Origin) -> ColumnPrivacy:
        known = self._columns.get(origin)
        if known is None:
            known = self._columns[origin] = self._privacy(*self._indices[origin])
        return known

    def _privacy(self, release: CompiledRelease, index: int) -> ColumnPrivacy:
        way = self._rolled.get(release.name)
        if way is None:
            return column_of(release, index, self._consistency.spreads(release))
        name = release.display_name(release.step.bounded.outputs[index].column)
        return replace(_columns(way)[index], name=name)


def _selection_mechanism(release: CompiledRelease, index: int) -> tuple[int, SelectionMechanism]:
    """What makes the choice at `index`, and among how many cells."""
    pairs = zip(
        release.step.bounded.contributions.cell_choices,
        release.step.measurement.choosers,
        strict=True,
    )
    for selection, chooser in pairs:
        if index < selection.choices:
            return selection.cells.count, chooser
        index -= selection.choices
    raise ValueError("there are fewer choices")
