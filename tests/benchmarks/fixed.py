"""What a query takes beside its data, stage by stage, on a table of a thousand rows.

    PYTHONPATH=.:tests python -m benchmarks.fixed [--times 50] [--processor] [--json FILE]

Every statement is a new text. `whole` is a query of a known shape, from its text to its table, and
`whole, no disk` one where nothing waits for the disk; `disk` is the difference. They are asked in
turns, each first as often as the others: what ran before, and what other work is on the machine,
changes both by more. `whole, in stages` is one whose parts are timed, which takes time itself;
`another shape` is one that is parsed, proved and rewritten besides. The stages are parts of the
former, and those that it doesn't have parts of the other: each one's own time, without that of
stages within it, with `between` for what is in none. `stored` is the same text again, and `plain`
what the engine takes for the same query without privacy. On a busy machine `--processor` tells
more: milliseconds of it that the process took, all of its threads together, and not those in which
it waited.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import duckdb

from dpsql.bind import statement
from dpsql.engine.duckdb.engine import DuckDBEngine
from dpsql.ledger.ledger import Ledger
from dpsql.ledger.storage.sync_queue import sync_file
from dpsql.release import job
from dpsql.session import session
from dpsql.session.compile import compiled, release_compiler
from dpsql.session.run import charge_and_run, charged_draw
from dpsql.session.run.execution import Execution
from dpsql.session.run.public_statements import WholeStatements
from dpsql.session.session import Session

SCHEMA = """\
dataset: people
source: people.duckdb
tables:
  people:
    unit: row
    columns:
      age: {type: integer, bounds: [0, 120]}
      dept: {type: varchar, values: [a, b, c]}
      pay: {type: "decimal(10,2)", bounds: [0, 1000]}
budget: {epsilon: 64, delta: 1.0e-6, accounting: zcdp}
"""
SQL = "SELECT dept, count(*), avg(pay) FROM people WHERE age > {} GROUP BY dept ORDER BY dept"

_AGES = tuple(itertools.product(range(1, 60), range(61, 120)))
"""Each end leaves more than half of the ages that there may be, so that all texts have one plan."""

TEXTS = len(_AGES)


def new_text(number: int, column: str = "age") -> str:
    """Another text for each number below `TEXTS`, which asks for ages that there may be."""
    low, high = _AGES[number]
    return SQL.replace("age >", f"{column} >").format(f"{low} AND age <= {high}")


STAGES: tuple[tuple[str, Any, str], ...] = (
    ("parse", statement, "tokens"),
    ("parse", statement, "parse_query"),
    ("prove", compiled, "unused"),
    ("prove", release_compiler, "bound_release"),
    ("prove", release_compiler, "sensitivity"),
    ("calibrate", release_compiler, "calibrate"),
    ("rewrite", release_compiler, "plan_release"),
    ("identify", release_compiler, "release_digest"),
    ("bind", WholeStatements, "known"),
    ("bind", WholeStatements, "bound"),
    ("look up", Execution, "version"),
    ("look up", charge_and_run, "look_up"),
    ("look up", charge_and_run, "pending_releases"),
    ("charge", Ledger, "charge"),
    ("engine", DuckDBEngine, "execute"),
    ("noise", job, "add_noise"),
    ("noise", job, "columns"),
    ("keep", charged_draw, "to_bytes"),
    ("keep", charged_draw, "from_bytes"),
    ("keep", Ledger, "release"),
    ("finish", Execution, "finish"),
    ("finish", session, "build_answer"),
)
"""What is timed as which stage, and where it is looked up."""

IN_STAGES = "whole, in stages"


class Watch:
    """Milliseconds of each stage, run by run: its own, without those of stages within it."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._runs: list[dict[str, float]] = []
        self._within: list[float] = []

    @contextmanager
    def run(self, whole: str, rest: str | None = None) -> Iterator[None]:
        """One run; its own time, which is in no stage, is called `rest`."""
        self._runs.append({})
        start = self._clock()
        with self._stage(rest):
            yield
        self._runs[-1][whole] = 1000 * (self._clock() - start)

    @contextmanager
    def stages(self) -> Iterator[None]:
        """All stages are timed in here."""
        real = [(owner, name, getattr(owner, name)) for _, owner, name in STAGES]
        for stage, owner, name in STAGES:
            setattr(owner, name, self._timed(stage, getattr(owner, name)))
        try:
            yield
        finally:
            for owner, name, function in real:
                setattr(owner, name, function)

    def medians(self) -> dict[str, float]:
        """Of each stage, over the runs of `IN_STAGES` that it was in, or others if it was in none.

        A stage that is in both, such as the engine's, takes another time in each.
        """
        found: dict[str, list[float]] = {}
        of_whole = {stage for run in self._runs if IN_STAGES in run for stage in run}
        for run in self._runs:
            for stage, took in run.items():
                if IN_STAGES in run or stage not in of_whole:
                    found.setdefault(stage, []).append(took)
        return {stage: round(statistics.median(took), 2) for stage, took in found.items()}

    def _timed(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def timed(*arguments: Any, **named: Any) -> Any:
            with self._stage(stage):
                return function(*arguments, **named)

        return timed

    @contextmanager
    def _stage(self, stage: str | None) -> Iterator[None]:
        start = self._clock()
        self._within.append(0.0)
        yield
        took = 1000 * (self._clock() - start)
        own = took - self._within.pop()
        if self._within:
            self._within[-1] += took
        if stage is not None:
            run = self._runs[-1]
            run[stage] = run.get(stage, 0.0) + own


def main() -> None:
    """Measure, and print or write down what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--processor", action="store_true")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    with TemporaryDirectory() as name:
        clock = time.process_time if arguments.processor else time.perf_counter
        found = json.dumps(fixed_costs(Path(name), arguments.times, clock), indent=1) + "\n"
    sys.stdout.write(found)
    if arguments.json is not None:
        arguments.json.write_text(found, encoding="utf-8")


def small_schema(folder: Path, accounting: str = "zcdp") -> Path:
    """A schema over a thousand rows, with its source and its ledger in `folder`."""
    os.environ["DPSQL_STATE"] = str(folder / "state")
    folder.mkdir(exist_ok=True)
    with duckdb.connect(str(folder / "people.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT (i % 90)::INTEGER AS age, "
            "chr(97 + (i % 3)::INTEGER) AS dept, (i * 37 % 1000)::DECIMAL(10, 2) AS pay "
            "FROM range(1000) r(i)"
        )
    path = folder / "schema.yaml"
    path.write_text(SCHEMA.replace("zcdp", accounting), encoding="utf-8")
    return path


def fixed_costs(
    folder: Path, times: int, clock: Callable[[], float] = time.perf_counter
) -> Mapping[str, float]:
    """Medians in milliseconds of `clock`, of a ledger and a source in `folder`."""
    watch, asking = Watch(clock), Session(small_schema(folder), epsilon="0.001")
    for number in range(3):  # a plan is made of the second
        asking.query(new_text(TEXTS - 1 - number))

    def whole(sql: str) -> None:
        with watch.run("whole"):
            asking.query(sql)
        with watch.run("stored"):
            asking.query(sql)
        with watch.run("plain"):
            asking._context.execution.source().execute(sql)

    def without_disk(sql: str) -> None:
        with _no_disk(asking), watch.run("whole, no disk"):
            asking.query(sql)

    def in_stages(sql: str) -> None:
        with watch.stages(), watch.run(IN_STAGES, rest="between"):
            asking.query(sql)

    turns = [whole, without_disk, in_stages]
    texts = map(new_text, itertools.count())
    for number in range(times):
        first = number % len(turns)
        for ask in (*turns[first:], *turns[:first]):
            ask(next(texts))
        sql = new_text(TEXTS // 2 + number).replace("count(*)", f"count(*) AS n{number}")
        with watch.stages(), watch.run("another shape"):
            asking.query(sql)
    asking.close()
    found = watch.medians()
    return {"disk": round(found["whole"] - found["whole, no disk"], 2), **found}


@contextmanager
def _no_disk(session: Session) -> Iterator[None]:
    """Nothing that `session` commits or anchors in here waits for the disk."""
    database = session._context.ledger.open()._chain.database
    assert isinstance(database.path, Path)
    # It stays so, since no commit of a query waits: each leaves the setting as it is.
    ((before,),) = database.run("PRAGMA synchronous")
    with mock.patch.object(os, "fsync", return_value=None):
        database.run("PRAGMA synchronous = OFF")
        yield
    database.run(f"PRAGMA synchronous = {before}")
    # Else whoever is next waits for this, too.
    sync_file(database.path.with_name(database.path.name + "-wal"))


if __name__ == "__main__":
    main()
