"""The result of each tool, as JSON values; clients get the docstrings in the JSON schema."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct, UnsetType


class TableLine(Struct, frozen=True, omit_defaults=True):
    """One table. `rows_of` tells whose rows it has; only public tables are shown exactly."""

    name: str
    rows_of: str
    is_public: bool
    columns: int
    comment: str = ""


class Tables(Struct, frozen=True):
    """Some tables of a dataset; `more` others come after them."""

    dataset: str
    tables: list[TableLine]
    more: int


class ColumnLine(Struct, frozen=True, omit_defaults=True):
    """One column with its domain as declared: bounds that values are clamped to, or all values.

    `values` has the first of `values_count`; `references` is table.column.
    """

    name: str
    type: str
    bounds: list[Any] | None = None
    values: list[Any] | None = None
    values_count: int | None = None
    nullable: bool = True
    references: str | None = None
    comment: str = ""


class UnitLimits(Struct, frozen=True):
    """What one unit adds to an answer at most; what is more is left out, which biases."""

    groups: int
    rows_per_group: int
    rows: int


class TableFacts(Struct, frozen=True, omit_defaults=True):
    """One table as its owner declares it. `limits` are there where a unit may have several rows."""

    name: str
    rows_of: str
    is_public: bool
    columns: list[ColumnLine]
    key: list[str] | None = None
    limits: UnitLimits | None = None
    comment: str = ""


class PriceLine(Struct, frozen=True):
    """What a statement costs, asked alone. `odds` is e^epsilon."""

    epsilon: float
    delta: float
    odds: float
    accounting: str


class NoiseLine(Struct, frozen=True):
    """How a column is made noisy: 95 % of its values are off by no more than `error_95`.

    None for a mean, whose error depends on the noisy count beside it; `rank_error` is of what is
    chosen by its rank, `score_error` of what is chosen by its score, `threshold_error` of what is
    compared with a threshold.
    """

    column: str
    mechanism: str
    error_95: float | None
    rank_error: float | None
    score_error: float | None
    threshold_error: float | None


class Explanation(Struct, frozen=True):
    """The price and the proof of a statement; `cost` None means that it reads nothing private.

    `allowed`: the server's limits leave room for the price; the dataset's budget may not.
    """

    cost: PriceLine | None
    allowed: bool
    noise: list[NoiseLine]
    limits: list[str]
    advice: list[str]
    text: str


class BatchPriceLine(Struct, frozen=True):
    """What a batch costs if none of it was answered before: all together, one by one, and each."""

    epsilon: float
    delta: float
    epsilon_one_by_one: float
    epsilon_of_each: list[float]
    accounting: str


class BatchExplanation(Struct, frozen=True):
    """The price of a batch, and the proofs of what is planned as one, then of the other statements.

    `allowed`, there and of all, says that the server's limits leave room for each and for all.
    """

    cost: BatchPriceLine
    allowed: bool
    parts: list[Explanation]


class Left(Struct, frozen=True):
    """One allowance in ε; None where there is no cap."""

    cap: float | None
    spent: float
    left: float | None


class Spending(Struct, frozen=True):
    """What this server allows itself, until it ends."""

    max_cost: float
    max_total: float
    spent: float
    left: float
    ask_above: float | None


class BudgetReply(Struct, frozen=True):
    """What was spent and is left: of the dataset, of this analyst, and of what the server may.

    `queries_left` is how many queries of `epsilon` all three leave room for.
    """

    analyst: str
    accounting: str
    epsilon: float
    queries_left: int
    dataset: Left
    own: Left
    server: Spending
    note: str


class ShownColumn(Struct, frozen=True):
    """A column of an answer. "n ±" is how far noise may have moved the value of "n", with 95 %.

    "n bias" is what limits leave out of "n", as expected, between "n bias low" and "n bias high".
    """

    name: str
    type: str


class Paid(Struct, frozen=True):
    """What an answer cost: `stored` means that it was given before, and is free.

    `receipt` proves the charge: the owner's `dpsql ledger verify --receipt` finds it.
    """

    epsilon: float
    delta: float
    stored: bool
    receipt: str | None
    words: str


class Answer(Struct, frozen=True):
    """Rows `offset` to `offset` + their number of `row_count`, what they cost and what is left.

    `cost` None: dpsql itself says it, nothing was asked of any table.
    """

    columns: list[ShownColumn]
    rows: list[list[Any]]
    row_count: int
    offset: int
    cost: Paid | None
    budget: BudgetReply
    notes: list[str]


class AnswerOfBatch(Struct, frozen=True):
    """The first rows of `row_count` that one statement of a batch has."""

    columns: list[ShownColumn]
    rows: list[list[Any]]
    row_count: int
    notes: list[str]


class BatchAnswer(Struct, frozen=True):
    """An answer for each statement in its order, what all of them cost, and what is left."""

    answers: list[AnswerOfBatch]
    cost: Paid
    epsilon_one_by_one: float
    budget: BudgetReply
    notes: list[str]


class Fix(Struct, frozen=True, omit_defaults=True):
    """Arguments that the same tool takes instead: `sql`, or all statements, and what changes."""

    sql: str | UnsetType = UNSET
    statements: list[str] | UnsetType = UNSET
    epsilon: float | UnsetType = UNSET
    max_error: float | UnsetType = UNSET
    max_cost: float | UnsetType = UNSET


class Fault(Struct, frozen=True, omit_defaults=True):
    """Why not, and what to do instead. `position` counts characters of the statement from 1.

    `statement` is which one of a batch, from 1.
    """

    sqlstate: str
    message: str
    detail: str = ""
    hint: str = ""
    position: int | None = None
    end: int | None = None
    fix: Fix | None = None
    statement: int | None = None


class Failed(Struct, frozen=True):
    """A tool's answer that is none."""

    error: Fault
