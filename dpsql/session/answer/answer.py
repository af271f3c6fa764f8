"""What an analyst gets: a table, and what it cost."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

import pyarrow as pa
from msgspec import Struct

from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.privacy.ladder.expected_bias import ExpectedBias
from dpsql.schema.sql_type import SqlType
from dpsql.structs import not_compared, not_shown


class ColumnPrivacy(Struct, frozen=True):
    """How one released column was made: `half_width` holds with 95 % for each of its values.

    `half_width` is None for a mean, whose error depends on the noisy count beside it, and stands in
    the answer row by row: in groups of many rows it is at most `rows_error` divided by their
    number. It is None for what is chosen by its rank, too, which is off by at most `rank_error`
    rows, and for what is chosen by its score, which is off the best one by at most `score_error`;
    `scale` is then that error's. An expert that DECIDE chooses has no error: `regret` bounds what
    is lost in a round of one row, in expectation, more than by the best expert. What ALERT compares
    is off its threshold by `threshold_error` at most, the largest of its conditions. `bias` is what
    limits leave out beside that, as ladders let expect; None where none tells.
    """

    name: str
    mechanism: str
    scale: float
    half_width: float | None
    rank_error: float | None = None
    rows_error: float | None = None
    regret: float | None = None
    score_error: float | None = None
    threshold_error: float | None = None
    bias: ExpectedBias | None = None


HalfWidth: TypeAlias = float | pa.Array | None
"""Of a column's values with 95 %: the same for all, one for each, or not known."""


class ColumnBias(Struct, frozen=True):
    """What limits leave out of a column's values: the same of all, or an array with one for each.

    `low` and `high` are the ends of a 90 % interval. Where no ladder tells, arrays have NULL.
    """

    expected: HalfWidth
    low: HalfWidth
    high: HalfWidth


class ColumnErrors(Struct, frozen=True):
    """How far noise may have moved an answer's values, and what limits leave out of them.

    Each has one for each column, or is empty where nothing is known of any; of `biases` one is None
    where no ladder tells.
    """

    half_widths: tuple[HalfWidth, ...] = ()
    biases: tuple[ColumnBias | None, ...] = ()


class Cost(Struct, frozen=True, kw_only=True):
    """What an answer cost: `epsilon` for people, `loss` in the ledger's currency (None: nothing).

    What is `stored` was asked before, by this analyst or, where answers are shared, by another:
    free answers tell that. Where a value was summed from a stored answer of more groups, `summed`
    is of how many noisy cells it is, at most; their noise is in the half-widths. `is_noisy`: some
    of its values are released ones. `notes` name the default limits that may have left rows out,
    and say which totals were made to add up, and which weren't and why.
    """

    loss: PrivacyLoss | None
    epsilon: Fraction
    stored: bool
    summed: int = 0
    is_noisy: bool = True
    notes: tuple[str, ...] = ()


class Privacy(Cost, frozen=True, kw_only=True):
    """What an answer cost, and how its columns were made.

    `thresholds` are the least noisy unit counts at which unlisted keys appear. `receipt` proves the
    charge, None if there was none: the owner's `dpsql ledger verify` finds it. `shown_columns` has
    for each column of the answer how its values were made, None for keys and for what is computed
    of released values; of values of several releases, how the noisiest were.
    """

    columns: tuple[ColumnPrivacy, ...]
    thresholds: tuple[int, ...]
    receipt: str | None = None
    shown_columns: tuple[ColumnPrivacy | None, ...] = ()


class AnswerDetails(Struct, frozen=True):
    """What an answer cost; how it was made is computed for who asks for it.

    `clamped` tells for each column which of its values stand at an end of all that they can be,
    None where none does.
    """

    cost: Cost
    describe: Callable[[], Privacy]
    clamped: tuple[pa.Array | None, ...] = ()

    @property
    def privacy(self) -> Privacy:
        """What the answer cost, and how its columns were made."""
        return self.describe()


@not_shown("details", "errors")
@not_compared("details", "errors")
class Answer(Struct, frozen=True):
    """A noisy table; names and types follow from the plan alone.

    `details` and `errors` compute what is told beside it, of the plan and of what was released: who
    wants the rows alone doesn't wait for it. `keys` are those of the stored releases that it was
    made of.
    """

    table: pa.Table
    names: tuple[str, ...]
    types: tuple[SqlType, ...]
    details: Callable[[], AnswerDetails]
    errors: Callable[[], ColumnErrors]
    keys: tuple[str, ...] = ()

    @property
    def privacy(self) -> Privacy:
        """What it cost, and how its values were made."""
        return self.details().privacy

    @property
    def half_widths(self) -> tuple[HalfWidth, ...]:
        """For each column how far noise may have moved its values."""
        return self.errors().half_widths

    @property
    def biases(self) -> tuple[ColumnBias | None, ...]:
        """For each column what limits leave out of its values, None where no ladder tells."""
        return self.errors().biases
