"""What a statement over unlisted or many groups takes first, and what the next one like it takes.

    PYTHONPATH=.:tests python -m benchmarks.asked_again FOLDER [--runs 5] [--only clerk,part]

FOLDER is that of `benchmarks.speed`. By the processor's time, since machines are shared: the plain
query, the private answer of an engine that keeps nothing yet, and of the same engine later, whose
noise is another. Medians of runs in turns, without `dpsql prepare`.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.shapes import queries
from benchmarks.speed import schema_over

from dpsql.engine.opening import open_engine
from dpsql.privacy.mechanisms.randomness import SystemRandomness
from dpsql.release.job import Job, run
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.schema.model import Schema
from dpsql.schema.verify import verify_keys
from dpsql.session.session import Session


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="clerk,part")
    arguments = parser.parse_args()
    sys.stdout.write("| query | plain, ms | first | again |\n| --- | ---: | ---: | ---: |\n")
    with TemporaryDirectory() as name:
        schema = schema_over(arguments.folder, Path(name))
        with open_engine(engine_source(schema)) as engine:
            verify_keys(schema, engine)
        for query in arguments.only.split(","):
            turns = [_turn(schema, queries()[query]) for _ in range(arguments.runs)]
            plain, first, again = map(statistics.median, zip(*turns, strict=True))
            row = f"| {query} | {1000 * plain:.1f} | {first / plain:.1f} | {again / plain:.1f} |"
            sys.stdout.write(f"{row}\n")


def _turn(schema: Schema, sql: str) -> tuple[float, float, float]:
    with (
        closing(Session(schema, epsilon=1)) as session,
        open_engine(engine_source(schema)) as engine,
    ):
        steps = tuple(release.step for release in session.compile(sql).releases)
        job = Job(engine_source(schema), steps, cache_salt=SystemRandomness().bytes(16).hex())
        answer = partial(run, job, engine, SystemRandomness())
        plain = partial(engine.execute, sql)
        for _ in range(3):
            plain()  # until nothing of it is new
        return _seconds(plain), _seconds(answer), _seconds(answer)


def _seconds(work: Callable[[], object]) -> float:
    """Of the processor, in all threads."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    work()
    after = resource.getrusage(resource.RUSAGE_SELF)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
