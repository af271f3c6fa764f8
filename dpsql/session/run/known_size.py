"""What is known of an answer's size: before its charge, and before its rows are made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pyarrow as pa

from dpsql.engine.read_limit import AnswerLimit
from dpsql.plan.operator import Release, Values
from dpsql.plan.traversal import operators
from dpsql.release.columns.group_keys import number_of_cells
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.run.finishing.public_tables import public_inputs

_FEW: Final = 10_000
"""Pairs of rows that are made at once, however large they are allowed to be."""


def has_more_keys(release: CompiledRelease, largest: AnswerLimit) -> bool:
    """Whether the listed keys of `release`, where all are shown, are more rows than `largest`."""
    step = release.step
    return step.lists_cells and number_of_cells(step.query) > largest.rows


def check_sizes(compiled: CompiledStatement, largest: AnswerLimit) -> None:
    """Raise TooComplex if the keys of a release alone make more rows than `largest`."""
    if any(has_more_keys(release, largest) for release in compiled.releases):
        raise largest.known()


def is_few(compiled: CompiledStatement, released: Mapping[str, pa.Table]) -> bool:
    """Whether what stands above releases, and reads nothing else, makes few rows at most.

    The engine computes all of few rows before it hands out the first, which takes less time.
    """
    names = {release.release: release.name for release in compiled.releases}
    rows = 1
    for operator in operators(compiled.plan):
        if isinstance(operator, Release):
            rows *= max(1, released[names[operator]].num_rows)
        elif isinstance(operator, Values):
            rows *= max(1, len(operator.rows))
    return rows <= _FEW and not public_inputs(compiled.plan)
