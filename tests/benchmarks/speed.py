"""How much longer private answers take than plain ones: one command, JSON and a picture.

    PYTHONPATH=tests python -m benchmarks.speed FOLDER [--runs 5] [--only Q1,clerk] [--processor]
        [--memory] [--json FILE] [--svg FILE]

FOLDER holds the Parquet files of TPC-H (`tpchgen-cli parquet -s 1 --output-dir FOLDER`). They are
copied into a DuckDB file, so that reading them is as fast as it gets; on Parquet most ratios are
lower. Private and plain run in turns in one process, and medians are compared; each is run once
before. The ratio is of what the engine takes; beside it stands that of the whole, from the text to
a table, charged and kept. Each whole answer is that of an analyst who has none yet, in a process
that has bound the text before, and has the ledger open, as a server has for all its connections:
once at the one ε that a schema has, and once at an ε that no statement had before, of which noise
is chosen anew. Times are not asserted anywhere: machines are shared; on a busy one, `--processor`
measures milliseconds that processors took.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import partial
from math import exp, log
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import pyarrow as pa
from benchmarks.fixed import fixed_costs
from benchmarks.memory import peak_megabytes
from benchmarks.picture import picture
from benchmarks.shapes import queries
from engine.relay import Relay

from dpsql.audit.databases.database_batch import NO_TABLES
from dpsql.engine.engine import Engine
from dpsql.engine.opening import open_engine
from dpsql.engine.raw import Raw
from dpsql.engine.read_limit import ReadLimit
from dpsql.privacy.mechanisms.randomness import SystemRandomness
from dpsql.release.job import Job, run
from dpsql.schema.load.load import load_schema
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.schema.model import Schema
from dpsql.schema.verify import verify_keys
from dpsql.session.answer.answer import Answer
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.ledger_access import open_ledger
from dpsql.session.options import QueryOptions
from dpsql.session.run.execution import Execution
from dpsql.session.session import Session
from dpsql.session.shared_ledger import SharedLedger
from dpsql.session.sidecar import open_source, prepare_source
from dpsql.structs import replace

Clock = Callable[[], float]

FIXTURE = Path(__file__).parent.parent.parent / "fixtures" / "tpch" / "schema.yaml"


BUDGET = """
budget: {epsilon: 64, delta: 1.0e-3, accounting: zcdp}
per_query: {epsilon: 1, max_epsilon: 1, delta: 1.0e-6}
store: private
"""
"""Enough for every run to be charged; an analyst isn't given what was drawn for another."""

MEANS = ("engine", "whole", "whole, another ε")
"""Of what there are geometric means, in the order of the table's columns."""


@dataclass(frozen=True)
class Ratio:
    """One query: medians in milliseconds, and how much more memory it took at its peak.

    `private` is the engine's part, `whole` all of an answer that wasn't given before, at the ε of
    earlier ones, and `another_epsilon` all of one at an ε of its own.
    """

    name: str
    plain: float
    private: float
    whole: float
    another_epsilon: float
    plain_megabytes: float | None = None
    private_megabytes: float | None = None

    @property
    def ratio(self) -> float:
        return self.private / self.plain

    @property
    def ratios(self) -> tuple[float, ...]:
        """Of all `MEANS`."""
        return tuple(t / self.plain for t in (self.private, self.whole, self.another_epsilon))


def main() -> None:
    """Measure, without and with a sidecar, and write what was found."""
    arguments = _arguments()
    with TemporaryDirectory() as name:
        schema = schema_over(arguments.folder, Path(name))
        found: dict[str, object] = {"runs": arguments.runs, "folder": str(arguments.folder)}
        clock = time.process_time if arguments.processor else time.perf_counter
        means: dict[str, object] = {}
        for mode, ready in (("as it is", False), ("prepared", True)):
            first = 1 + arguments.runs if ready else 0
            with _opened(schema, ready=ready) as engine:
                ratios = measure(schema, engine, arguments.runs, arguments.only, first, clock)
            if arguments.memory:
                ratios = [_with_memory(r, schema) for r in ratios]
            sys.stdout.write(_table(mode, ratios))
            found[mode] = {r.name: asdict(r) | {"ratio": r.ratio} for r in ratios}
            means[mode] = geometric_means(ratios)
        found["geometric means"] = means
        found["small query, ms"] = fixed_costs(Path(name) / "small", 30, clock)
        sys.stdout.write(json.dumps(found["small query, ms"], indent=1) + "\n")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if arguments.svg is not None:
        arguments.svg.write_text(picture(found), encoding="utf-8")


def schema_over(folder: Path, place: Path) -> Schema:
    """The TPC-H fixture over a DuckDB file with the tables of `folder`, its ledger in `place`."""
    os.environ["DPSQL_STATE"] = str(place / "state")
    file = place / "tpch.duckdb"
    with duckdb.connect(str(file)) as connection:
        for table in sorted(folder.glob("*.parquet")):
            connection.execute(f"CREATE TABLE {table.stem} AS FROM '{table}'")
    head, _, _ = FIXTURE.read_text(encoding="utf-8").partition("budget:")
    path = place / "schema.yaml"
    text = head.replace("source: data", f"source: {file}") + BUDGET
    path.write_text(text, encoding="utf-8")
    return load_schema(path)


@contextmanager
def _opened(schema: Schema, *, ready: bool) -> Iterator[Engine]:
    with open_engine(engine_source(schema)) as engine:
        if ready:
            prepare_source(schema, engine)
        else:
            verify_keys(schema, engine)
    with open_source(schema) as opened:
        yield opened


def measure(
    schema: Schema,
    engine: Engine,
    runs: int,
    only: str | None = None,
    first: int = 0,
    clock: Clock = time.perf_counter,
) -> list[Ratio]:
    """Each query plain, private in the engine, and whole, in turns, by `clock`.

    `first` is how many analysts of the same ledger have an answer of each query already.
    """
    execution = Execution(schema, lambda _: None)
    execution.ledger = opening = SharedLedger(open_ledger(schema))
    compiling = Session(schema, epsilon=1, execution=execution)
    found: list[Ratio] = []
    for name, sql in queries().items():
        if only is not None and name not in only.split(","):
            continue
        prepared = compiling.compile(sql)
        times: list[tuple[float, ...]] = []
        for number in range(first, first + runs + 1):
            with _analyst(schema, execution, f"{name} {number}") as session:
                # Noise is rounded: of nearly the same ε it would be the same, and be stored.
                other = 1 - Fraction(number + 1, 1000)
                times.append(
                    (
                        seconds(partial(engine.execute, sql), clock),
                        engine_seconds(schema, prepared, engine, clock),
                        _answer_seconds(session, sql, Fraction(1), clock),
                        _answer_seconds(session, sql, other, clock),
                    )
                )
        found.append(
            Ratio(name, *(1000 * statistics.median(t) for t in zip(*times[1:], strict=True)))
        )
    compiling.close()
    opening.give()
    return found


@contextmanager
def _analyst(schema: Schema, execution: Execution, name: str) -> Iterator[Session]:
    """A session of an analyst who has asked nothing yet, with the ledger that all of them share."""
    session = Session(schema, analyst=name, execution=execution)
    session.balance()
    yield session
    session._context.ledger.close()  # and not the session, whose engine is the next one's


def _answer_seconds(session: Session, sql: str, epsilon: Fraction, clock: Clock) -> float:
    """How long an answer takes until its table is there; what it cost is asked afterwards."""
    answers: list[Answer] = []
    took = seconds(lambda: answers.append(session.query(sql, QueryOptions(epsilon))), clock)
    if answers[0].details().cost.stored:
        raise AssertionError("nothing was drawn")
    return took


class _Clock(Relay):
    """An engine that adds up what its statements take."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        super().__init__(engine)
        self.seconds = 0.0
        self._clock = clock

    def execute(
        self,
        sql: str,
        parameters: Sequence[object] = (),
        tables: Mapping[str, pa.Table] = NO_TABLES,
        *,
        as_rows: bool = False,
        limit: ReadLimit | None = None,
    ) -> Raw:
        start = self._clock()
        found = super().execute(sql, parameters, tables, as_rows=as_rows, limit=limit)
        self.seconds += self._clock() - start
        return found


def engine_seconds(
    schema: Schema,
    prepared: CompiledStatement,
    engine: Engine,
    clock: Clock = time.perf_counter,
) -> float:
    """What all statements of the releases take in the engine; noise is drawn, not counted."""
    timed = _Clock(engine, clock)
    steps = tuple(release.step for release in prepared.releases)
    run(Job(engine_source(schema), steps), timed, SystemRandomness())
    return timed.seconds


def _with_memory(ratio: Ratio, schema: Schema) -> Ratio:
    sql = queries()[ratio.name]
    plain, private = (peak_megabytes(schema.path, sql, private=p) for p in (False, True))
    return replace(ratio, plain_megabytes=plain, private_megabytes=private)


def seconds(work: Callable[[], object], clock: Clock = time.perf_counter) -> float:
    """How long `work` takes, by `clock`: wall time, or the processor's."""
    start = clock()
    work()
    return clock() - start


def geometric_means(ratios: list[Ratio]) -> dict[str, dict[str, float]]:
    """Of all queries, and of TPC-H's own, as far as there are some."""
    own = [r for r in ratios if r.name[1:].isdigit()]
    chosen = {"all": ratios, "TPC-H": own}
    return {
        name: dict(zip(MEANS, map(_geometric_mean, *(r.ratios for r in of)), strict=True))
        for name, of in chosen.items()
        if of
    }


def _geometric_mean(*ratios: float) -> float:
    return exp(sum(map(log, ratios)) / len(ratios))


def _table(mode: str, ratios: list[Ratio]) -> str:
    head = f"| {mode} | plain, ms | private, ms | ÷ | whole, ms | ÷ | another ε, ms | ÷ | MB | MB |"
    lines = [head, "| --- |" + " ---: |" * 9]
    for r in ratios:
        memory = ["" if m is None else f"{m:.0f}" for m in (r.plain_megabytes, r.private_megabytes)]
        took = zip((r.private, r.whole, r.another_epsilon), r.ratios, strict=True)
        cells = [f"{r.plain:.1f}", *(f"{ms:.1f} | {ratio:.2f}" for ms, ratio in took), *memory]
        lines.append(f"| {r.name} | {' | '.join(cells)} |")
    for of, means in geometric_means(ratios).items():
        told = ", ".join(f"{name} {mean:.2f}" for name, mean in means.items())
        lines.append(f"geometric mean of {of}: {told}")
    return "\n".join([*lines, "", ""])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", help="names of queries, as in Q1,clerk")
    parser.add_argument("--processor", action="store_true", help="its milliseconds, not the wall's")
    parser.add_argument("--memory", action="store_true", help="peaks, in processes of their own")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--svg", type=Path)
    return parser.parse_args(sys.argv[1:])


if __name__ == "__main__":
    main()
