"""DPSQL+ on Spark: processor time, that of its process and of Spark's.

Its package is called `dpsql`, too, so that it is never installed beside this project's. An
environment of its own is to have it by `pip install git+https://github.com/lycorp-jp/DPSQL_Plus`;
the table in docs/spark.md was measured with a part of its source, rebuilt by hand.

Spark is in one process with two threads and as much memory as `.ci/spark` gives it. What is timed
is what its backend does for a statement that is parsed: its parser and its accountant aren't, as
dpsql's aren't. What it is asked is in `dpsql_plus_shapes`; its limits are those of dpsql's schema.
"""

from __future__ import annotations

import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any, Final

from benchmarks.peers.dpsql_plus_shapes import ASKED, Asked, answer
from benchmarks.peers.measured import Rows, measured, show
from dpsql.backend import SparkSQLBackend
from pyspark.sql import SparkSession

_TICKS: Final = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Write each shape's medians as JSON."""
    folder, runs = Path(sys.argv[1]), int(sys.argv[2])
    spark = _spark()
    for file in folder.glob("*.parquet"):
        spark.read.parquet(str(file)).createOrReplaceTempView(file.stem)
    gateway: Any = spark.sparkContext._gateway
    pid = gateway.proc.pid
    backend = SparkSQLBackend(spark)

    def clock() -> float:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(stat[11]) + int(stat[12])) / _TICKS + time.process_time()

    def plain(asked: Asked) -> Rows:
        return spark.sql(asked.plain).collect()

    def private(asked: Asked, _: int) -> Rows:
        return answer(backend, asked, asked.limit)

    found = []
    for shape, asked in ASKED.items():
        ways = partial(plain, asked), partial(private, asked)
        found.append(measured(shape, *ways, runs, clock, before=3))
    show(found)


def _spark() -> SparkSession:
    """Spark in one process, as `.ci/spark` sets it."""
    settings = {
        "driver.memory": os.environ.get("DPSQL_SPARK_MEMORY", "1500m"),
        "driver.extraJavaOptions": "-XX:+UseSerialGC",
        "driver.host": "127.0.0.1",
        "driver.bindAddress": "127.0.0.1",
        "ui.enabled": "false",
        "sql.shuffle.partitions": "2",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(f"spark.{name}", value)
    return builder.getOrCreate()


if __name__ == "__main__":
    main()
