"""Errors of sums whose caps are chosen from one noisy ladder, beside other ways to choose them.

Of 80 runs with fixed seeds, each with new data (but for TPC-H's own), a new part and new noise: the
mean absolute error of the answer at the cap that is chosen, bias and Laplace noise together, over
the true sum. The best cap is that of hindsight over all rungs. The ladder and the threshold cost
ε = 0.5, once for all questions; the quantile is the exact one and costs nothing here.

pytest tests/benchmarks/test_ladder_error.py -m slow -s     prints the table
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pytest
from benchmarks.sum_laws import FINE, Law, sum_laws
from data import tpch
from documentation.pages import check_table
from privacy.ladder_data import (
    CAPS,
    RUNGS,
    Floats,
    errors,
    excesses,
    laplace,
    noisy_ladder,
    rung_counts,
)

from dpsql.privacy.ladder.cap_choice import best_cap
from dpsql.privacy.ladder.ladder import Ladder

RUNS = 80
MANY_RUNS = 2000
HEAD = (
    "| sum over | of | ε | best | ladder | worst | interval | threshold, once | 97.5 % rule |\n"
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
)


@dataclass(frozen=True)
class Question:
    """A sum over so many units, or all, at this ε; its median may be so many times the best."""

    part: int | None
    epsilon: float
    times: float


QUESTIONS = (
    Question(None, 1.0, 3.0),
    Question(None, 0.1, 1.5),
    Question(4000, 1.0, 1.5),
    Question(403, 1.0, 1.5),
)


@dataclass
class Errors:
    """Of all runs, relative to the true sums."""

    best: list[float] = field(default_factory=list)
    ladder: list[float] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    rule: list[float] = field(default_factory=list)
    covered: list[bool] = field(default_factory=list)

    @property
    def worst(self) -> float:
        """The most times that the best error of its run is exceeded by the ladder's."""
        return max(mine / best for mine, best in zip(self.ladder, self.best, strict=True))

    def line(self, law: str, question: Question) -> str:
        medians = [percent(np.median(each)) for each in (self.best, self.ladder)]
        others = [percent(np.median(each)) for each in (self.threshold, self.rule)]
        size = "all" if question.part is None else f"{question.part:,}"
        cells = [law, size, f"{question.epsilon:g}", *medians, f"{self.worst:.1f}×"]
        cells += [percent(np.mean(self.covered)), *others]
        return f"| {' | '.join(cells)} |\n"


def percent(part: np.floating | float) -> str:
    """To two digits at least."""
    return f"{100 * part:,.0f} %" if part >= 0.1 else f"{100 * part:.2g} %"


@pytest.fixture(scope="module")
def laws(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Law]:
    folder = tmp_path_factory.mktemp("tpch") / "data"
    tpch.generate(folder, 1)
    return sum_laws(folder)


def threshold_once(held: Floats, random: np.random.Generator) -> int:
    """The first rung above which there seems to be no unit: AboveThreshold at ε = 0.5."""
    above = held.size - np.cumsum(rung_counts(held))[1:]
    low = above + laplace(random, 4.0, CAPS.size) < 1 + laplace(random, 4.0, 1)[0]
    return int(low.argmax()) if low.any() else CAPS.size - 1


def quantile_rule(held: Floats) -> int:
    """The power of two above 97.5 % of the units' values."""
    power = 2 ** np.ceil(np.log2(np.quantile(held, 0.975)))
    return int(np.searchsorted(CAPS, power))


def ladder_of(law: str, held: Floats, random: np.random.Generator) -> Ladder:
    return noisy_ladder(held, random, step=0 if law in FINE else 1)


def ask(question: Question, held: Floats, ladder: Ladder, random: np.random.Generator) -> Errors:
    """Of one run."""
    part = held if question.part is None else random.choice(held, question.part, replace=False)
    share = Fraction(part.size, held.size)
    chosen = best_cap(ladder, share, lambda cap: float(cap) / question.epsilon, None)
    at, relative = RUNGS.index(chosen.cap) - 1, errors(part, question.epsilon) / part.sum()
    true, slack = excesses(part)[at], 1e-9 * part.sum()
    return Errors(
        best=[relative.min()],
        ladder=[relative[at]],
        threshold=[relative[threshold_once(held, random)]],
        rule=[relative[quantile_rule(held)]],
        covered=[bool(chosen.low - slack <= true <= chosen.high + slack)],
    )


@pytest.mark.slow
def test_caps_from_a_ladder_are_near_the_best_ones(
    laws: Mapping[str, Law], request: pytest.FixtureRequest
) -> None:
    results = {(law, question): Errors() for law in laws for question in QUESTIONS}
    for law, draw in laws.items():
        for seed in range(RUNS):
            random = np.random.default_rng([13, seed])
            held = draw(random)
            ladder = ladder_of(law, held, random)
            for question in QUESTIONS:
                run, all_runs = ask(question, held, ladder, random), results[law, question]
                for name, values in vars(run).items():
                    getattr(all_runs, name).extend(values)
    lines = [found.line(law, question) for (law, question), found in results.items()]
    table = "".join([HEAD, *lines])
    print("\n" + table)  # noqa: T201 - the measurement
    for (law, question), found in results.items():
        assert np.median(found.ladder) <= question.times * np.median(found.best), (law, question)
        assert found.worst <= 10, (law, question)
        assert np.mean(found.covered) >= 0.9, (law, question)
    assert np.median(results["incomes", QUESTIONS[0]].ladder) <= 0.025
    assert np.median(results["incomes", QUESTIONS[3]].ladder) <= 0.15
    check_table(request, "ladder-table", table)


@pytest.mark.slow
def test_hardly_any_cap_is_ten_times_worse_than_the_best_one(laws: Mapping[str, Law]) -> None:
    for law, draw in laws.items():
        worse = dict.fromkeys(QUESTIONS, 0)
        for seed in range(MANY_RUNS // 20):
            random = np.random.default_rng([14, seed])
            held = draw(random)
            for _ in range(20):
                ladder = ladder_of(law, held, random)
                for question in QUESTIONS:
                    run = ask(question, held, ladder, random)
                    worse[question] += run.worst > 10
        print(law, max(worse.values()), "of", MANY_RUNS)  # noqa: T201 - the measurement
        assert max(worse.values()) < MANY_RUNS / 1000, (law, worse)


def test_of_equal_values_the_one_rung_is_chosen() -> None:
    random = np.random.default_rng(15)
    held = np.full(20_000, 64.0)
    run = ask(Question(None, 1.0, 1.0), held, noisy_ladder(held, random), random)
    assert run.ladder == run.best == run.rule
    assert run.covered == [True]


def test_tables_have_a_cell_for_each_head() -> None:
    one = Errors([0.1], [0.2], [0.3], [0.4], [True])
    line = one.line("law", QUESTIONS[3])
    assert line == "| law | 403 | 1 | 10 % | 20 % | 2.0× | 100 % | 30 % | 40 % |\n"
    assert HEAD.splitlines()[0].count("|") == line.count("|")
