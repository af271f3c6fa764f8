"""What Spark shuffles, keeps in memory and spills for private answers, beside plain ones.

    PYTHONPATH=tests python -m benchmarks.spark_scale URL FOLDER LOG [--only Q1,Q6] [--prepare]
        [--json FILE]

URL is what this prints, and FOLDER holds the Parquet files of TPC-H:

    DPSQL_SPARK_JAVA= .ci/spark start --conf spark.eventLog.enabled=true \\
        --conf spark.eventLog.dir=LOG --conf spark.eventLog.compress=false

Nothing else may run on that server. With --skew, FOLDER is made first, of the files in its parent:
one customer has two thirds of the orders. With --prepare, private answers are also asked of what
`dpsql prepare` has stored.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import duckdb
from benchmarks.shapes import queries
from benchmarks.spark_events import EventLog, Work
from benchmarks.spark_speed import plain_session, prepared_tpch, private, tpch_on_spark

COLUMNS: Final = (
    "seconds",
    "processor",
    "read",
    "shuffled",
    "rows_shuffled",
    "spilled",
    "peak",
    "tasks",
    "skew",
)


@dataclass(frozen=True)
class Scale:
    """What one query had Spark do; None for what Spark doesn't compute, or isn't asked."""

    name: str
    plain: Work
    private: Work | None
    prepared: Work | None

    def facts(self) -> dict[str, dict[str, float]]:
        """Of each way that there is, what is told of its work."""
        works = {"plain": self.plain, "private": self.private, "prepared": self.prepared}
        return {
            f"{self.name} {how}": {column: getattr(work, column) for column in COLUMNS}
            for how, work in works.items()
            if work is not None
        }


def main() -> None:
    """Ask each query both ways, once, and write what the log says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("folder", type=Path)
    parser.add_argument("log", type=Path)
    parser.add_argument("--only")
    parser.add_argument(
        "--skew", action="store_true", help="make FOLDER first, of a unit with most rows"
    )
    parser.add_argument("--prepare", action="store_true")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    folder = arguments.folder.absolute()
    if arguments.skew:
        make_skewed(folder)
    only = list(queries()) if arguments.only is None else arguments.only.split(",")
    scales = []
    is_prepared = arguments.prepare
    for scale in spark_scales(arguments.url, folder, arguments.log, only, is_prepared=is_prepared):
        scales.append(scale)
        sys.stdout.write(_lines(scale))
        sys.stdout.flush()
    if arguments.json is not None:
        text = json.dumps([scale.facts() for scale in scales], indent=1)
        arguments.json.write_text(text + "\n")


def spark_scales(
    url: str, folder: Path, log: Path, names: list[str], *, is_prepared: bool = False
) -> Iterator[Scale]:
    """What each of the queries `names` has Spark do, plainly, privately and as it is prepared."""
    events = EventLog(log)
    with TemporaryDirectory() as name:
        schema = tpch_on_spark(f"{url}/;folder={folder}", Path(name))
        ready = prepared_tpch(schema, url, Path(name)) if is_prepared else None
        plain = plain_session(url, folder)
        for query, sql in queries().items():
            if query not in names:
                continue
            plainly = events.work(lambda sql=sql: plain.sql(sql).toArrow())  # type: ignore[misc]
            works: list[Work | None] = []
            for own in (schema, ready):
                if own is None:
                    works.append(None)
                    continue
                with private(own, sql) as work:
                    works.append(None if work is None else events.work(work))
            yield Scale(query, plainly, *works)


def make_skewed(to: Path) -> None:
    """TPC-H as in the folder around it, where one customer has two thirds of the orders.

    That is a million orders at scale 1, with four million lines.
    """
    folder = to.parent
    to.mkdir(exist_ok=True)
    for file in folder.glob("*.parquet"):
        (to / file.name).unlink(missing_ok=True)
        if file.stem != "orders":
            (to / file.name).symlink_to(file)
    duckdb.execute(
        f"COPY (SELECT * REPLACE (if(o_orderkey % 3 = 0, o_custkey, 1) AS o_custkey)"
        f" FROM '{folder / 'orders.parquet'}') TO '{to / 'orders.parquet'}'"
    )


def _lines(scale: Scale) -> str:
    return "".join(
        f"{name:18} {'  '.join(f'{column} {fact:,.4g}' for column, fact in facts.items())}\n"
        for name, facts in scale.facts().items()
    )


if __name__ == "__main__":
    main()
