from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dpsql.privacy.mechanisms.noise.noise import Noise


@dataclass(frozen=True, slots=True)
class Ladder:
    counts: tuple[int, ...]
    rungs: tuple[Fraction, ...]
    noise: Noise

    def top(self) -> int:
        b = math.sqrt(float(self.noise.variance) / 2)
        t = b * math.log(len(self.counts) * 1e4)
        return max((k for k, c in enumerate(self.counts) if c > t), default=1)
