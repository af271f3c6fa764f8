"""What is known of an answer's size: before its charge, and before its rows are made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, assert_never

import pyarrow as pa

from dpsql.engine.read_limit import AnswerLimit
from dpsql.errors import InternalError
from dpsql.plan.operator import Plan, PublicStatement, Release, Scan
from dpsql.release.columns.group_keys import number_of_cells
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.run.finishing.finishing_text import FinishingText
from dpsql.session.run.finishing.row_bound import Leaf, row_bound

_FEW: Final = 10_000
"""Rows that are made at once, however large they are allowed to be."""


def has_more_keys(release: CompiledRelease, largest: AnswerLimit) -> bool:
    """Whether the listed keys of `release`, where all are shown, are more rows than `largest`."""
    step = release.step
    return step.lists_cells and number_of_cells(step.query) > largest.rows


def check_sizes(compiled: CompiledStatement, largest: AnswerLimit) -> None:
    """Raise TooComplex if the keys of a release alone make more rows than `largest`."""
    if any(has_more_keys(release, largest) for release in compiled.releases):
        raise largest.known()


def is_few(
    compiled: CompiledStatement, text: FinishingText, tables: Mapping[str, pa.Table]
) -> bool:
    """Whether `text` makes few rows at most of what is released, of all `tables` that it reads.

    The engine computes all of few rows before it hands out the first, which takes less time.
    """
    names = compiled.finishing_names
    copies = {id(copy.part): copy.name for copy in text.copies}

    def rows(leaf: Leaf) -> int:
        match leaf:
            case Release():
                return int(tables[names[leaf]].num_rows)
            case Scan(table=table):
                return int(tables[table.engine_name].num_rows)
            case PublicStatement():
                raise InternalError("nothing stands above a statement that runs whole")
            case missing:
                assert_never(missing)

    def known(part: Plan) -> int | None:
        name = copies.get(id(part))
        return None if name is None else int(tables[name].num_rows)

    return row_bound(compiled.finishing_plan, rows, known) <= _FEW
