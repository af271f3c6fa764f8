"""How many rows a release is known to have before its charge: one for each listed key."""

from __future__ import annotations

from dpsql.engine.read_limit import AnswerLimit
from dpsql.release.columns.group_keys import number_of_cells
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.compiled_release import CompiledRelease


def check_sizes(compiled: CompiledStatement, largest: AnswerLimit) -> None:
    """Raise TooComplex if the keys of a release alone make more rows than `largest`."""
    for release in compiled.releases:
        rows = known_rows(release)
        if rows is not None and rows > largest.rows:
            raise largest.too_many(rows)


def known_rows(release: CompiledRelease) -> int | None:
    """The number of groups where all of them are listed and shown, whatever the rows are."""
    step = release.step
    return number_of_cells(step.query) if step.bounded.shows_all_cells else None
