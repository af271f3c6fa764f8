"""What an analyst gets: a table, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import pyarrow as pa

from dpsql.privacy.loss import PrivacyLoss
from dpsql.schema.type import SqlType


@dataclass(frozen=True, slots=True)
class ColumnPrivacy:
    """How one released column was made: `half_width` holds with 95 % for each of its values.

    `half_width` is None for a mean, whose error depends on the noisy count beside it, and for what
    is chosen by its rank, which is off by at most `rank_error` rows; `scale` is then that error's.
    """

    name: str
    mechanism: str
    scale: float
    half_width: float | None
    rank_error: float | None = None


@dataclass(frozen=True, slots=True)
class Privacy:
    """What an answer cost: `epsilon` for people, `loss` in the ledger's currency (None: nothing).

    `thresholds` are the least noisy unit counts at which unlisted keys appear. `receipt` proves the
    charge, None if there was none: the owner's `dpsql ledger verify` finds it.
    `shown` has for each column of the answer how its values were made, None for keys and for what
    is computed of released values. Where a value was summed from a stored answer of more groups,
    `summed` is of how many noisy cells it is, at most; their noise is in the half-widths.
    """

    loss: PrivacyLoss | None
    epsilon: Fraction
    columns: tuple[ColumnPrivacy, ...]
    thresholds: tuple[int, ...]
    stored: bool
    receipt: str | None = None
    shown: tuple[ColumnPrivacy | None, ...] = ()
    summed: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """A noisy table; names and types follow from the plan alone."""

    table: pa.Table
    names: tuple[str, ...]
    types: tuple[SqlType, ...]
    privacy: Privacy
