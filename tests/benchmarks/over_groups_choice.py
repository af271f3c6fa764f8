"""Errors of limits that ladders choose, of units that are drawn, scaled, or what ladders choose.

Each question has ladders of ε = 0.5, of its units' groups and of their rows in each, drawn anew in
each of some runs; then it is asked at (1, 10^-6)-DP with Gaussian noise, with limits that they
choose for drawn units alone, for scaled ones alone, and for the better of both. An error is that of
`benchmarks.over_groups`, in percent of the mean truth: medians of runs. Seeds are fixed.

python -m benchmarks.over_groups_choice FOLDER     FOLDER has TPC-H, of scale 0.1
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import Final

import numpy as np
from benchmarks.over_groups import SIGMA, Floats, Limits, Question, of_tpch, of_zipf

from dpsql.privacy.ladder.joint_choice import Measured, Ways, best_limits
from dpsql.privacy.ladder.ladder import Ladder
from dpsql.privacy.ladder.rungs import half_octaves
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.over_groups import OverGroups

RUNS: Final = 9
RUNGS: Final = half_octaves(Fraction(1), 24)
WAYS: Final = {
    "drawn": (OverGroups.SAMPLE,),
    "scaled": (OverGroups.SCALE,),
    "chosen": (OverGroups.SAMPLE, OverGroups.SCALE),
}


def ladder(values: Floats, scale: int, random: np.random.Generator) -> Ladder:
    """The ladder of `values`, with Laplace noise of this scale."""
    rungs = [float(rung) for rung in RUNGS]
    places = np.minimum(np.searchsorted(rungs, values), len(rungs) - 1)
    counts = np.bincount(places, minlength=len(rungs)).astype(np.float64)
    noisy = np.rint(counts + random.laplace(0, scale, counts.size)).astype(int).tolist()
    return Ladder(tuple(noisy), RUNGS, DiscreteLaplace(Fraction(scale)), Fraction(1))


def noise_of(groups: int, cap: Fraction) -> float:
    """The mean of Gaussian noise, in rows."""
    return math.sqrt(2 / math.pi) * SIGMA * math.sqrt(groups) * float(cap)


def table(questions: Iterable[Question], say: Callable[[str], None]) -> None:
    """A row for each question: the median error in each way, and how often units were scaled."""
    say("| question | drawn | scaled | chosen | scaled in | gain |")
    say("| --- | ---: | ---: | ---: | ---: | ---: |")
    for asked in questions:
        numbers = np.diff(np.r_[asked.starts, asked.unit.size]).astype(np.float64)
        share = Fraction(1, int(asked.group.max()) + 1)
        errors: dict[str, list[float]] = {name: [] for name in WAYS}
        scaled = 0
        for run in range(RUNS):
            random = np.random.default_rng([31, run])
            of_groups = ladder(numbers, 8, random)
            top = int(of_groups.rungs[of_groups.top()])
            pairs = ladder(asked.rows, 3 * top, random)
            measured = [Measured(pairs, share, noise_of, None)]
            for name, allowed in WAYS.items():
                best = best_limits(of_groups, measured, int(1 / share), Ways(allowed))
                way = "L2" if best.over_groups is OverGroups.SCALE else "sample"
                limits = Limits(best.groups, int(best.caps[0].cap))
                errors[name].append(asked.error(way, limits, gaussian=True)[0])
                scaled += name == "chosen" and way == "L2"
        medians = {name: float(np.median(each)) for name, each in errors.items()}
        cells = [f"{100 * median:.3g} %" for median in medians.values()]
        gain = 1 - medians["chosen"] / medians["drawn"]
        cells += [f"{scaled} of {RUNS}", f"{100 * gain:.0f} %"]
        say(f"| {asked.name} | {' | '.join(cells)} |")


def main() -> None:
    """Print the table."""
    questions = [*of_tpch(Path(sys.argv[1])), of_zipf(1.5, 30_000), of_zipf(2, 30_000)]
    table(questions, lambda line: print(line, flush=True))  # noqa: T201 - the measurement


if __name__ == "__main__":
    main()
