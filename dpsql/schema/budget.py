"""What may be spent: by all statements on a dataset, and by one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpsql.privacy.accounting.loss import Accounting


@dataclass(frozen=True, slots=True)
class Budget:
    """What all analysts together may spend on the dataset, ever."""

    epsilon: Fraction
    delta: Fraction
    accounting: Accounting


@dataclass(frozen=True, slots=True)
class PerQuery:
    """What one query spends if nothing is said, and the most it may ask for."""

    epsilon: Fraction
    max_epsilon: Fraction
    delta: Fraction
