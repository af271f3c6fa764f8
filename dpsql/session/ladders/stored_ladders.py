"""The ladders of one CALIBRATE, as the ledger keeps them: noisy counts, public from then on.

What is kept beside the counts says what they are of: the table, and digests of its keys and of its
measure, by which a query's are known whatever they are called in it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, assert_never

import pyarrow as pa
from msgspec import Struct

from dpsql.bind.statements.calibrate import Rungs
from dpsql.engine.digest import Digest
from dpsql.errors import InternalError
from dpsql.privacy.ladder.ladder import Ladder
from dpsql.privacy.mechanisms.noise.correlated import CorrelatedNoise
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.k_norm import KNormNoise
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.noise.noise import IndependentNoise, Noise
from dpsql.privacy.mechanisms.noise.rounded import RoundedNoise
from dpsql.privacy.mechanisms.noise.rounded_gaussian import RoundedGaussian
from dpsql.privacy.mechanisms.one_direction import OneDirectionNoise
from dpsql.schema.sql_type import BIGINT, Double, SqlType, Varchar

GROUPS: Final = "groups of a unit"
ROWS: Final = "rows of a unit in a group"
SUMS: Final = "sums of a unit in a group"
SHARES: Final = "units in a group"
KEYS: Final = "groups"
"""The parts of the ladders' table, as it names them."""

COLUMNS: Final[Mapping[str, SqlType]] = {
    "part": Varchar(),
    "up_to": Double(),
    "key": Varchar(),
    "count": BIGINT,
}
"""Its table: a ladder's rung holds what is more than the rung before it has, `up_to` its own."""


class LadderForm(Struct, frozen=True):
    """What a ladder's counts are read by: its rungs, and the noise of each count."""

    rungs: Rungs
    noise: IndependentNoise

    def ladder(self, counts: Sequence[int], *, whole: bool = True) -> Ladder:
        """The ladder of these counts, one of each rung.

        `whole`: numbers are counted. Between 1 and √2 there is none of them, and a rung that holds
        nothing is left out.
        """
        merged: dict[Fraction, int] = {}
        for end, count in zip(self.rungs.ends, counts, strict=True):
            if not whole or Fraction(end // 1) not in merged:
                merged[Fraction(end // 1) if whole else end] = count
        step = Fraction(1 if whole else 0)
        return Ladder(tuple(merged.values()), tuple(merged), self.noise, step)


class LadderMetadata(Struct, frozen=True):
    """What the ladders of one CALIBRATE are of.

    Of `keys` a unit may have several values, of `known` it has one, by digests.
    `measure` is the digest of what is summed, None where rows are counted. There are `lower_groups`
    at least and `upper_groups` at most, as far as noise tells. `unit_deviation` is that of the
    noise of the units in a group. `forms` has what ladders are read by, by their part.
    """

    table: str
    keys: tuple[Digest, ...]
    known: tuple[Digest, ...]
    measure: Digest | None
    lower_groups: int
    upper_groups: int
    unit_deviation: int
    forms: Mapping[str, LadderForm]


class StoredLadders(Struct, frozen=True):
    """The ladders that an `entry` of the ledger gave a `name`; `is_old`: of other data than now.

    `ladders` are by their part. `group_units` has the noisy number of units in each group that was
    listed, by its key as JSON.
    """

    entry: int
    name: str
    about: LadderMetadata
    ladders: Mapping[str, Ladder]
    group_units: Mapping[str, int]
    is_old: bool = False

    @classmethod
    def of(cls, entry: int, name: str, about: LadderMetadata, table: pa.Table) -> StoredLadders:
        """The ladders that `table` has, which the ledger keeps."""
        counts: dict[str, list[int]] = {part: [] for part in about.forms}
        units: dict[str, int] = {}
        for row in table.to_pylist():
            if row["part"] in counts:
                counts[row["part"]].append(row["count"])
            elif row["part"] == SHARES:
                units[row["key"]] = row["count"]
        ladders = {
            part: form.ladder(counts[part], whole=part != SUMS)
            for part, form in about.forms.items()
        }
        return cls(entry, name, about, ladders, units)

    @property
    def stands_out(self) -> bool:
        """Each ladder has a rung that is no noise: of few units at a small ε none has."""
        return all(ladder.top() > 0 for ladder in self.ladders.values())


def encode_ladders(about: LadderMetadata) -> dict[str, Any]:
    """`about` as JSON has it."""
    return {
        "table": about.table,
        "keys": list(about.keys),
        "known": list(about.known),
        "measure": about.measure,
        "lower_groups": about.lower_groups,
        "upper_groups": about.upper_groups,
        "unit_deviation": about.unit_deviation,
        "forms": {
            part: [form.rungs.offset, form.rungs.last, *_encoded_noise(form.noise)]
            for part, form in about.forms.items()
        },
    }


def decode_ladders(data: Mapping[str, Any]) -> LadderMetadata:
    """What `encode_ladders` wrote."""
    forms = {
        part: LadderForm(Rungs(offset, last), _noise(mechanism, Fraction(parameter)))
        for part, (offset, last, mechanism, parameter) in data["forms"].items()
    }
    return LadderMetadata(
        data["table"],
        tuple(data["keys"]),
        tuple(data["known"]),
        data["measure"],
        data["lower_groups"],
        # Some were kept without these two.
        data.get("upper_groups", data["lower_groups"]),
        data.get("unit_deviation", 0),
        forms,
    )


def _encoded_noise(noise: IndependentNoise) -> tuple[str, str]:
    match noise:
        case DiscreteLaplace(scale=scale):
            return noise.name, str(scale)
        case DiscreteGaussian(variance=variance) | RoundedGaussian(normal_variance=variance):
            return noise.name, str(variance)
        case missing:
            assert_never(missing)


def _noise(mechanism: str, parameter: Fraction) -> IndependentNoise:
    match mechanism:
        case "laplace":
            return DiscreteLaplace(parameter)
        case "rounded gaussian":
            return RoundedGaussian(parameter)
        case "gaussian":
            return DiscreteGaussian(parameter)
        case _:
            raise InternalError(f"ladders have no noise that is called {mechanism}")


def independent_noise(noise: Noise) -> IndependentNoise:
    """The noise of one count, known by its own law; of what is drawn jointly, one as far off."""
    match noise:
        case DiscreteLaplace() | DiscreteGaussian() | RoundedGaussian():
            return noise
        case KNormNoise(variance=variance) | OneDirectionNoise(variance=variance):
            return DiscreteLaplace(Fraction(1 + int(64 * math.sqrt(variance / 2)), 64))
        case CorrelatedNoise(variance=variance):
            return DiscreteGaussian(Fraction(1 + int(64 * variance), 64))
        case RoundedNoise():
            raise InternalError("a ladder counts parts of units")
        case missing:
            assert_never(missing)
