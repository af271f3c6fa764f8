"""Documented deviations from DuckDB's answers, by statement."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TypedDict

import yaml
from differential.statement import Statement


class Deviation(TypedDict):
    """Why some statements deviate: each by its name, or by how it starts."""

    why: str
    statements: list[str]


Deviations = dict[str, Deviation]


def marks(statement: Statement) -> frozenset[str]:
    """What may differ in the answer to `statement`."""
    return statement.marks | {
        mark
        for mark, found in documented().items()
        if any(_means(start, statement) for start in found["statements"])
    }


@cache
def documented() -> Deviations:
    """Every deviation: why, and of which statements."""
    path = Path(__file__).with_name("deviations.yaml")
    read: Deviations = yaml.safe_load(path.read_text(encoding="utf-8"))
    return read


def _means(start: str, statement: Statement) -> bool:
    return start == statement.name or statement.sql.startswith(start)
