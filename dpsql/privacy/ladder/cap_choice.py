from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class ChosenCap:
    cap: Fraction
    bias: float
    low: float
    high: float
    noise: float
    total: float
