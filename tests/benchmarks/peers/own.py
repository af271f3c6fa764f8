"""dpsql, end to end: each answer is parsed, proved, charged and drawn anew.

An ε that no statement had before takes longer, since its noise is chosen: that is told apart. All
later answers are at one ε, as a schema has it; each has a ledger and a session of its own, so that
none is a stored one. Errors are measured of the former, one answer as of the others' libraries, and
of all later ones, which are near what the law of the noise says.
"""

from __future__ import annotations

import shutil
import statistics
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from benchmarks.peers.measured import (
    KEYS,
    LINES,
    ORDERS,
    SHAPES,
    Rows,
    clock_told,
    group_errors,
    percents,
    show,
)
from benchmarks.shapes import SHAPES as QUERIES
from benchmarks.speed import schema_over

from dpsql.bounding.options import AS_DECLARED, ContributionLimits
from dpsql.privacy.over_groups import OverGroups
from dpsql.schema.load.load import load_schema
from dpsql.schema.model import Schema
from dpsql.session.options import QueryOptions
from dpsql.session.session import Session
from dpsql.session.sidecar import open_source, prepare_source

LIMITS: Final = {
    "{groups: 12, rows_per_group: 24, rows: 40}": (
        f"{{groups: {ORDERS}, rows_per_group: {ORDERS}, rows: {ORDERS}}}"
    ),
    "{groups: 12, rows_per_group: 60, rows: 120}": (
        f"{{groups: 84, rows_per_group: {LINES}, rows: {LINES}}}"
    ),
}
"""Of orders and lines: the fixture's, and what is as much as the others are given."""

TOLD: Final = ContributionLimits(groups=8, rows_per_group=2, over_groups=OverGroups.SCALE)
"""OPTIONS (groups = 8, rows_per_group = 2, over_groups = scale): hardly any customer has more than
two orders of a clerk, and one with 32 of as many clerks is counted whole."""

WAYS: Final[Mapping[str, tuple[str, ContributionLimits]]] = {
    **{name: (name, AS_DECLARED) for name in SHAPES},
    "clerk, told": ("clerk", TOLD),
}
WARM, ASKED = Fraction(1, 2), 1 - Fraction(1, 1000)
"""The ε of statements that aren't counted, and of those that are."""

LATER: Final = 5
"""Answers at an ε that was asked for before, to each that is counted."""


class Prepared(NamedTuple):
    """A schema, and the files beside its ledger-to-be: what is prepared, and which keys hold."""

    schema: Schema
    files: frozenset[Path]


class Turn(NamedTuple):
    """One answer: ms without and with privacy, and the errors of its columns by group."""

    plain: float
    private: float
    errors: list[list[float]]


def main() -> None:
    """At (1, 10^-6) for each query, after `dpsql prepare`."""
    folder, runs = Path(sys.argv[1]), int(sys.argv[2])
    with TemporaryDirectory() as place:
        schema = _schema(folder, Path(place))
        with open_source(schema) as opened:
            prepare_source(schema, opened)
        prepared = Prepared(schema, frozenset(Path(schema.ledger).parent.iterdir()))
        _turns(prepared, WARM)
        first = _turns(prepared, ASKED)
        later = [_turns(prepared, ASKED) for _ in range(LATER * runs)]
    show([_found(name, first[name], [turns[name] for turns in later]) for name in WAYS])


def _found(name: str, first: Turn, later: list[Turn]) -> dict[str, object]:
    plain = statistics.median(turn.plain for turn in later)
    private = statistics.median(turn.private for turn in later)
    return {
        "shape": name,
        "plain": plain,
        "private": private,
        "ratio": private / plain,
        "first": first.private,
        "first ratio": first.private / plain,
        "errors": percents([first.errors]),
        "by law": percents([turn.errors for turn in later]),
    }


def _schema(folder: Path, place: Path) -> Schema:
    path = schema_over(folder, place).path
    text = path.read_text(encoding="utf-8")
    for fixture, limits in LIMITS.items():
        if fixture not in text:
            raise AssertionError(f"the schema has no {fixture}")
        text = text.replace(fixture, limits)
    head = text.partition("budget:")[0]
    asked = "{epsilon: 64, delta: 1.0e-4, accounting: approx}\n"
    asked += "per_query: {epsilon: 1, max_epsilon: 1, delta: 1.0e-6}\n"
    path.write_text(f"{head}budget: {asked}", encoding="utf-8")
    return load_schema(path)


def _turns(prepared: Prepared, epsilon: Fraction) -> Mapping[str, Turn]:
    """Each shape once, of an empty ledger, at ε; the session and its engine are open."""
    with _new_ledger(prepared) as session:
        session.query("SELECT count(*) FROM customer", QueryOptions(WARM))
        return {
            name: _turn(session, shape, QueryOptions(epsilon, limits))
            for name, (shape, limits) in WAYS.items()
        }


def _turn(session: Session, shape: str, options: QueryOptions) -> Turn:
    sql, engine = QUERIES[shape], session._context.execution.source()
    clock = clock_told()
    start = clock()
    exact = list(zip(*(c.to_pylist() for c in engine.execute(sql).table.columns), strict=True))
    between = clock()
    answer = session.query(sql, options)
    noisy: Rows = list(zip(*(c.to_pylist() for c in answer.table.columns), strict=True))
    end = clock()
    if answer.privacy.stored:
        raise AssertionError("nothing was drawn")
    errors = group_errors(exact, noisy, KEYS[shape])
    return Turn(1000 * (between - start), 1000 * (end - between), errors)


@contextmanager
def _new_ledger(prepared: Prepared) -> Iterator[Session]:
    """A session over a ledger that has no entry; what is prepared stays."""
    for path in {*Path(prepared.schema.ledger).parent.iterdir(), prepared.schema.anchor}:
        if path in prepared.files:
            continue
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    with closing(Session(prepared.schema)) as session:
        yield session


if __name__ == "__main__":
    main()
