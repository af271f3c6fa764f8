"""dpsql beside DPSQL+, each with a Spark of its own: processor time of six shapes, in one run.

    PYTHONPATH=.:tests python -m benchmarks.peers.compare_spark URL FOLDER [--runs 3]
        [--place P] [--json FILE]

URL is what `DPSQL_SPARK_JAVA= .ci/spark start` prints, on this machine, and FOLDER holds the
Parquet files of TPC-H. DPSQL+ gets an environment of its own under P, with this one's version of
pyspark, and a Spark of the same memory, threads and settings that starts once dpsql is measured. It
reads lines that are joined with their orders beforehand; dpsql reads the tables, and what `dpsql
prepare` stores of them. Each library's time is compared with that of its own plain question on its
own tables, after three runs that aren't counted.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from benchmarks.peers.joined import joined
from benchmarks.peers.peer_environments import environment, run_script
from benchmarks.spark_speed import Cost, spark_costs

SHAPES: Final = ("count", "flags", "segment", "month", "clerk", "distinct")
PEER: Final = (
    f"pyspark=={version('pyspark')}",
    "pandas<3",  # pyspark warns of later ones
    "git+https://github.com/lycorp-jp/DPSQL_Plus",
)


def main() -> None:
    """Measure dpsql, then the peer, and write a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--place", type=Path, default=Path.home() / ".cache" / "dpsql-peers")
    arguments = parser.parse_args()
    python = environment(arguments.place / "dpsql_plus", PEER)
    folder = arguments.folder.absolute()
    own = {
        cost.name: cost
        for cost in spark_costs(arguments.url, folder, SHAPES, arguments.runs, is_prepared=True)
    }
    with joined(folder) as name:
        peers = run_script(python, "dpsql_plus", name, arguments.runs)
    sys.stdout.write(_table(own, {peer["shape"]: peer for peer in peers}))
    if arguments.json is not None:
        both = {"dpsql": [asdict(cost) for cost in own.values()], "dpsql_plus": peers}
        arguments.json.write_text(json.dumps(both, indent=1) + "\n", encoding="utf-8")


def _table(own: Mapping[str, Cost], peers: Mapping[str, Mapping[str, Any]]) -> str:
    head = "| shape | dpsql | dpsql, prepared | DPSQL+ | times less |"
    lines = [head, "| --- | --- | --- | --- | --- |"]
    for shape in SHAPES:
        cost, peer = own[shape], peers[shape]
        cells = [_cell(seconds, cost.plain) for seconds in (cost.private, cost.prepared)]
        if "refused" in peer:
            cells += ["refused", ""]
        else:
            took = peer["private"] / 1000
            less = "" if cost.prepared is None else f"{took / cost.prepared:.1f}"
            cells += [_cell(took, peer["plain"] / 1000), less]
        lines.append(f"| {shape} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(seconds: float | None, plain: float) -> str:
    return "-" if seconds is None else f"{seconds:.2f} s, {seconds / plain:.1f}×"


if __name__ == "__main__":
    main()
