"""How far noise moved each value of an answer, and which values it put at the end of their range.

Sums have one error each, by the law of the noise. Where rows are of several releases, or a column
is one of means, the error is another in each row: that of the released row that it is from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpsql.plan.bounded_release.estimator import DividedSum, row_count_index
from dpsql.privacy.ladder.expected_bias import ExpectedBias
from dpsql.release.columns.value_errors import (
    Floats,
    clamped_values,
    has_value_errors,
    value_half_widths,
)
from dpsql.session.answer.answer import ColumnBias, ColumnErrors, ColumnPrivacy, HalfWidth
from dpsql.session.answer.column_errors import PrivacyReader, Rolled
from dpsql.session.compile.column_provenance import Origin, origins
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.compiled_release import CompiledRelease

Arms = tuple[tuple[Origin, ...] | None, ...]
"""For each arm of an answer's rows where the values of a column come from."""

Clamped = tuple[pa.Array | None, ...]
"""For each column which of its values stand at an end of all that they can be; None: none does."""


def error_notes(reader: ErrorReader, clamped: Clamped, rows: pa.Table) -> Iterator[str]:
    """What is to be said of columns whose values noise decided: which these are, and how many.

    The columns of `rows` are those of the answer.
    """
    statement = reader.compiled.statement
    for name, column, ends, values in zip(
        statement.names, statement.columns, clamped, rows.columns, strict=True
    ):
        if ends is not None:
            yield (
                f"{name}: {sum(ends.to_pylist())} of {len(values)} stand at an end of all that"
                " they can be, where noise has put them"
            )
        if values.null_count and reader.needs_rows(column.id):
            yield (
                f"{name}: {values.null_count} of {len(values)} are NULL, since their groups may be"
                " empty, as far as noise tells"
            )


class ErrorReader:
    """Finds the error of each value of an answer's columns.

    The answer's rows are `finished`, made of the tables `released`.
    """

    def __init__(
        self,
        compiled: CompiledStatement,
        privacy: PrivacyReader,
        finished: pa.Table,
        released: Mapping[str, pa.Table],
        rolled: Rolled,
    ) -> None:
        self.compiled = compiled
        self._privacy = privacy
        self._finished = finished
        self._released = released
        self._rolled = rolled
        self._count = finished.num_rows
        self._arms_of: dict[int, Arms] = {}

    def clamped(self) -> Clamped:
        """Which values of each column stand at an end of all that they can be; None if none do."""
        columns = self.compiled.statement.columns
        if self.compiled.numbered is None:
            return (None,) * len(columns)
        return tuple(self._clamped(column.id) for column in columns)

    def errors(self, shown: Sequence[ColumnPrivacy | None]) -> ColumnErrors:
        """The half-widths of each column's values, and what limits leave out of them.

        What they are is known of the statement: one for all rows, one for each, or none. `shown`
        tells how the columns were made, as far as all of their values were made alike.
        """
        if self.compiled.tagged_union is None and self.compiled.numbered is None:
            return ColumnErrors(
                tuple(None if one is None else one.half_width for one in shown),
                tuple(None if one is None else _same_for_all(one.bias) for one in shown),
            )
        ids = [column.id for column in self.compiled.statement.columns]
        return ColumnErrors(tuple(map(self._half_widths, ids)), tuple(map(self._bias, ids)))

    def needs_rows(self, column: int) -> bool:
        """Whether values of a column are NULL in groups that may be empty."""
        whole = origins(self.compiled.plan, column) or ()
        return any(
            row_count_index(release.step.bounded.outputs[index].estimator) is not None
            for release, index in map(self._privacy.release, whole)
        )

    def _clamped(self, column: int) -> pa.Array | None:
        sources = list(map(self._by_row, self._arms(column)))
        if not any(sources):
            return None
        clamped: NDArray[np.bool_] | None = None
        for arm, source in enumerate(sources):
            if source is not None:
                release, index = source
                output = release.step.bounded.outputs[index]
                ends = clamped_values(output, self._released[release.name])
                if ends.any():  # few answers have such values
                    inside = self._inside(arm)
                    clamped = np.zeros(self._count, dtype=np.bool_) if clamped is None else clamped
                    clamped[inside] = ends[self._rows[inside]]
        return None if clamped is None or not clamped.any() else pa.array(clamped)

    def _half_widths(self, column: int) -> HalfWidth:
        arms = self._arms(column)
        by_row = [self._widths_by_row(each) for each in arms]
        privacies = [self._privacy.noisiest(each) for each in arms]
        by_arm = [None if one is None else one.half_width for one in privacies]
        if len(set(by_arm)) == 1 and all(each is None for each in by_row):
            return by_arm[0]
        widths = np.full(self._count, np.nan)
        for arm, (own, width) in enumerate(zip(by_row, by_arm, strict=True)):
            inside = self._inside(arm)
            if own is not None:
                widths[inside] = own[self._rows[inside]]
            elif width is not None:
                widths[inside] = width
        return pa.array(widths, mask=np.isnan(widths))

    def _bias(self, column: int) -> ColumnBias | None:
        """What limits leave out of a column's values, which are of another release in each arm."""
        arms = self._arms(column)
        privacies = [self._privacy.noisiest(each) for each in arms]
        by_arm = [None if one is None else one.bias for one in privacies]
        by_row = [self._key_biases(each) for each in arms]
        if len(set(by_arm)) == 1 and all(each is None for each in by_row):
            return _same_for_all(by_arm[0])
        values = np.full((3, self._count), np.nan)
        for arm, (own, bias) in enumerate(zip(by_row, by_arm, strict=True)):
            inside = self._inside(arm)
            if own is not None:
                values[:, inside] = own[:, self._rows[inside]]
            elif bias is not None:
                values[:, inside] = [[bias.expected], [bias.low], [bias.high]]
        return ColumnBias(*(pa.array(row, mask=np.isnan(row)) for row in values))

    def _arms(self, column: int) -> Arms:
        """Where the values of a column come from, in each arm of a union or in all rows."""
        known = self._arms_of.get(column)
        if known is None:
            plan, union = self.compiled.plan, self.compiled.tagged_union
            known = (origins(plan, column),) if union is None else union.origins(column)
            self._arms_of[column] = known
        return known

    def _inside(self, arm: int) -> NDArray[np.bool_]:
        """Which rows are of an arm."""
        union = self.compiled.tagged_union
        if union is None:
            return np.ones(self._count, dtype=np.bool_)
        tags = self._finished.column(f"c{union.tag.id}").to_numpy()
        return np.asarray(tags == arm)

    @cached_property
    def _rows(self) -> NDArray[np.int64]:
        """The number of the released row that each row is; an arm without numbers has none."""
        numbered = self.compiled.numbered
        if numbered is None:
            return np.zeros(self._count, dtype=np.int64)
        numbers = self._finished.column(f"c{numbered.row.id}")
        return np.asarray((numbers.fill_null(0) if numbers.null_count else numbers).to_numpy())

    def _by_row(self, arm_origins: tuple[Origin, ...] | None) -> tuple[CompiledRelease, int] | None:
        """The released column whose errors are another in each row, and which values are of."""
        if self.compiled.numbered is None or arm_origins is None or len(arm_origins) != 1:
            return None
        release, index = self._privacy.release(arm_origins[0])
        if (
            not has_value_errors(release.step.bounded.outputs[index])
            or release.opaque is not None
            or release.step.measurement.table_mechanism is not None
            or release.name in self._rolled
        ):
            return None
        return release, index

    def _widths_by_row(self, arm_origins: tuple[Origin, ...] | None) -> Floats | None:
        """The half-widths of a released column, by its row; None where all have the same."""
        source = self._by_row(arm_origins)
        if source is None:
            return None
        release, index = source
        spreads = self.compiled.consistency.without(self._rolled).spreads(release)
        table = self._released[release.name]
        return value_half_widths(release.step.bounded, index, table, spreads)

    def _key_biases(self, arm_origins: tuple[Origin, ...] | None) -> Floats | None:
        """What limits leave out of each released row, with its ends; None where all lack alike."""
        if self.compiled.numbered is None or arm_origins is None or len(arm_origins) != 1:
            return None
        release, index = self._privacy.release(arm_origins[0])
        bounded = release.step.bounded
        output = bounded.outputs[index]
        biases = release.key_biases.get(output.column.id)
        if biases is None or not isinstance(output.estimator, DividedSum):
            return None
        key = bounded.contributions.keys[output.estimator.factors.key]
        keys = self._released[release.name].column(f"c{key.column.id}").to_pylist()
        known = {value: (bias.expected, bias.low, bias.high) for value, bias in biases}
        return np.array([known.get(each, (np.nan,) * 3) for each in keys], float).reshape(-1, 3).T


def _same_for_all(bias: ExpectedBias | None) -> ColumnBias | None:
    return None if bias is None else ColumnBias(bias.expected, bias.low, bias.high)
