"""Counts and sums by group over tables of several rows per unit, asked of each library.

Runs in every library's environment, so it imports nothing else than they all have.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import duckdb

EPSILON: Final = 1.0
DELTA: Final = 1e-6
"""Of each question, in all."""

ANSWERS: Final = 20
"""Each way answers each question so many times."""

QUESTIONS: Final = "questions.json"


@dataclass(frozen=True)
class GroupQuestion:
    """A statistic of each group of `file`, whose rows are (id, k, v).

    `values` are the groups, None where they aren't listed. A careful owner declares that a unit has
    up to so many `rows`, in so many `groups`, and that v is from 0 to `highest`, None for counts.
    """

    name: str
    file: str
    values: tuple[str, ...] | None
    rows: int
    groups: int
    highest: float | None

    @property
    def aggregate(self) -> str:
        """What is asked for, in SQL."""
        return "count(*)" if self.highest is None else "sum(v)"


Answer = Mapping[str, float]
"""What is said of each group that is shown."""

Way = Callable[[], Answer]
Ways = Callable[[duckdb.DuckDBPyConnection, GroupQuestion], Mapping[str, Way]]


def write_questions(folder: Path, questions: Sequence[GroupQuestion]) -> None:
    """Hand the questions over."""
    text = json.dumps([asdict(question) for question in questions])
    (folder / QUESTIONS).write_text(text, encoding="utf-8")


def answer_questions(ways: Ways) -> None:
    """Write what each way answers to each question of the folder that was named, a line for each.

    `ways` is given a connection whose table `asked` has (id, k, v).
    """
    folder = Path(sys.argv[1])
    for one in json.loads((folder / QUESTIONS).read_text()):
        question = GroupQuestion(**one)
        with duckdb.connect() as connection:
            connection.execute(f"CREATE TABLE asked AS FROM '{folder / question.file}'")
            by_name = ways(connection, question)
            answers = {name: [way() for _ in range(ANSWERS)] for name, way in by_name.items()}
        sys.stdout.write(json.dumps(answers) + "\n")
        sys.stdout.flush()
