"""What may be spent: by all statements on a dataset, and by one."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from msgspec import Struct

from dpsql.engine.read_limit import LARGEST_ANSWER, AnswerLimit
from dpsql.privacy.accounting.loss import Accounting
from dpsql.privacy.subsampling import PoissonSampling
from dpsql.structs import not_compared, not_shown

GDP_SELECTION: Final = Fraction(1, 10)
"""The part of a gdp budget's δ that keys are chosen by; the rest turns μ² into ε."""


class Budget(Struct, frozen=True, cache_hash=True):
    """What all analysts together may spend on the dataset, or on one period of it, ever.

    `epsilon` and `delta` are meant in every accounting; the ρ of zcdp and the μ² of
    gdp are derived from them. Where
    answers are of a secret sample, they are what may be spent on it, as every other amount is, and
    `sample` has what that is worth to all units. `calibrators` are the analysts who may spend it on
    ladders; None: all.
    """

    epsilon: Fraction
    delta: Fraction
    accounting: Accounting
    sample: Sample | None = None
    calibrators: tuple[str, ...] | None = None


@not_shown("key")
@not_compared("key")
class Sample(Struct, frozen=True):
    """The units that answers are of, and the `epsilon` and `delta` that are promised to all units.

    The sample is fixed for as long as its ledger is: `key` is the secret that decides it, "" where
    no private row is to be read.
    """

    law: PoissonSampling
    epsilon: Fraction
    delta: Fraction
    key: str = ""


class PerQuery(Struct, frozen=True, cache_hash=True):
    """The ε and δ that one query spends by default, and the largest ε that it may ask for.

    Where `is_delta_shared`, a query's δ is as large a part of the budget's as its loss is, so that
    δ lasts as long as ε does; it is at most `delta`. No answer is larger than `largest`.
    """

    epsilon: Fraction
    max_epsilon: Fraction
    delta: Fraction
    is_delta_shared: bool = False
    largest: AnswerLimit = LARGEST_ANSWER
