"""Every query of public benchmarks is answered as DuckDB does, or refused for a named reason.

BENCHMARKS.md has a line for each; `pytest --update-benchmarks` writes it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from differential import world
from differential.agreement import disagreement
from differential.benchmark import BENCHMARKS, CLICKBENCH, SSB, TPCDS, Benchmark, Outcome, outcome
from differential.exact_answer import exact_answer, prepared, released_tables
from differential.honoured import violations
from differential.statement import Statement
from differential.world import World
from neighbor_search.share import in_turn

from dpsql.schema.model import Limits

TABLE = Path(__file__).with_name("BENCHMARKS.md")

LARGER = 10
"""The scale of the slow battery; that of the ordinary one is 1."""

LARGER_ROOMY = Limits(groups=100_000, rows_per_group=100_000, rows=100_000)
"""No unit has more rows at that scale, where joins with released rows make many of one."""

ABOUT = """# Public benchmarks

Every query in the text of its benchmark, answered without noise and compared with DuckDB's answer
over generated data, or refused. The units are customers (TPC-DS, SSB) and users (ClickBench);
`fixtures/` has schemas and queries.
`pytest tests/differential/test_benchmarks.py --update-benchmarks` writes this file.

| benchmark | queries | answered | rightly refused | still refused |
| --- | --- | --- | --- | --- |
"""
HEADING = """| query | answer | releases | compared, or why not |
| --- | --- | --- | --- |
"""

ANSWERED = {TPCDS: 87, SSB: 13, CLICKBENCH: 34}
"""How many queries are answered."""

EMPTY = {
    TPCDS: {"25", "31", "41", "49", "54", "58", "72", "85"},
    SSB: set(),
    CLICKBENCH: {"27", "28"},
}
"""Queries whose answers have no rows in these databases."""


CASES = in_turn(
    (
        (f"{benchmark.name}-{number}", (benchmark, number))
        for benchmark in BENCHMARKS
        for number in benchmark.queries
    ),
    share=6,
)


@pytest.fixture
def data(benchmark: Benchmark, request: pytest.FixtureRequest) -> World:
    folder: Path = request.getfixturevalue(f"{benchmark.name}_folder")
    return world.of_files(benchmark.name, folder)


def test_all_queries_are_there() -> None:
    assert [*TPCDS.queries] == [str(n) for n in range(1, 100)]
    assert len(SSB.queries) == 13
    assert [*CLICKBENCH.queries] == [str(n) for n in range(43)]


@pytest.mark.parametrize("benchmark", BENCHMARKS, ids=lambda b: b.name)
def test_a_refused_query_has_one_reason(benchmark: Benchmark) -> None:
    refused = [str(number) for refusal in benchmark.refusals for number in refusal.queries]
    assert len(refused) == len(set(refused)) == len(benchmark.queries) - ANSWERED[benchmark]
    assert set(refused) <= benchmark.queries.keys()


@pytest.mark.parametrize("benchmark", BENCHMARKS, ids=lambda b: b.name)
def test_the_database_is_as_its_schema_says(benchmark: Benchmark, data: World) -> None:
    del benchmark
    assert not violations(data)


@pytest.mark.parametrize(("benchmark", "number"), CASES)
def test_a_query_is_answered_as_duckdb_does_or_refused_as_recorded(
    benchmark: Benchmark, number: str, data: World, request: pytest.FixtureRequest
) -> None:
    found = of(benchmark, number, data)
    refusal = benchmark.refusal(number)
    assert found.refused == ("" if refusal is None else refusal.sqlstate)
    assert not found.wrong
    assert found.refused or bool(found.rows) == (number not in EMPTY[benchmark])
    if not request.config.getoption("--update-benchmarks"):
        lines = TABLE.read_text(encoding="utf-8").splitlines()
        assert line(benchmark, number, found) in lines, "run pytest with --update-benchmarks"


def test_what_follows_of_a_chosen_maximum_is_as_duckdb_has_it(tpcds_folder: Path) -> None:
    """Q23 has customers of more than half of the most that one spends, which is chosen of cells."""
    data = world.of_files("tpcds", tpcds_folder)
    ready = prepared(TPCDS.queries["23"].sql, data)
    chosen = next(r for r in ready.releases if r.step.bounded.contributions.cell_choices)
    ((value,),) = released_tables(ready, data)[chosen.name].to_pandas().to_numpy().tolist()
    sql = re.sub(
        r"(max_store_sales AS\s+\().*?(\),\s+best_ss_customer)",
        rf"\g<1>SELECT {value} AS tpcds_cmax\g<2>",
        TPCDS.queries["23"].sql,
        flags=re.DOTALL,
    )
    ours, theirs = exact_answer(ready, data), data.connection.sql(sql).fetchall()
    assert theirs
    assert not disagreement(ours.rows, theirs, ours.slack, order=True)


@pytest.mark.slow
@pytest.mark.parametrize("benchmark", BENCHMARKS, ids=lambda b: b.name)
def test_answers_are_duckdbs_of_larger_databases_too(benchmark: Benchmark, tmp_path: Path) -> None:
    folder = benchmark.generate(tmp_path / "larger", LARGER)
    data = world.of_files(benchmark.name, folder, LARGER_ROOMY)
    assert not violations(data)
    found = {number: outcome(query, data) for number, query in benchmark.queries.items()}
    assert not {number: o.wrong for number, o in found.items() if o.wrong}
    assert sum(not o.refused for o in found.values()) == ANSWERED[benchmark]


def test_the_table_is_written(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--update-benchmarks"):
        assert TABLE.read_text(encoding="utf-8").startswith(head())
        return
    assert "CI" not in os.environ
    parts = [head()]
    for benchmark in BENCHMARKS:
        folder: Path = request.getfixturevalue(f"{benchmark.name}_folder")
        data = world.of_files(benchmark.name, folder)
        parts += [f"\n## {benchmark.title}\n\n", HEADING]
        parts += [f"{line(benchmark, n, of(benchmark, n, data))}\n" for n in benchmark.queries]
    TABLE.write_text("".join(parts), encoding="utf-8")


def of(benchmark: Benchmark, number: str, data: World) -> Outcome:
    """What becomes of a query, found out once."""
    query = benchmark.queries[number]
    if query not in _FOUND:
        _FOUND[query] = outcome(query, data)
    return _FOUND[query]


_FOUND: dict[Statement, Outcome] = {}


def head() -> str:
    """What stands above the tables: how many queries are answered, and how many rightly aren't."""
    lines = [ABOUT]
    for benchmark in BENCHMARKS:
        right = sum(len(r.queries) for r in benchmark.refusals if r.right)
        count = len(benchmark.queries)
        owed = count - ANSWERED[benchmark] - right
        lines.append(
            f"| {benchmark.title} | {count} | {ANSWERED[benchmark]} | {right} | {owed} |\n"
        )
    return "".join(lines)


def line(benchmark: Benchmark, number: str, found: Outcome) -> str:
    """The row of the table for one query."""
    refusal = benchmark.refusal(number)
    if found.refused:
        why = "not recorded" if refusal is None else refusal.why
        owed = "" if refusal is None or refusal.right else "still "
        cells = (f"{owed}refused {found.refused}", "", why)
    elif not found.releases:
        cells = ("exact: it reads public tables only", "", found.compared)
    else:
        cells = ("answered", str(found.releases), found.wrong or found.compared)
    return f"| {number} | {' | '.join(cells)} |"
