"""Counts and sums by group with limits that nobody declares, beside other libraries.

    PYTHONPATH=.:tests python -m benchmarks.peers.compare_groups [--place P] [--update-docs]

As in `compare_sums`; the tables are in `group_tables`, what dpsql does in `own_groups`. Each
question costs (1, 10^-6) in all. A figure is the median over groups and answers of |answer - truth|
over the truth; a group that doesn't appear is wholly wrong.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.peers.compare_sums import BY_HAND, PEERS, percent, run
from benchmarks.peers.group_questions import Answer, write_questions
from benchmarks.peers.group_tables import (
    FLIGHTS,
    QUESTIONS,
    flights_file,
    make_tables,
    relative_errors,
    true_answer,
)
from benchmarks.peers.own_groups import own_answers
from benchmarks.peers.peer_environments import environment
from data import tpch
from documentation.pages import put

TABLE: Final = "peer-groups-table"
HEADS: Final[Mapping[str, str]] = {
    "dpsql": "dpsql",
    "google": "GoogleSQL",
    "smartnoise": "SmartNoise, declared",
    "qrlew": "pyqrlew, declared",
    BY_HAND: "DPSQL+, declared",
}

Answers = Mapping[str, Sequence[Sequence[Answer]]]
"""Of each library, question by question."""


def main() -> None:
    """Ask all, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--place", type=Path, default=Path.home() / ".cache" / "dpsql-peers")
    parser.add_argument("--update-docs", action="store_true")
    arguments = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        flights = flights_file(environment(arguments.place / "flights", FLIGHTS), folder)
        make_tables(folder, tpch.generate(folder / "tpch", 1), flights)
        answers: dict[str, list[list[Answer]]] = {
            "dpsql": [own_answers(folder, question) for question in QUESTIONS],
            **others(folder, arguments.place),
        }
        true = [true_answer(folder, question) for question in QUESTIONS]
    table = groups_table(answers, true)
    sys.stdout.write(table)
    if arguments.update_docs:
        put(TABLE, table)


def others(folder: Path, place: Path) -> dict[str, list[list[Answer]]]:
    """What every other library answers, that has an environment."""
    write_questions(folder, QUESTIONS)
    pythons = {name: environment(place / name, packages) for name, packages in PEERS.items()}
    pythons[BY_HAND] = place / BY_HAND / "bin" / "python"
    found = {}
    for library, python in pythons.items():
        if python.exists():
            by_question = run(python, f"{library}_groups", folder)
            found[library] = [answers for (answers,) in map(dict.values, by_question)]
    return found


def groups_table(answers: Answers, true: Sequence[Mapping[str, float]]) -> str:
    """Medians of the errors, in Markdown; a library without answers is left out."""
    libraries = [library for library in HEADS if library in answers]
    heads = ["question", *(HEADS[library] for library in libraries)]
    lines = [heads, ["---", *["---:"] * len(libraries)]]
    for number, question in enumerate(QUESTIONS):
        medians = [
            statistics.median(
                error
                for answer in answers[library][number]
                for error in relative_errors(answer, true[number])
            )
            for library in libraries
        ]
        lines.append([question.name, *map(percent, medians)])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    main()
