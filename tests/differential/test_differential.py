"""Without noise and with limits that don't bind, answers are DuckDB's own, over clean data.

Compared are the groups that have rows: enumerated groups without any are left out before HAVING,
ORDER BY, windows and joins see them, and a second test says what they hold when they are there.
Where an outer join keeps public rows DuckDB has those groups too, and they stay.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
import sqlglot
from differential import world
from differential.agreement import disagreement
from differential.classes import LISTS_INDIVIDUALS, classes
from differential.deviation import documented, marks
from differential.exact_answer import exact_answer, prepared, released_tables
from differential.statement import Statement, analytic, noted, tpch, written
from differential.world import World
from neighbor_search.share import in_turn
from sqlglot import exp

from dpsql.plan.bounded_release.estimator import LinearEstimator
from dpsql.session.compile.compiled import CompiledStatement

_OF_OUR_OWN = re.compile(r"\bdp_\w+\(|^\s*(?:SUGGEST|DECIDE|ALERT)\b", re.IGNORECASE)
"""What a noisy answer has, and DuckDB's hasn't."""

_APART = frozenset({"school", "works", "registry", "polls", "surveys"})
"""Fixtures with views, several schemas, or columns of other types than are declared; and those
whose rows are sampled, scaled or resized before they are asked about.

No table of the tests has these; tests/session compares them with DuckDB over real files.
"""


def accepted() -> Iterator[Statement]:
    """Every query of the corpora that is answered, and that DuckDB knows how to answer."""
    yield from (
        s
        for s in noted()
        if s.schema not in _APART
        and not s.name.startswith("note randomized_response:")  # estimates over what was true
        and not _OF_OUR_OWN.search(s.sql)
    )
    yield from (s for number, s in tpch().items() if number not in LISTS_INDIVIDUALS)
    yield from (s for number, s in analytic().items() if not classes()[number].sqlstate)
    yield from written()


def parameters(*without: str, share: int = 1) -> list[object]:
    """The accepted queries that bear none of the marks `without`; one in `share` in every run."""
    kept = (s for s in accepted() if not marks(s) & set(without))
    return in_turn(((s.name, (s,)) for s in kept), share)


@pytest.fixture
def data(statement: Statement, request: pytest.FixtureRequest) -> World:
    if statement.schema != "tpch":
        return world.generated(statement.schema)
    folder: Path = request.getfixturevalue("tpch_folder")
    return world.of_files("tpch", folder)


def test_the_corpora_are_large() -> None:
    assert len({(s.schema, s.sql) for s in accepted()}) >= 300
    assert all(marks(s) <= documented().keys() for s in accepted())


_OTHERWISE = ("raises", "clock", "far", "wide", "chance", "signs")
"""Marks of statements with another answer than DuckDB's, as deviations.yaml says why."""


@pytest.mark.parametrize("statement", parameters(*_OTHERWISE, share=4))
def test_an_answer_without_noise_is_duckdbs(statement: Statement, data: World) -> None:
    known = marks(statement)
    ours = exact_answer(ready(statement, data), data, empty_groups="keeps" in known)
    theirs = data.connection.sql(_as_duckdb_has_it(statement.sql)).fetchall()
    if any(r.step.bounded.contributions.cell_choices for r in ready(statement, data).releases):
        # A chosen value is the middle of a cell: tests/release has its law.
        assert len(ours.rows) == len(theirs)
        return
    ordered = sqlglot.parse_one(statement.sql, dialect="duckdb").args.get("order") is not None
    assert not disagreement(
        ours.rows,
        theirs,
        ours.slack,
        order=ordered and "ties" not in known,
        nothing="nothing" in known,
    )


@pytest.mark.parametrize("statement", parameters("raises", "clock", "far", "chance", share=7))
def test_columns_are_named_and_typed_as_duckdb_does(statement: Statement, data: World) -> None:
    bound = ready(statement, data).statement
    sql = f"DESCRIBE {_as_duckdb_has_it(statement.sql)}"
    theirs = data.connection.sql(sql).fetchall()
    assert [str(column.type) for column in bound.columns] == [row[1] for row in theirs]
    if "names" not in marks(statement):
        assert [*map(_spelled, bound.names)] == [_spelled(row[0]) for row in theirs]


@pytest.mark.parametrize("statement", parameters(share=7))
def test_groups_without_rows_appear_and_hold_nothing(statement: Statement, data: World) -> None:
    known = ready(statement, data)
    full = released_tables(known, data, empty_groups=True)
    found = released_tables(known, data)
    for release in known.releases:
        bounded = release.step.bounded
        names = [f"c{key.column.id}" for key in bounded.contributions.keys]
        if not names or bounded.min_units is not None:
            continue  # what reads it takes groups for rows, and has none that may be empty
        sums = [
            f"c{o.column.id}" for o in bounded.outputs if isinstance(o.estimator, LinearEstimator)
        ]
        groups = _by_key(found[release.name], names, sums)
        every = _by_key(full[release.name], names, sums)
        assert {key: row for key, row in every.items() if key in groups} == groups
        assert not any(any(row) for key, row in every.items() if key not in groups)
        if bounded.partition_count_index is None:
            assert len(every) == math.prod(len(d.cells) for d in bounded.contributions.domains)


def ready(statement: Statement, data: World) -> CompiledStatement:
    """`statement` prepared, once for all that is asked of it."""
    if statement not in _READY:
        _READY[statement] = prepared(statement.sql, data)
    return _READY[statement]


_READY: dict[Statement, CompiledStatement] = {}


def _as_duckdb_has_it(sql: str) -> str:
    """BI tools send PostgreSQL's to_timestamp(text, format), which DuckDB hasn't.

    Nor has it one table in brackets, nor convert_timezone(); of the notes' moments its own zones
    have the same rules.
    """
    known = re.sub(r"TO_TIMESTAMP\(('[^']*'), '[^']*'\)", r"TIMESTAMP \1", sql)
    known = re.sub(r"JOIN \((\w+ \w+)\)", r"JOIN \1", known)
    if "convert_timezone" not in known:
        return known
    tree = sqlglot.parse_one(known, dialect="duckdb")
    return tree.transform(_by_zones_of_duckdb).sql("duckdb")


def _by_zones_of_duckdb(node: exp.Expr) -> exp.Expr:
    if not isinstance(node, exp.ConvertTimezone):
        return node
    moment = exp.cast(node.args["timestamp"], "TIMESTAMP")
    there = exp.Anonymous(this="timezone", expressions=[node.args["source_tz"], moment])
    return exp.Anonymous(this="timezone", expressions=[node.args["target_tz"], there])


def _by_key(
    table: pa.Table, names: list[str], sums: list[str]
) -> dict[tuple[object, ...], tuple[object, ...]]:
    keys = list(zip(*(table.column(name).to_pylist() for name in names), strict=True))
    rows = [tuple(row[name] for name in sums) for row in table.select(sums).to_pylist()]
    assert len(set(keys)) == len(keys)
    return dict(zip(keys, rows or [()] * len(keys), strict=True))


def _spelled(name: str) -> str:
    """An expression without an alias is called by its text; DuckDB prints its own tree's."""
    text = re.sub(r"\s|\"|ELSE NULL", "", name).replace("count_star()", "count(*)")
    return re.sub(r"[()]", "", text).casefold()
