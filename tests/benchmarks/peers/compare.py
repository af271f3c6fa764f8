"""dpsql, smartnoise-sql, pyqrlew, DPSQL+ and plain SQL in turns: the tables and plots of docs.

    PYTHONPATH=.:tests python -m benchmarks.peers.compare FOLDER [--scale 1] [--runs 5]
        [--processor] [--baseline COMMIT] [--place P] [--json FILE]
        [--update-docs | --update-errors]

FOLDER holds the Parquet files of TPC-H, which are made there at `--scale` if it has none. Run by
hand: each library gets an environment of its own under P, in which its script runs; one that can't
be installed, or fails, is told, and its figures in docs/performance.md stay with their date. Seven
shapes, each at (1, 10^-6) and on the same rows, once in each of `--runs` rounds; in a round one
library follows the other, so that all see the same drift of the machine, and figures are medians of
the rounds. Each time is that of a whole answer, and is compared with what the same question takes
without privacy on the library's own engine and tables; on a busy machine `--processor` tells more:
milliseconds of it, of all threads of the library's process. Units are customers, of each of which
at most 30 orders or 120 lines are counted. All libraries are told the same bounds, values and
limits, as far as each can be, and spend the same on a whole query. With `--baseline`, private ÷
plain of that commit and of the last one stand side by side, too (`benchmarks.two_commits`).

`--update-docs` writes the tables into docs/performance.md, and plots beside them; `--update-errors`
those of errors alone, which other work on the machine doesn't change.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq
from benchmarks.peers.peer_environments import (
    PEERS,
    ROOT,
    Found,
    ScriptFailed,
    peer_environments,
    run_script,
)
from benchmarks.peers.peer_tables import (
    COLOURS,
    FIRST,
    LAW,
    OWN,
    columns_of,
    compared_columns,
    errors_columns,
    kept,
    markdown,
    plot,
    times_columns,
)
from benchmarks.two_commits import compared_commits
from benchmarks.work import ASKED as QUERIES
from data import tpch
from documentation.pages import put, table_of

ASSETS: Final = ROOT / "docs" / "assets"
TIMES, ERRORS, COMPARED = "peer-times-table", "peer-errors-table", "peer-compared-table"
COMMITS: Final = "two-commits-table"
ORDERS: Final = 1_500_000
"""Of TPC-H at scale 1."""


def main() -> None:
    """Make what is missing, run all in turns, and write what was found."""
    arguments = _arguments()
    folder = arguments.folder.absolute()
    if not (folder / "lineitem.parquet").exists():
        folder.mkdir(parents=True, exist_ok=True)
        tpch.generate(folder, arguments.scale)
    clock = "processor" if arguments.processor else "wall"
    found = in_turns(folder, arguments.place, arguments.runs, clock)
    peers = list(COLOURS)[1:]
    measured = measured_on(folder, clock)
    times = kept(times_columns(found, measured), table_of(TIMES), [OWN, FIRST, *peers])
    errors = kept(errors_columns(found, measured), table_of(ERRORS), [OWN, LAW, *peers])
    tables = {TIMES: times, ERRORS: errors, COMPARED: compared_columns(times, errors)}
    for columns in tables.values():
        sys.stdout.write(f"{markdown(columns)}\n")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if arguments.update_docs:
        (ASSETS / "peers.svg").write_text(plot(times), encoding="utf-8")
    elif arguments.update_errors:
        told = columns_of(table_of(TIMES))
        tables = {ERRORS: errors, COMPARED: compared_columns(told, errors)}
    if arguments.update_docs or arguments.update_errors:
        for name, columns in tables.items():
            put(name, markdown(columns))
    if arguments.baseline is not None:
        only, runs = ",".join(QUERIES), arguments.runs
        commits = compared_commits(folder, arguments.baseline, "HEAD", runs, only)
        seen = "![private ÷ plain of two commits](assets/commits.svg)"
        table = f"Measured {measured}.\n\n{seen}\n\n{commits.tables()}"
        sys.stdout.write(table)
        if arguments.update_docs:
            put(COMMITS, table)
            (ASSETS / "commits.svg").write_text(commits.plot(), encoding="utf-8")


def in_turns(folder: Path, place: Path, runs: int, clock: str) -> dict[str, Found]:
    """Of each library that can be run, medians over the rounds."""
    pythons = {"dpsql": Path(sys.executable), **dict(peer_environments(place, list(PEERS)))}
    scripts = {"dpsql": "own", **{name: peer.script for name, peer in PEERS.items()}}
    rounds: dict[str, list[Found]] = {name: [] for name in pythons}
    for number in range(runs):
        for name in list(rounds):
            start = time.monotonic()
            try:
                answered = run_script(pythons[name], scripts[name], str(folder), 1, clock)
                rounds[name].append(answered)
            except ScriptFailed as error:
                if name == "dpsql":
                    raise
                del rounds[name]
                sys.stderr.write(f"its old figures stay, since {error}\n")
            took = time.monotonic() - start
            sys.stderr.write(f"round {number + 1} of {runs}, {name}: {took:.0f} s\n")
    return {name: medians(each) for name, each in rounds.items()}


def medians(rounds: Sequence[Found]) -> Found:
    """Of each shape the medians of the rounds; refused where a round was."""
    found: Found = []
    for ones in zip(*rounds, strict=True):
        refused = [one for one in ones if "refused" in one]
        found.append(refused[0] if refused else _median(ones))
    return found


def _median(ones: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Of each number, and of each number of a list."""
    found: dict[str, Any] = {}
    for key, value in ones[0].items():
        values = [one[key] for one in ones]
        if isinstance(value, list):
            found[key] = [statistics.median(column) for column in zip(*values, strict=True)]
        else:
            found[key] = value if isinstance(value, str) else statistics.median(values)
    return found


def measured_on(folder: Path, clock: str) -> str:
    """When, at which scale, on what, and by which clock, if it isn't that on the wall."""
    scale = pq.read_metadata(folder / "orders.parquet").num_rows / ORDERS
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    today = datetime.now(UTC).date().isoformat()
    told = f"{today}, scale {scale:g}, {os.cpu_count()} cores, {memory:.0f} GB"
    return told if clock == "wall" else f"{told}, {clock}'s time"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--processor", action="store_true", help="its time, not that on the wall")
    parser.add_argument("--baseline", help="a commit, as in main~20")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--place", type=Path, default=Path.home() / ".cache" / "dpsql-peers")
    parser.add_argument("--update-docs", action="store_true")
    parser.add_argument("--update-errors", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
