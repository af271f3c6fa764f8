"""smartnoise-sql on PostgreSQL: processor time, that of its process and of the server's backend.

The server has its tables in the schema `main`, which `compare_postgres` made.
"""

from __future__ import annotations

import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any, Final

import psycopg2
from benchmarks.peers.measured import DELTA, EPSILON, SHAPES, Rows, measured, show
from benchmarks.peers.smartnoise import QUERIES, metadata
from snsql import Privacy
from snsql.sql.private_reader import PrivateReader
from snsql.sql.reader.postgres import PostgresReader

_TICKS: Final = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Write each shape's medians as JSON."""
    url, runs = sys.argv[1], int(sys.argv[2])
    options = "-c max_parallel_workers_per_gather=0 -c jit=off"
    connection = psycopg2.connect(url, options=options)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        ((pid,),) = cursor.fetchall()

    def clock() -> float:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(stat[11]) + int(stat[12])) / _TICKS + time.process_time()

    def reader(shape: str, epsilon: float) -> Any:
        privacy = Privacy(epsilon=epsilon, delta=DELTA)
        return PrivateReader(PostgresReader(conn=connection), metadata(shape), privacy=privacy)

    def plain(sql: str) -> Rows:
        with connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall()

    def private(shape: str, _: int) -> Rows:
        sql = QUERIES[shape]
        columns, _ = reader(shape, 1.0).get_privacy_cost(sql)
        return list(reader(shape, EPSILON / columns).execute(sql)[1:])

    answered = [shape for shape in SHAPES if shape != "median"]  # PostgreSQL has no median()
    show(
        [
            measured(shape, partial(plain, QUERIES[shape]), partial(private, shape), runs, clock)
            for shape in answered
        ]
    )


if __name__ == "__main__":
    main()
