"""How much longer Spark works for private answers than for plain ones.

    PYTHONPATH=tests python -m benchmarks.spark_speed URL FOLDER [--only Q1,Q6] [--prepare]
        [--json FILE]

URL is what `DPSQL_SPARK_JAVA= .ci/spark start` prints, on this machine, and FOLDER holds the
Parquet files of TPC-H. Private and plain run in turns, and medians of processor time are compared:
that of the server's one process, with its compiler and its collector, and of this one. Both are run
some times before, since Java computes slowly at first. With --prepare, private ones are also asked
of what `dpsql prepare` has stored.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from benchmarks.server_speed import processor_seconds
from benchmarks.shapes import queries
from benchmarks.speed import BUDGET, FIXTURE
from spark_process import spark_pid

from dpsql.engine.opening import open_engine
from dpsql.engine.spark.engine import SparkEngine
from dpsql.errors import Refused
from dpsql.privacy.mechanisms.randomness import SystemRandomness
from dpsql.release.job import Job, run
from dpsql.schema.load.load import load_schema
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.schema.model import Schema
from dpsql.session.preparing.spark_tables import prepare_spark
from dpsql.session.session import Session

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession

Works = dict[str, Callable[[], object]]
"""What is measured, by what it is called."""

BEFORE: Final = 3
"""So often each is run before it is measured."""


@dataclass(frozen=True)
class Cost:
    """Medians of processor time in seconds; None for what Spark doesn't compute, or isn't asked."""

    name: str
    plain: float
    private: float | None
    prepared: float | None = None

    def told(self, seconds: float | None) -> str:
        """A median, and how many times the plain one it is."""
        return "-" if seconds is None else f"{seconds:.2f} ({seconds / self.plain:.2f})"


def main() -> None:
    """Measure each query both ways, and write the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only")
    parser.add_argument("--prepare", action="store_true")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    only = list(queries()) if arguments.only is None else arguments.only.split(",")
    costs = []
    folder, is_prepared = arguments.folder.absolute(), arguments.prepare
    for cost in spark_costs(arguments.url, folder, only, arguments.runs, is_prepared=is_prepared):
        costs.append(cost)
        sys.stdout.write(f"{_line(cost)}\n")
        sys.stdout.flush()
    if arguments.json is not None:
        arguments.json.write_text(json.dumps([asdict(cost) for cost in costs], indent=1) + "\n")


def spark_costs(
    url: str, folder: Path, names: Collection[str], runs: int, *, is_prepared: bool = False
) -> Iterator[Cost]:
    """What each of the queries `names` takes, plainly and privately, and of what is prepared."""
    pid = spark_pid(url)
    with TemporaryDirectory() as name:
        schema = tpch_on_spark(f"{url}/;folder={folder}", Path(name))
        ready = prepared_tpch(schema, url, Path(name)) if is_prepared else None
        plain = plain_session(url, folder)
        for query, sql in queries().items():
            if query in names:
                works: Works = {"plain": lambda sql=sql: plain.sql(sql).toArrow()}  # type: ignore[misc]
                yield _measured(query, sql, (schema, ready), works, pid, runs)


def prepared_tpch(schema: Schema, url: str, folder: Path) -> Schema:
    """The same as another dataset, of which `dpsql prepare` has stored what it can."""
    text = (folder / "spark.yaml").read_text(encoding="utf-8")
    path = folder / "prepared.yaml"
    path.write_text(text.replace(f"dataset: {schema.dataset}", "dataset: prepared"), "utf-8")
    ready = load_schema(path)
    with open_engine(engine_source(ready)) as engine:
        if not isinstance(engine, SparkEngine):
            raise TypeError("only Spark is measured here")
        begun = time.perf_counter()
        names = prepare_spark(ready, engine, url)
        seconds = time.perf_counter() - begun
    sys.stdout.write(f"prepared {', '.join(sorted(names))} in {seconds:.1f} s\n")
    return ready


def tpch_on_spark(source: str, folder: Path) -> Schema:
    """TPC-H's schema over a source on Spark; its ledger is in `folder`."""
    os.environ["DPSQL_STATE"] = str(folder / "state")
    head, _, _ = FIXTURE.read_text(encoding="utf-8").partition("budget:")
    path = folder / "spark.yaml"
    text = head.replace("source: data", f"source: {source}\nversion: 1") + BUDGET
    path.write_text(text, encoding="utf-8")
    return load_schema(path)


def plain_session(url: str, folder: Path) -> SparkSession:
    """A session as Spark sets it by itself, with the tables by their names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pandas, which isn't used
        from pyspark.sql.connect.session import SparkSession as Plain

        session = Plain.builder.remote(url).create()
    for file in folder.glob("*.parquet"):
        session.read.parquet(str(file)).createOrReplaceTempView(file.stem)
    return session


def _measured(
    name: str, sql: str, schemas: tuple[Schema, Schema | None], works: Works, pid: int, runs: int
) -> Cost:
    with ExitStack() as opened:
        for how, schema in zip(("private", "prepared"), schemas, strict=True):
            work = None if schema is None else opened.enter_context(private(schema, sql))
            if work is not None:
                works[how] = work
        times: dict[str, list[float]] = {how: [] for how in works}
        for number in range(BEFORE + runs):
            for how, work in works.items():
                seconds = processor_seconds(pid, work)
                if number >= BEFORE:
                    times[how].append(seconds)
    medians = {how: statistics.median(seconds) for how, seconds in times.items()}
    return Cost(name, medians["plain"], medians.get("private"), medians.get("prepared"))


@contextmanager
def private(schema: Schema, sql: str) -> Iterator[Callable[[], object] | None]:
    """What computes the releases of a statement and adds noise; None where Spark doesn't."""
    try:
        compiled = Session(schema, epsilon=1).compile(sql)
    except Refused as refusal:
        sys.stdout.write(f"{refusal}\n")
        yield None
        return
    job = Job(engine_source(schema), tuple(release.step for release in compiled.releases))
    with open_engine(job.source) as engine:
        yield lambda: run(job, engine, SystemRandomness())


def _line(cost: Cost) -> str:
    ways = f"private {cost.told(cost.private)}  prepared {cost.told(cost.prepared)}"
    return f"{cost.name:10} plain {cost.plain:.2f}  {ways}"


if __name__ == "__main__":
    main()
