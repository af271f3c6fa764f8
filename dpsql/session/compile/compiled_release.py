"""One release of a statement, bounded, planned and calibrated: everything but its draw."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from dpsql.analysis.sensitivity import Sensitivity
from dpsql.engine.digest import Digest
from dpsql.physical.choose import Choice
from dpsql.physical.way import Ways
from dpsql.plan.expression import Column
from dpsql.plan.operator import Release
from dpsql.privacy.allocation.mwem_calibration import MwemParameters
from dpsql.privacy.ladder.expected_bias import ExpectedBias, KeyBiases
from dpsql.release.columns.released_table import auxiliary_statistics
from dpsql.release.job import Step
from dpsql.release.key_threshold import is_threshold_of_rows, threshold_in_units
from dpsql.release.synopsis.margin_error import MEASURED
from dpsql.session.digest.answer_identity import AnswerIdentity
from dpsql.session.explain.plan_visibility import Opaque
from dpsql.structs import not_hashed


@not_hashed("biases", "key_biases")
class CompiledRelease(msgspec.Struct, frozen=True):
    """One release of a statement: `identity` is that of its noisy answer in the release store.

    A release that reads others is drawn on their noisy rows, so their keys are part of its. `ways`
    are those that a server allows, None where there is none; `choice` is the plan without it.
    `limit_notes` tell what limits that were chosen by ladders leave out, as expected, and `biases`
    how much of which columns, by their ids; `key_biases` of which groups of columns.
    """

    release: Release
    name: str
    step: Step
    sensitivity: Sensitivity
    identity: AnswerIdentity
    choice: Choice
    opaque: Opaque | None = None
    ways: Ways | None = None
    limit_notes: tuple[str, ...] = ()
    biases: Mapping[int, ExpectedBias] = msgspec.field(default_factory=dict)
    key_biases: Mapping[int, KeyBiases] = msgspec.field(default_factory=dict)

    @property
    def key(self) -> Digest:
        """What its noisy answer is stored under."""
        return self.identity.key

    def display_name(self, column: Column) -> str:
        """What analysts are told a column of it is called."""
        return column.name if self.opaque is None else self.opaque.name(column)

    @property
    def threshold_in_units(self) -> int | None:
        """From how many units on, each in as many groups as may be, an unlisted key appears."""
        return threshold_in_units(self.step.bounded, self.step.measurement.threshold)

    @property
    def threshold_of(self) -> str:
        """What there have to be so many of: units, or rows."""
        return "rows" if is_threshold_of_rows(self.step.bounded) else "units"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of its table here; other statements that share the answer name them anew."""
        bounded = self.step.bounded
        columns = [key.column for key in bounded.contributions.keys]
        columns += [output.column for output in bounded.outputs]
        names = [f"c{column.id}" for column in columns]
        if isinstance(self.step.measurement.table_mechanism, MwemParameters):
            return (*names, MEASURED)
        return (*names, *(f"s{index}" for index in auxiliary_statistics(bounded)))
