"""dpsql beside smartnoise-sql on one PostgreSQL server: processor time of six shapes, in one run.

    PYTHONPATH=.:tests python -m benchmarks.peers.compare_postgres URL OWNER [--runs 3]
        [--place P] [--json FILE]

URL is as for `benchmarks.server_speed`; OWNER names the same database and a role that may create
tables in it: smartnoise-sql reads joined ones, and dpsql what `dpsql prepare` stores. Each
library's time is compared with its own plain question on its own tables; parallel workers are
switched off for all.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import psycopg
from benchmarks.peers.peer_environments import PEERS, environment, run_script
from benchmarks.server_speed import Ways, server_ways

SHAPES: Final = ("count", "flags", "segment", "month", "clerk", "distinct")
JOINED: Final = """
CREATE SCHEMA IF NOT EXISTS main;
CREATE TABLE IF NOT EXISTS main.lines AS SELECT o_custkey, l_returnflag, l_linestatus,
  l_quantity::bigint l_quantity, l_extendedprice::float8 / 100 l_extendedprice,
  (l_extendedprice * (1 - l_discount))::float8 / 100 revenue,
  date_trunc('month', l_shipdate)::date::text ship_month
  FROM lineitem JOIN orders ON l_orderkey = o_orderkey;
CREATE TABLE IF NOT EXISTS main.bought AS SELECT o_custkey, c_mktsegment,
  o_totalprice::float8 / 100 o_totalprice, o_clerk, o_orderpriority
  FROM orders JOIN customer ON c_custkey = o_custkey;
ANALYZE main.lines, main.bought;
"""
"""What smartnoise-sql reads: it knows neither joins nor expressions in aggregates."""


def main() -> None:
    """Measure dpsql, then the peer, and write a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("owner")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--place", type=Path, default=Path.home() / ".cache" / "dpsql-peers")
    arguments = parser.parse_args()
    python = environment(arguments.place / "smartnoise", PEERS["smartnoise"].packages)
    with psycopg.connect(arguments.owner, autocommit=True) as owner:
        owner.execute(JOINED)
    own = {
        ways.name: ways
        for ways in server_ways(arguments.url, SHAPES, arguments.runs, arguments.owner)
    }
    peers = run_script(python, "smartnoise_postgres", arguments.owner, arguments.runs)
    sys.stdout.write(_table(own, {peer["shape"]: peer for peer in peers}))
    if arguments.json is not None:
        both = {"dpsql": [asdict(ways) for ways in own.values()], "smartnoise": peers}
        arguments.json.write_text(json.dumps(both, indent=1) + "\n", encoding="utf-8")


def _table(own: Mapping[str, Ways], peers: Mapping[str, Mapping[str, Any]]) -> str:
    lines = ["| shape | dpsql | smartnoise-sql | times less |", "| --- | --- | --- | --- |"]
    for shape in SHAPES:
        ways, peer = own[shape], peers[shape]
        took = ways.pulled if ways.pushed is None else min(ways.pushed, ways.pulled)
        cells = [f"{took:.2f} s, {took / ways.plain:.1f}×"]
        if "refused" in peer:
            cells += ["refused", ""]
        else:
            less = peer["private"] / 1000 / took
            cells += [f"{peer['private'] / 1000:.2f} s, {peer['ratio']:.1f}×", f"{less:.1f}"]
        lines.append(f"| {shape} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
