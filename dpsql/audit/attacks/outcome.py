"""How often an attack was right, and how often its loss allows that.

A guess without data is right in half of the trials, and (ε, δ)-differential privacy lets no attack
be right in more than (e^ε + δ)/(1 + e^ε) of them on average, whatever it asks (Kairouz, Oh &
Viswanath 2015), where ε is the total loss of its queries.
"""

from __future__ import annotations

import math
from fractions import Fraction

from msgspec import Struct

from dpsql.audit.attacks.targets import DELTA


class Outcome(Struct, frozen=True):
    """In how many of `trials` an attack was right: `plain` against DuckDB, `private` against dpsql.

    `epsilon` is the total loss of a trial.
    """

    name: str
    description: str
    trials: int
    plain: int
    private: int
    epsilon: Fraction

    @property
    def max_right(self) -> float:
        """The largest success rate that the loss allows."""
        return max_right(self.epsilon)

    @property
    def slack(self) -> float:
        """Four standard errors of the success rate, which chance exceeds once in 30,000 times."""
        return 4 * math.sqrt(self.max_right * (1 - self.max_right) / self.trials)

    @property
    def is_broken(self) -> bool:
        """Whether dpsql gave away more than the loss allows."""
        return self.private / self.trials > self.max_right + self.slack


def max_right(epsilon: Fraction) -> float:
    """The largest success rate, of 0 to 1, that a loss of ε and `DELTA` allows."""
    odds = math.exp(float(epsilon))
    return (odds + float(DELTA)) / (1 + odds)
