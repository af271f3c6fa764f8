"""No answer takes a tenth more work than docs/performance.md says; work is counted, not timed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from benchmarks.work import ASKED, SMALL, Counts
from documentation.pages import ROOT, put, table_of

TABLE = "work-table"
HEAD = ("query", "plain", "as it is", "prepared")
CALLS = ("new", "stored")
MORE = 1.1
LOCKED = f"duckdb=={duckdb.__version__}\n"


@pytest.mark.skipif(
    LOCKED not in (ROOT / ".ci" / "locked.txt").read_text(),
    reason="what DuckDB's operators hand on was counted with the release in .ci/locked.txt",
)
def test_no_answer_takes_a_tenth_more_work(
    tpch_folder: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    found = counted(tpch_folder, tmp_path)
    if request.config.getoption("--update-docs"):
        assert "CI" not in os.environ
        put(TABLE, table(found))
    told = told_of(table_of(TABLE))
    assert told.keys() == found.keys()
    more = {
        (name, kind): f"{told[name][kind]:,} before, now {count:,}"
        for name, counts in found.items()
        for kind, count in counts.items()
        if kind != "plain" and count > MORE * told[name][kind]
    }
    assert not more, "find out why, or run pytest --update-docs " + request.node.nodeid


def counted(tpch_folder: Path, tmp_path: Path) -> Counts:
    """In a process that has nothing in memory yet."""
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "tests")))
    environ = {**os.environ, "PYTHONPATH": paths, "DPSQL_STATE": str(tmp_path / "counted")}
    command = [sys.executable, "-m", "benchmarks.work", str(tpch_folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environ)
    found: Counts = json.loads(done.stdout)
    return found


def table(found: Counts) -> str:
    """Rows of each query, then what is called for the small one, in Markdown."""
    lines = [f"| {' | '.join(HEAD)} |", "| --- |" + " ---: |" * 3]
    for name in ASKED:
        cells = (f"{found[name][kind]:,}" for kind in HEAD[1:])
        lines.append(f"| {name} | {' | '.join(cells)} |")
    for name in SMALL:
        new, stored = (f"{found[name][kind]:,}" for kind in CALLS)
        lines.append(f"| {name}: calls, new and stored | | {new} | {stored} |")
    return "\n".join([*lines, ""])


def told_of(text: str) -> Counts:
    """What a table says."""
    told: dict[str, dict[str, int]] = {}
    for line in text.splitlines()[2:]:
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        numbers = [int(cell.replace(",", "")) for cell in cells if cell]
        if name in ASKED:
            told[name] = dict(zip(HEAD[1:], numbers, strict=True))
        else:
            told[name.partition(":")[0]] = dict(zip(CALLS, numbers, strict=True))
    return told


def test_a_table_says_what_was_counted() -> None:
    found = {name: dict.fromkeys(HEAD[1:], 1234) for name in ASKED}
    found |= {name: {"new": 1057, "stored": 87} for name in SMALL}
    assert told_of(table(found)) == found
