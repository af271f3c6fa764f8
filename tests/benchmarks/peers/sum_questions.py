"""Sums over tables of one value per unit, asked of a library in its own environment.

Runs in every library's environment, so it imports nothing else than they all have.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Final

import duckdb

ANSWERS: Final = 3
"""Each way answers a question so many times, with noise and choices of its own each time."""

DELTA: Final = 1e-6
"""Of libraries whose noise is Gaussian."""

QUESTIONS: Final = "questions.json"


@dataclass(frozen=True)
class SumQuestion:
    """The sum of the first `part` units' values, at ε in all.

    They are in `file`, as (id, v), and are declared to be between 0 and `highest`.
    """

    file: str
    part: int
    epsilon: float
    highest: float


Way = Callable[[SumQuestion], float]
Ways = Callable[[duckdb.DuckDBPyConnection], Mapping[str, Way]]


def write_questions(folder: Path, questions: list[SumQuestion]) -> None:
    """Hand the questions over; those of one file follow each other."""
    text = json.dumps([asdict(question) for question in questions])
    (folder / QUESTIONS).write_text(text, encoding="utf-8")


def answer_questions(ways: Ways) -> None:
    """Write what each way answers to each question of the folder that was named, a line for each.

    `ways` is given a connection whose table `units` has (id, v). A question that a way refuses has
    no answer, None.
    """
    folder = Path(sys.argv[1])
    asked = [SumQuestion(**one) for one in json.loads((folder / QUESTIONS).read_text())]
    for file, questions in groupby(asked, key=lambda question: question.file):
        with duckdb.connect() as connection:
            connection.execute(f"CREATE TABLE units AS FROM '{folder / file}'")
            by_name = ways(connection)
            for question in questions:
                found = {name: _answers(way, question) for name, way in by_name.items()}
                sys.stdout.write(json.dumps(found) + "\n")
                sys.stdout.flush()


def _answers(way: Way, question: SumQuestion) -> list[float | None]:
    return [_answer(way, question) for _ in range(ANSWERS)]


def _answer(way: Way, question: SumQuestion) -> float | None:
    try:
        return way(question)
    except (RuntimeError, ValueError) as error:
        sys.stderr.write(f"{question}: {error}\n")
        return None
