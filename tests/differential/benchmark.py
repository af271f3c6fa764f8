"""Public benchmarks as corpora: schemas, queries, generators, and what is answered of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import sqlglot
import yaml
from data import clickbench, ssb, tpcds
from differential.agreement import Row, disagreement
from differential.deviation import marks
from differential.exact_answer import exact_answer, prepared
from differential.statement import FIXTURES, Statement
from differential.world import World

from dpsql.errors import Error
from dpsql.session.compile.compiled import CompiledStatement


@dataclass(frozen=True)
class Benchmark:
    """A benchmark by the name of its fixture; `generate` writes its tables at a scale."""

    name: str
    title: str
    generate: Callable[[Path, float], Path]

    @property
    def queries(self) -> Mapping[str, Statement]:
        """The benchmark's statements, by their numbers in its specification."""
        return _queries(self.name)

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """Why some of them are refused."""
        return _refusals()[self.name]

    def refusal(self, number: str) -> Refusal | None:
        """Why this query is refused; None for one that is answered."""
        return next((r for r in self.refusals if number in map(str, r.queries)), None)


@dataclass(frozen=True)
class Refusal:
    """Why `queries` are refused, each with `sqlstate`; `right` if no sound engine answers them."""

    sqlstate: str
    right: bool
    why: str
    queries: tuple[str | int, ...]


@dataclass(frozen=True)
class Outcome:
    """What became of a query: `refused` is an SQLSTATE, `wrong` how an answer differs."""

    releases: int = 0
    rows: int = 0
    compared: str = ""
    refused: str = ""
    wrong: str = ""


TPCDS = Benchmark("tpcds", "TPC-DS", tpcds.generate)
SSB = Benchmark("ssb", "Star Schema Benchmark", ssb.generate)
CLICKBENCH = Benchmark("clickbench", "ClickBench", clickbench.generate)
BENCHMARKS = (TPCDS, SSB, CLICKBENCH)


def outcome(statement: Statement, data: World) -> Outcome:
    """Answer without noise, and compare with DuckDB's answer.

    Where the sort keys don't decide which rows a LIMIT leaves, and where it leaves none, all rows
    are compared. What isn't a refusal of dpsql's own is raised.
    """
    try:
        ready = prepared(statement.sql, data)
    except Error as error:
        return Outcome(refused=error.sqlstate)
    known, releases = marks(statement), len(ready.releases)
    if _chooses(ready):
        # A chosen value is the middle of a cell: tests/release has its law.
        rows = exact_answer(ready, data).rows
        return Outcome(
            releases, len(rows), "its extremes are chosen of cells (aggregate_quantile.md)"
        )
    sql = statement.sql
    if "ties" not in known:
        wrong, count = _difference(sql, data, ordered=_is_ordered(sql), nothing="nothing" in known)
        if wrong or count:
            return Outcome(releases, count, _compared(known), wrong=wrong)
    wrong, count = _difference(_whole(sql), data, ordered=False, nothing="nothing" in known)
    return Outcome(releases, count, _compared(known), wrong=wrong)


def _compared(known: frozenset[str]) -> str:
    how = ["equal"]
    how += ["without its LIMIT"] if "ties" in known else []
    how += ["a number where DuckDB has NULL"] if "nothing" in known else []
    return ", ".join(how)


def _difference(sql: str, data: World, *, ordered: bool, nothing: bool) -> tuple[str, int]:
    ours = exact_answer(prepared(sql, data), data)
    theirs = data.connection.sql(sql).fetchall()
    mine, other = ours.rows, theirs
    if nothing or not ordered:
        mine, other = _counted(mine), _counted(other)
    found = disagreement(mine, other, ours.slack, order=ordered, nothing=nothing)
    return found, len(theirs)


def _counted(rows: Sequence[Row]) -> list[Row]:
    """Each row once, with how often it is there: many rows are compared in time then."""
    return [(*row, times) for row, times in Counter(rows).items()]


def _chooses(ready: CompiledStatement) -> bool:
    return any(release.step.bounded.contributions.cell_choices for release in ready.releases)


def _is_ordered(sql: str) -> bool:
    return sqlglot.parse_one(sql, dialect="duckdb").args.get("order") is not None


def _whole(sql: str) -> str:
    """`sql` without its last LIMIT and OFFSET."""
    tree = sqlglot.parse_one(sql, dialect="duckdb")
    tree.set("limit", None)
    tree.set("offset", None)
    return tree.sql(dialect="duckdb")


@cache
def _queries(name: str) -> Mapping[str, Statement]:
    found = json.loads((FIXTURES / name / "queries.json").read_text(encoding="utf-8"))
    return {
        number: Statement(f"{name} Q{number}", name, sql.strip().removesuffix(";"))
        for number, sql in found.items()
    }


@cache
def _refusals() -> Mapping[str, tuple[Refusal, ...]]:
    path = Path(__file__).with_name("benchmarks.yaml")
    read = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {name: tuple(Refusal(**fields) for fields in listed) for name, listed in read.items()}
