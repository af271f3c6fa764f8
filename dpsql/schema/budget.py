"""What may be spent: by all statements on a dataset, and by one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpsql.privacy.accounting.loss import Accounting


@dataclass(frozen=True, slots=True)
class Budget:
    """What all analysts together may spend on the dataset, or on one period of it, ever.

    `epsilon` and `delta` are meant in every accounting; the ρ of zcdp is derived from them.
    """

    epsilon: Fraction
    delta: Fraction
    accounting: Accounting


@dataclass(frozen=True, slots=True)
class PerQuery:
    """The ε and δ that one query spends by default, and the largest ε that it may ask for.

    Where `is_delta_shared`, a query's δ is as large a part of the budget's as its loss is, so that
    δ lasts as long as ε does; it is at most `delta`.
    """

    epsilon: Fraction
    max_epsilon: Fraction
    delta: Fraction
    is_delta_shared: bool = False
