"""Sums with limits that nobody declares, by dpsql and by other libraries, at the same total loss.

    PYTHONPATH=.:tests python -m benchmarks.peers.compare_sums [--seeds 7] [--runs 80]
        [--place P] [--update-docs]

Each library gets an environment of its own under P, with the versions below, in which its script
runs; DPSQL+, which no index has, is left out where its environment hasn't been made by hand. What
they are asked is in `sum_questions`, what dpsql does in `own_sums`. Data, parts and dpsql's noise
have fixed seeds, the noise of others is their own. A figure is the median of |answer - true sum|
over the true sum, of so many data sets with three answers each; a question that isn't answered
counts as one that is answered with 0. `--update-docs` writes the table into
docs/calibrated_limits.md.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.peers.own_sums import Asked, own_errors
from benchmarks.peers.peer_environments import HERE, ROOT, environment
from benchmarks.peers.sum_questions import SumQuestion, write_questions
from benchmarks.sum_laws import FINE, Law, sum_laws
from data import tpch
from documentation.pages import put
from privacy.ladder_data import Floats

TABLE: Final = "peer-sums-table"

ASKED: Final[tuple[Asked, ...]] = tuple(
    (part, epsilon) for part in (None, 4000, 403) for epsilon in (1.0, 0.1)
)
HIGHEST: Final[Mapping[str, float]] = {
    "incomes": 1e9,
    "uniform, 1 to 40": 40.0,
    "rows, log-normal": 1e3,
    "Zipf 2": 1e6,
    "Pareto 1.3": 1e6,
    "TPC-H, by customer": 2.4e7,
    "the same, Zipf 1": 6e10,
}
"""What an owner declares who hasn't looked: what can be, by what the numbers are of.

A billion for a business, a thousand visits, a million links, forty orders of 600,000 each; a
hundred thousand of them, where it is known that some customers order all day.
"""

DUCKDB: Final = "duckdb==1.5.6"
PEERS: Final[Mapping[str, tuple[str, ...]]] = {
    "google": ("python-dp==1.1.5", DUCKDB, "numpy"),
    "smartnoise": ("smartnoise-sql==1.0.10", DUCKDB, "psycopg2-binary"),
    "qrlew": ("pyqrlew==0.9.27", DUCKDB, "numpy"),
}
BY_HAND: Final = "dpsql_plus"


@dataclass(frozen=True)
class Column:
    """What stands in a column: the errors of one way of a library."""

    head: str
    library: str
    way: str


COLUMNS: Final = (
    Column("dpsql", "dpsql", "alone"),
    Column("each of ten", "dpsql", "of ten"),
    Column("GoogleSQL", "google", "implicit"),
    Column("SmartNoise", "smartnoise", "approximate"),
    Column("SmartNoise, declared", "smartnoise", "declared"),
    Column("pyqrlew, declared", "qrlew", "declared"),
    Column("DPSQL+, declared", BY_HAND, "declared"),
    Column("best cap", "dpsql", "hindsight"),
)

Errors = dict[tuple[str, int | None, float], dict[tuple[str, str], list[float]]]
"""Of each law, part and ε, and each library and way."""


def main() -> None:
    """Ask all, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=7)
    parser.add_argument("--runs", type=int, default=80)
    parser.add_argument("--place", type=Path, default=Path.home() / ".cache" / "dpsql-peers")
    parser.add_argument("--update-docs", action="store_true")
    arguments = parser.parse_args()
    found: Errors = {(law, *asked): {} for law in HIGHEST for asked in ASKED}
    with TemporaryDirectory() as name:
        folder = Path(name)
        laws = sum_laws(tpch.generate(folder / "tpch", 1))
        ask_dpsql(found, laws, arguments.runs)
        ask_others(found, laws, folder, arguments.seeds, arguments.place)
    table = sums_table(found)
    sys.stdout.write(table)
    if arguments.update_docs:
        put(TABLE, table)


def ask_dpsql(found: Errors, laws: Mapping[str, Law], runs: int) -> None:
    """Add dpsql's errors, and those in hindsight."""
    for law, draw in laws.items():
        for seed in range(runs):
            held, random = drawn(draw, seed)
            by_asked = own_errors(held, ASKED, random, step=0 if law in FINE else 1)
            for asked, by_way in by_asked.items():
                for way, errors in by_way.items():
                    found[law, *asked].setdefault(("dpsql", way), []).extend(errors)


def ask_others(
    found: Errors, laws: Mapping[str, Law], folder: Path, seeds: int, place: Path
) -> None:
    """Add the errors of every other library, about the first of dpsql's data sets."""
    questions: list[SumQuestion] = []
    true: list[tuple[tuple[str, int | None, float], float]] = []
    for seed in range(seeds):
        for law, draw in laws.items():
            held, _ = drawn(draw, seed)
            file = f"{len(questions)}.parquet"
            pq.write_table(pa.table({"id": np.arange(held.size), "v": held}), folder / file)
            for asked in ASKED:
                part, epsilon = asked
                size = held.size if part is None else part
                questions.append(SumQuestion(file, size, epsilon, HIGHEST[law]))
                true.append(((law, *asked), float(held[:size].sum())))
    write_questions(folder, questions)
    pythons = {name: environment(place / name, packages) for name, packages in PEERS.items()}
    pythons[BY_HAND] = place / BY_HAND / "bin" / "python"
    for library, python in pythons.items():
        if python.exists():
            answered = run(python, f"{library}_sums", folder)
            for (about, total), ways in zip(true, answered, strict=True):
                for way, answers in ways.items():
                    off = [abs((answer or 0.0) - total) / total for answer in answers]
                    found[about].setdefault((library, way), []).extend(off)


def drawn(draw: Law, seed: int) -> tuple[Floats, np.random.Generator]:
    """Units in a random order, of one seed, and what draws the rest of its run."""
    random = np.random.default_rng([31, seed])
    return random.permutation(draw(random)), random


def run(python: Path, script: str, folder: Path) -> list[dict[str, list[Any]]]:
    """What a script answers, question by question, by each way of its library."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    command = [str(python), str(HERE / f"{script}.py"), str(folder)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environ)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def sums_table(found: Errors) -> str:
    """Medians of the errors, in Markdown; a column without any is left out."""
    asked = {key for each in found.values() for key in each}
    columns = [column for column in COLUMNS if (column.library, column.way) in asked]
    heads = ["sum over", "declared", "of", "ε", *(column.head for column in columns)]
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)]]
    for (law, part, epsilon), each in found.items():
        medians = [statistics.median(each[column.library, column.way]) for column in columns]
        size = "all" if part is None else f"{part:,}"
        lines.append([law, declared(law), size, f"{epsilon:g}", *map(percent, medians)])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def declared(law: str) -> str:
    """The declared bound as people write it."""
    highest = HIGHEST[law]
    exponent = len(f"{highest:.0f}") - 1
    if exponent < 4:
        return f"{highest:,.0f}"
    digits = "⁰¹²³⁴⁵⁶⁷⁸⁹"
    power = f"10{''.join(digits[int(digit)] for digit in str(exponent))}"
    factor = highest / 10**exponent
    return power if factor == 1 else f"{factor:g}·{power}"


def percent(part: float) -> str:
    """To two digits at least, and no more than say something."""
    if part >= 10:
        return "> 1,000 %"
    return f"{100 * part:,.0f} %" if part >= 0.1 else f"{100 * part:.2g} %"


if __name__ == "__main__":
    main()
