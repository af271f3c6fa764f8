"""What EXPLAIN PRIVACY says, as data: the proof and the price of a statement."""

from __future__ import annotations

from msgspec import Struct

from dpsql.session.answer.answer import ColumnPrivacy


class OperatorLine(Struct, frozen=True):
    """One operator of a plan, `depth` below its root, with what one unit changes in its rows.

    `distance` is "released" or "public" where nothing of a unit is left to be protected.
    """

    depth: int
    operator: str
    distance: str


class SensitivityLine(Struct, frozen=True):
    """What one unit changes of a statistic, and the bounds of columns that it follows from."""

    claim: str
    origins: tuple[str, ...] = ()


class ColumnChange(Struct, frozen=True):
    """How far neighbours are apart in a column's value of one group, before noise.

    None where the data decide it, or where nothing is summed: noise is then added to what it is
    computed from.
    """

    column: str
    change: float | None


class StrategyLine(Struct, frozen=True):
    """A way to the release's integers, and how many passes over its rows it is taken to cost.

    One pass is what it takes to read the rows and sum them by group without any limit.
    """

    name: str
    passes: float


class ReleaseReport(Struct, frozen=True):
    """One release: its operators, limits, sensitivities, noise, and the SQL that the engine runs.

    `threshold` is the least noisy number of units, or of rows, with which an unlisted key appears,
    and `threshold_of` says of which; `sql` is empty where it would name hidden tables. Of the
    `strategies` that apply the first, which is the cheapest, is run; all give the same integers.
    """

    name: str
    operators: tuple[OperatorLine, ...]
    limits: tuple[str, ...]
    sensitivities: tuple[SensitivityLine, ...]
    noise: tuple[ColumnPrivacy, ...]
    threshold: int | None
    sql: str
    changes: tuple[ColumnChange, ...] = ()
    strategies: tuple[StrategyLine, ...] = ()
    threshold_of: str = "units"


class Price(Struct, frozen=True):
    """What a statement costs in its ledger: asked alone, it is (epsilon, delta)-private.

    `rho` is what a zcdp ledger adds up, and `mu` what a gdp ledger adds the squares of; None in
    others. `selection_delta` is spent on keys. `odds` is e^epsilon: no conclusion about one unit
    becomes more than `odds` times likelier, or less.
    `said` is the ε of randomised answers that are shown without noise, in `odds` and in no ledger.
    Where answers are of a sample, `of_all` is what all units lose of `epsilon`, and `odds` are its.
    """

    epsilon: float
    delta: float
    rho: float | None
    selection_delta: float
    accounting: str
    neighbors: str
    odds: float
    said: float = 0.0
    of_all: float | None = None
    mu: float | None = None


class PrivacyReport(Struct, frozen=True):
    """A statement, its releases and its price; `price` is None where nothing private is read.

    `advice` says what would make it cheaper, or its noise smaller. `finish` is the SQL that makes
    the answer of what was released. `totals` say what is made to add up, and what isn't and why;
    `notes` what is free, or planned as one, which values are shown within what there can be, and
    how large an answer may be, where the schema says it.
    """

    operators: tuple[OperatorLine, ...]
    releases: tuple[ReleaseReport, ...]
    finish: str
    price: Price | None
    advice: tuple[str, ...]
    totals: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
