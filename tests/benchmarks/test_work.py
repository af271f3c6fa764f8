"""Answers take the work that docs/performance.md says; work is counted, not timed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import pyarrow as pa
import pytest
import sqlglot
from benchmarks.work import QUERIES, SMALL, TEXTS, Counts, calls, handed_on
from documentation.pages import ROOT, put, table_of
from sqlglot.tokenizer_core import Token

from dpsql.bind.syntax.parse import parse_query
from dpsql.engine.duckdb.engine import DuckDBEngine
from dpsql.engine.raw import Raw
from dpsql.engine.source import DuckDBSource
from dpsql.session.compile.generic.known_words import KnownWords

TABLE = "work-table"
HEAD = ("query", "plain", "as it is", "prepared")
CALLS = ("new", "stored")
MORE = Fraction(21, 20)
"""So much more or less is found: what is told is never so far off that a tenth more isn't."""

LOCKED = {f"{module.__name__}=={module.__version__}" for module in (duckdb, sqlglot)}


@pytest.mark.skipif(
    not {*(ROOT / ".ci" / "locked.txt").read_text().split()} >= LOCKED,
    reason="DuckDB's operators and sqlglot's calls were counted with what is in .ci/locked.txt",
)
def test_answers_take_the_work_that_is_told(
    tpch_folder: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    found = counted(tpch_folder, tmp_path)
    if request.config.getoption("--update-docs"):
        assert "CI" not in os.environ
        put(TABLE, table(found))
    told = told_of(table_of(TABLE))
    assert told.keys() == found.keys()
    command = "pytest --update-docs " + request.node.nodeid
    more, less = other(told, found), other(found, told)
    assert not more, "more than is told, before the arrow: find out why, or run " + command
    assert not less, "less than is told, after the arrow: run " + command


def other(told: Counts, found: Counts) -> list[str]:
    """Where more is found than is told."""
    return [
        f"{name}, {kind}: {told[name][kind]:,} → {count:,}"
        for name, counts in found.items()
        for kind, count in counts.items()
        if kind != "plain" and count > MORE * told[name][kind]
    ]


def counted(tpch_folder: Path, tmp_path: Path) -> Counts:
    """In a process that has nothing in memory yet."""
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "tests")))
    environ = {**os.environ, "PYTHONPATH": paths, "DPSQL_STATE": str(tmp_path / "counted")}
    command = [sys.executable, "-m", "benchmarks.work", str(tpch_folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environ)
    found: Counts = json.loads(done.stdout)
    return found


def table(found: Counts) -> str:
    """Rows and kB of each query, then what is counted of the small one, in Markdown."""
    lines = [f"| {' | '.join(HEAD)} |", "| --- |" + " ---: |" * 3]
    for name in QUERIES:
        cells = (f"{found[name][kind]:,}" for kind in HEAD[1:])
        lines.append(f"| {name} | {' | '.join(cells)} |")
    for name in TEXTS:
        as_it_is, prepared = (f"{found[name][kind]:,}" for kind in HEAD[2:])
        lines.append(f"| {name} | | {as_it_is} | {prepared} |")
    for name in SMALL:
        new, stored = (f"{found[name][kind]:,}" for kind in CALLS)
        lines.append(f"| {name}, new and stored | | {new} | {stored} |")
    return "\n".join([*lines, ""])


def told_of(text: str) -> Counts:
    """What a table says."""
    told: dict[str, dict[str, int]] = {}
    for line in text.splitlines()[2:]:
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        numbers = [int(cell.replace(",", "")) for cell in cells if cell]
        kinds = HEAD[1:] if name in QUERIES else HEAD[2:] if name in TEXTS else CALLS
        told[name.removesuffix(", new and stored")] = dict(zip(kinds, numbers, strict=True))
    return told


def test_a_table_says_what_was_counted() -> None:
    found = {name: dict.fromkeys(HEAD[1:], 1234) for name in QUERIES}
    found |= {name: dict.fromkeys(HEAD[2:], 99) for name in TEXTS}
    found |= {name: {"new": 1057, "stored": 87} for name in SMALL}
    assert told_of(table(found)) == found


def test_a_twentieth_more_is_found_and_plain_queries_may_take_what_they_will() -> None:
    told = {"Q1": {"plain": 100, "as it is": 100, "prepared": 100}}
    found = {"Q1": {"plain": 500, "as it is": 105, "prepared": 106}}
    assert other(told, found) == ["Q1, prepared: 100 → 106"]


def test_a_second_parse_and_a_second_statement_are_found(tmp_path: Path) -> None:
    before = calls(tmp_path / "before", "zcdp")
    words, execute = KnownWords.words, DuckDBEngine.execute

    def parse_first(texts: KnownWords, sql: str) -> list[Token] | None:
        # A text whose shape is known isn't parsed.
        parse_query(sql)
        return words(texts, sql)

    def execute_twice(*arguments: Any, **named: Any) -> Raw:
        execute(*arguments, **named)
        return execute(*arguments, **named)

    with mock.patch.object(KnownWords, "words", parse_first):
        parsed = calls(tmp_path / "parsed", "zcdp")
    with mock.patch.object(DuckDBEngine, "execute", execute_twice):
        executed = calls(tmp_path / "executed", "zcdp")
    assert [line.split(":")[0] for line in other(before, parsed)] == ["calls, new"]
    assert [line.split(":")[0] for line in other(before, executed)] == ["statements of DuckDB, new"]


def test_a_scan_a_join_and_a_column_that_nothing_needs_are_found() -> None:
    orders = pa.table(
        {"id": range(9000), "day": [i % 9 for i in range(9000)], "note": ["x"] * 9000}
    )
    asked = "SELECT day, count(*), sum(id) FROM orders {} GROUP BY day"
    needless = {
        "": "",
        "scan": "WHERE id <= (SELECT max(id) FROM orders)",
        "join": "JOIN (SELECT id AS other FROM orders) ON id = other",
        "column": "WHERE note || day >= ''",
    }
    with DuckDBEngine(DuckDBSource(), threads=1) as engine:
        found = {
            name: handed_on(engine, asked.format(clause), (), {"orders": orders})
            for name, clause in needless.items()
        }
    told = {"": {"rows": found[""].rows, "bytes": found[""].size}}
    for name in ("scan", "join", "column"):
        now = {"": {"rows": found[name].rows, "bytes": found[name].size}}
        assert other(told, now), name
