"""How far noise moved each value of an answer, and which values it put at the end of their range.

Sums have one error each, by the law of the noise. Where rows are of several releases, or a column
is one of means, the error is another in each row: that of the released row that it is from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
from msgspec import Struct

from dpsql.plan.bounded_release.estimator import DividedSum, row_count_index
from dpsql.privacy.ladder.expected_bias import ExpectedBias
from dpsql.release.columns.value_errors import Floats, ValueErrors, has_value_errors, value_errors
from dpsql.session.answer.answer import ColumnBias, ColumnPrivacy, HalfWidth
from dpsql.session.answer.column_errors import PrivacyReader, Rolled
from dpsql.session.compile.column_provenance import Origin, origins
from dpsql.session.compile.compiled import CompiledStatement


class RowErrors(Struct, frozen=True):
    """For each column of an answer the half-widths of its values, and which of them are clamped.

    `clamped` is None for columns that have no such value, and `biases` where no ladder tells what
    limits leave out.
    """

    half_widths: tuple[HalfWidth, ...]
    clamped: tuple[pa.Array | None, ...]
    biases: tuple[ColumnBias | None, ...]


def row_errors(
    compiled: CompiledStatement,
    privacy: PrivacyReader,
    shown: Sequence[ColumnPrivacy | None],
    finished: pa.Table,
    released: Mapping[str, pa.Table],
    rolled: Rolled,
) -> RowErrors:
    """The 95 % half-widths of an answer's values, whose rows are `finished`, made of `released`.

    `privacy` tells how they were made, and `shown` how the answer's columns are shown.
    """
    widths: list[HalfWidth] = [None if one is None else one.half_width for one in shown]
    clamped: list[pa.Array | None] = [None] * len(shown)
    biases = [None if one is None else _same_for_all(one.bias) for one in shown]
    if compiled.tagged_union is None and compiled.numbered is None:
        return RowErrors(tuple(widths), tuple(clamped), tuple(biases))
    reader = _ErrorReader(compiled, privacy, finished, released, rolled)
    for index, column in enumerate(compiled.statement.columns):
        widths[index], clamped[index] = reader.errors(column.id)
        biases[index] = reader.bias(column.id)
    return RowErrors(tuple(widths), tuple(clamped), tuple(biases))


def _same_for_all(bias: ExpectedBias | None) -> ColumnBias | None:
    return None if bias is None else ColumnBias(bias.expected, bias.low, bias.high)


def error_notes(
    compiled: CompiledStatement, privacy: PrivacyReader, errors: RowErrors, rows: pa.Table
) -> Iterator[str]:
    """What is to be said of columns whose values noise decided: which these are, and how many."""
    columns = compiled.statement.columns
    for name, column, clamped, values in zip(
        compiled.statement.names, columns, errors.clamped, rows.columns, strict=True
    ):
        if clamped is not None:
            yield (
                f"{name}: {sum(clamped.to_pylist())} of {len(values)} stand at an end of all that"
                " they can be, where noise has put them"
            )
        if values.null_count and _needs_rows(compiled, privacy, column.id):
            yield (
                f"{name}: {values.null_count} of {len(values)} are NULL, since their groups may be"
                " empty, as far as noise tells"
            )


def _needs_rows(compiled: CompiledStatement, privacy: PrivacyReader, column: int) -> bool:
    """Whether values of a column are NULL in groups that may be empty."""
    released = (privacy.release(origin) for origin in origins(compiled.plan, column) or ())
    return any(
        row_count_index(release.step.bounded.outputs[index].estimator) is not None
        for release, index in released
    )


class _ErrorReader:
    """Finds the error of each value of an answer's columns."""

    def __init__(
        self,
        compiled: CompiledStatement,
        privacy: PrivacyReader,
        finished: pa.Table,
        released: Mapping[str, pa.Table],
        rolled: Rolled,
    ) -> None:
        self._compiled = compiled
        self._released = released
        self._rolled = rolled
        self._count = finished.num_rows
        self._privacy = privacy
        union, numbered = compiled.tagged_union, compiled.numbered
        self._arms = np.zeros(self._count, dtype=np.int64)
        if union is not None:
            self._arms = finished.column(f"c{union.tag.id}").to_numpy()
        # An arm without numbers has no released rows.
        self._rows = np.zeros(self._count, dtype=np.int64)
        if numbered is not None:
            self._rows = finished.column(f"c{numbered.row.id}").fill_null(0).to_numpy()

    def errors(self, column: int) -> tuple[HalfWidth, pa.Array | None]:
        """The half-widths of a column's values, and which are clamped; None if none is.

        What they are is known of the statement: one for all rows, one for each, or none.
        """
        union = self._compiled.tagged_union
        arms = (origins(self._compiled.plan, column),) if union is None else union.origins(column)
        by_row = [self._of_rows(each) for each in arms]
        privacies = [self._privacy.noisiest(each) for each in arms]
        by_arm = [None if one is None else one.half_width for one in privacies]
        if len(set(by_arm)) == 1 and not any(by_row):
            return by_arm[0], None
        widths = np.full(self._count, np.nan)
        clamped = np.zeros(self._count, dtype=np.bool_)
        for arm, (own, width) in enumerate(zip(by_row, by_arm, strict=True)):
            inside = self._arms == arm
            if own is not None:
                rows = self._rows[inside]
                widths[inside], clamped[inside] = own.half_widths[rows], own.clamped[rows]
            elif width is not None:
                widths[inside] = width
        return (
            pa.array(widths, mask=np.isnan(widths)),
            pa.array(clamped) if clamped.any() else None,
        )

    def bias(self, column: int) -> ColumnBias | None:
        """What limits leave out of a column's values, which are of another release in each arm."""
        union = self._compiled.tagged_union
        arms = (origins(self._compiled.plan, column),) if union is None else union.origins(column)
        privacies = [self._privacy.noisiest(each) for each in arms]
        by_arm = [None if one is None else one.bias for one in privacies]
        by_row = [self._key_biases(each) for each in arms]
        if len(set(by_arm)) == 1 and all(each is None for each in by_row):
            return _same_for_all(by_arm[0])
        values = np.full((3, self._count), np.nan)
        for arm, (own, bias) in enumerate(zip(by_row, by_arm, strict=True)):
            inside = self._arms == arm
            if own is not None:
                values[:, inside] = own[:, self._rows[inside]]
            elif bias is not None:
                values[:, inside] = [[bias.expected], [bias.low], [bias.high]]
        return ColumnBias(*(pa.array(row, mask=np.isnan(row)) for row in values))

    def _key_biases(self, arm_origins: tuple[Origin, ...] | None) -> Floats | None:
        """What limits leave out of each released row, with its ends; None where all lack alike."""
        if self._compiled.numbered is None or arm_origins is None or len(arm_origins) != 1:
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

    def _of_rows(self, arm_origins: tuple[Origin, ...] | None) -> ValueErrors | None:
        """The errors of a released column of means, by the released row; None for another."""
        if self._compiled.numbered is None or arm_origins is None or len(arm_origins) != 1:
            return None
        release, index = self._privacy.release(arm_origins[0])
        bounded = release.step.bounded
        if (
            not has_value_errors(bounded.outputs[index])
            or release.opaque is not None
            or release.step.measurement.table_mechanism is not None
            or release.name in self._rolled
        ):
            return None
        spreads = self._compiled.consistency.without(self._rolled).spreads(release)
        return value_errors(bounded, index, self._released[release.name], spreads)
