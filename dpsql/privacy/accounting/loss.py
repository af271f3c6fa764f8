"""Privacy loss: what a measurement costs, in the accounting of its ledger."""

from __future__ import annotations

from enum import Enum
from fractions import Fraction

from msgspec import Struct


class Accounting(Enum):
    """The rule by which losses add up; each is a valid filter for adaptive analysts.

    PURE: Σε. APPROX: Σε and Σδ (Rogers, Roth, Ullman, Vadhan 2016). ZCDP: Σρ and Σδ of
    δ-approximate zCDP (Bun & Steinke 2016; filter: Feldman & Zrnic 2021, Whitehouse et al. 2023).
    GDP: Σμ² and Σδ of δ-approximate Gaussian DP (Dong, Roth & Su 2022; filter: Koskela, Tobaben &
    Honkela 2023, Smith & Thakurta 2022; docs/ledger.md has the proof).
    """

    PURE = "pure"
    APPROX = "approx"
    ZCDP = "zcdp"
    GDP = "gdp"


class PrivacyLoss(Struct, frozen=True, cache_hash=True):
    """An exact loss: `amount` is ε under PURE and APPROX, ρ under ZCDP, μ² under GDP.

    `delta` adds up, too: it is always 0 under PURE, the query's δ under APPROX, and under ZCDP and
    GDP only the δ of partition selection (the δ at which ρ or μ is converted is the ledger's own).
    Raises ValueError for a negative amount, a δ outside [0, 1), and a δ under PURE.
    """

    accounting: Accounting
    amount: Fraction
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        # Losses are made all the time, and fractions compare many times as slowly as their parts.
        delta = self.delta
        if self.amount.numerator < 0 or not 0 <= delta.numerator < delta.denominator:
            raise ValueError("a loss is at least 0, and its delta below 1")
        if self.accounting is Accounting.PURE and self.delta:
            raise ValueError("a pure loss has no delta")

    def __add__(self, other: PrivacyLoss) -> PrivacyLoss:
        if self.accounting is not other.accounting:
            raise ValueError("losses of different accountings don't add up")
        return PrivacyLoss(self.accounting, self.amount + other.amount, self.delta + other.delta)

    def divided(self, parts: int) -> PrivacyLoss:
        """The loss of each of `parts` measurements that lose this one together."""
        return PrivacyLoss(self.accounting, self.amount / parts, self.delta / parts)
