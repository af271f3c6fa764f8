"""Tables of empirical global sensitivities, known from teaching, by the audit's own search.

Each universe is a list of known values, or n copies of each value of a range; databases have n
rows, neighbours k more, k fewer, or k others. All databases are asked in one statement.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dpsql.audit.databases.database_batch import DatabaseBatch
from dpsql.audit.databases.exhaustive_databases import Database, databases, largest
from dpsql.audit.databases.unit_ownership import Rows
from dpsql.schema.load.load import load_schema
from dpsql.schema.model import Neighbors

GOLDEN = Path(__file__).parent.parent.parent / "fixtures" / "founding" / "golden.json"
TABLES: dict[str, dict[str, Any]] = {
    name: figure
    for name, figure in json.loads(GOLDEN.read_text(encoding="utf-8")).items()
    if name.startswith("empirical.")
}

QUERY = {
    "mean": "avg(x)",
    "median": "median(x)",
    "count": "count(*)",
    "sum": "sum(x)",
    "std": "stddev_pop(x)",
    "var": "var_pop(x)",
    "p25": "quantile_cont(x, 0.25)",
    "p75": "quantile_cont(x, 0.75)",
    "p90": "quantile_cont(x, 0.9)",
}

SCHEMA = """
dataset: numbers
source: numbers.duckdb
tables:
  numbers: {unit: row, columns: {x: {type: double, bounds: [0, 20]}}}
budget: {epsilon: 1}
"""

SCHOOL_YEAR = (1, 2, 2, 2, 5, 5, 7, 8, 9, 9)
ABSENCE_DAYS = (1, 2, 3, 4, 5, 6, 7, 8, 15, 20)


@pytest.fixture(scope="module")
def values(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What each query answers on every database over a universe, of these sizes."""
    path = tmp_path_factory.mktemp("numbers") / "schema.yaml"
    path.write_text(SCHEMA, encoding="utf-8")
    schema = load_schema(path)

    @cache
    def known(universe: tuple[int, ...], sizes: range) -> list[dict[Database, Any]]:
        distinct = sorted(set(universe))
        copies = [universe.count(value) for value in distinct]
        pieces: list[Rows] = [{"numbers": [(value,)]} for value in sorted(universe)]
        starts = [sum(copies[:place]) for place in range(len(copies))]
        found = [database for size in sizes for database in databases(copies, size)]
        members = [
            [start + n for start, own in zip(starts, database, strict=True) for n in range(own)]
            for database in found
        ]
        worlds = DatabaseBatch(schema, {}, pieces, members)
        rows = worlds.run(f"SELECT {', '.join(QUERY.values())} FROM numbers")
        return [
            {d: row[0][place] for d, row in zip(found, rows, strict=True)}
            for place in range(len(QUERY))
        ]

    return known


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_reproduced(name: str, values: Any) -> None:
    given, expected = TABLES[name]["given"], TABLES[name]["value"]
    n, query = given["n"], name.rpartition(".")[2]
    universe = given.get("universe") or [value for value in given["values"] for _ in range(n)]
    apart = given["k"]
    found = values(tuple(sorted(universe)), range(n - max(apart), n + max(apart) + 1))
    value = found[list(QUERY).index(query)].get
    copies = [universe.count(v) for v in sorted(set(universe))]
    for place, k in enumerate(apart):
        # Adding k rows to n of them is removing k from n + k.
        removed, _ = largest(copies, [n], k, Neighbors.ADD_REMOVE, value)
        added, _ = largest(copies, [n + k], k, Neighbors.ADD_REMOVE, value)
        changed, _ = largest(copies, [n], k, Neighbors.CHANGE_ONE, value)
        assert max(removed, added) == pytest.approx(expected["unbounded"][place], abs=1e-9)
        assert changed == pytest.approx(expected["bounded"][place], abs=1e-9)
        if "add_only" in expected:
            assert added == pytest.approx(expected["add_only"][place], abs=1e-9)
            assert removed == pytest.approx(expected["remove_only"][place], abs=1e-9)


@pytest.mark.parametrize(
    ("query", "unbounded", "bounded"),
    [("p25", 3.75, 2.75), ("p75", 5.25, 3.75), ("p90", 3.2, 2.0)],
)
def test_a_percentile_of_the_school_years_is_reproduced(
    query: str, unbounded: float, bounded: float, values: Any
) -> None:
    found = values(SCHOOL_YEAR, range(2, 11))
    value = found[list(QUERY).index(query)].get
    copies = [SCHOOL_YEAR.count(v) for v in sorted(set(SCHOOL_YEAR))]
    removed, _ = largest(copies, [6], 1, Neighbors.ADD_REMOVE, value)
    added, _ = largest(copies, [7], 1, Neighbors.ADD_REMOVE, value)
    changed, where = largest(copies, [6], 1, Neighbors.CHANGE_ONE, value)
    assert max(removed, added) == pytest.approx(unbounded, abs=1e-9)
    assert changed == pytest.approx(bounded, abs=1e-9)
    assert where is not None


def test_sums_change_by_the_largest_value_or_by_the_range(values: Any) -> None:
    for universe in (SCHOOL_YEAR, ABSENCE_DAYS):
        value = values(universe, range(2, 11))[list(QUERY).index("sum")].get
        copies = [universe.count(v) for v in sorted(set(universe))]
        assert largest(copies, [6], 1, Neighbors.ADD_REMOVE, value)[0] == max(universe)
        change = largest(copies, [6], 1, Neighbors.CHANGE_ONE, value)[0]
        assert change == max(universe) - min(universe)
