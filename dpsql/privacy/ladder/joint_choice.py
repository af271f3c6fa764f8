from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpsql.privacy.ladder.cap_choice import ChosenCap
from dpsql.privacy.ladder.ladder import Ladder


@dataclass(frozen=True, slots=True)
class Measured:
    pairs: Ladder
    share: Fraction
    noise_of: Callable[[int, Fraction], float]
    highest: Fraction | None


@dataclass(frozen=True, slots=True)
class ChosenLimits:
    groups: int
    lost: float
    caps: tuple[ChosenCap, ...]


def _mid(l, k):
    return float(l.rungs[k] + (l.rungs[k - 1] if k else 0)) / 2


def best_limits(
    groups: Ladder, measured: Sequence[Measured], highest_groups: int | None
) -> ChosenLimits:
    top = groups.top()
    best = None
    tot = sum(max(0, groups.counts[k]) * _mid(groups, k) for k in range(top + 1)) or 1
    for gk in range(1, top + 1):
        g = int(groups.rungs[gk])
        if highest_groups is not None:
            g = min(g, highest_groups)
        lost = (
            sum(max(0, groups.counts[k]) * max(0, _mid(groups, k) - g) for k in range(top + 1))
            / tot
        )
        caps = []
        err = 0
        for m in measured:
            l = m.pairs
            t = l.top()
            total = sum(max(0, l.counts[k]) * _mid(l, k) for k in range(t + 1)) * float(m.share)
            bc = None
            for k in range(1, t + 1):
                c = l.rungs[k]
                if m.highest is not None:
                    c = min(c, m.highest)
                cut = sum(
                    max(0, l.counts[j]) * max(0, _mid(l, j) - float(c)) for j in range(t + 1)
                ) * float(m.share)
                bias = total * lost + cut
                nz = m.noise_of(g, c)
                e = bias + nz
                if bc is None or e < bc[0]:
                    bc = (e, ChosenCap(c, bias, bias * 0.8, bias * 1.2, nz, total))
            caps.append(bc[1])
            err += bc[0] / (total or 1)
        if best is None or err < best[0]:
            best = (err, ChosenLimits(g, lost, tuple(caps)))
    return best[1]
