"""No aggregate, join, key or condition of a statement fails on Spark for a hostile row.

All hostile rows are there at once, beside ordinary ones; some units have several of them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import cache
from random import Random

import duckdb
import pyarrow as pa
import pytest
from emit import spark_server
from emit.test_spark_notes import pushed
from functions import hostile
from functions.hostile import MARK, WORLDS, columns
from functions.test_hostile_statements import _releases, always, pairs, session
from neighbor_search.share import values_in_turn

from dpsql.plan.bounded_release.server_query import Salt, ServerStatement
from dpsql.structs import replace

_TOGETHER = 6

TURNS = 160
"""Each run tries one, `-m slow` all of them."""


@cache
def _world() -> str:
    """A session whose tables `rows` and `listed` have the values; of texts, some aren't UTF-8."""
    connection = duckdb.connect(config={"threads": 1})
    declared = [("u", "BIGINT"), *((column, str(kind)) for column, kind in columns())]
    typed = ", ".join(f"{column} {kind}" for column, kind in declared)
    rows = [hostile._ordinary(n) for n in range(6)]
    far = [[3 + n % 5, *hostile._hostile(n)[1:]] for n in range(WORLDS + 1)]
    for table, values in (("listed", rows), ("rows", [*rows, *far])):
        connection.execute(f"CREATE TABLE {table} ({typed})")
        into = f"INSERT INTO {table} VALUES ({', '.join('?' * len(declared))})"
        connection.executemany(into, values)
    tables = spark_server.like(session().schema, connection)
    name = "hostile rows"
    spark_server.create(name, {table: _broken(rows) for table, rows in tables.items()})
    return name


def _broken(table: pa.Table) -> pa.Table:
    """The same, with bytes that aren't UTF-8 in place of a mark."""
    for index, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            texts = [t and t.encode() for t in table.column(index).to_pylist()]
            marked = [t and t.replace(MARK.encode(), b"\xff\xc3\xfe") for t in texts]
            bytes_ = pa.array(marked, pa.binary())
            own = pa.Array.from_buffers(pa.string(), len(bytes_), bytes_.buffers())
            table = table.set_column(index, field, own)
    return table


def _statements(asked: Sequence[str]) -> Iterator[tuple[str, ServerStatement]]:
    for sql in asked:
        for release in _releases(sql):
            query = pushed(release)
            if query is not None:
                has_totals = bool(release.step.bounded.contributions.statistics)
                for each in (*((query.totals,) * has_totals), *query.histograms):
                    yield sql, each


def _failing(some: Sequence[tuple[str, ServerStatement]], name: str) -> Iterator[str]:
    """Those that fail: all at once, and one by one where that does."""
    try:
        texts = [each for _, each in some]
        spark_server.run(texts[0] if len(texts) == 1 else _together(texts), name)
    except Exception as error:  # noqa: BLE001 - whatever the server says
        if len(some) == 1:
            yield f"{some[0][0]}: {str(error)[:300]}"
            return
        for one in some:
            yield from _failing([one], name)


def _together(some: Sequence[ServerStatement]) -> ServerStatement:
    """Statements side by side, each with all of its columns; they have no parameters but salts."""
    arms = []
    for each in some:
        columns_ = ", ".join(f"`{column}`" for column, _ in each.columns)
        arms.append(f"SELECT MAX(XXHASH64({columns_})) AS h FROM ({each.sql}) AS t")
    salts = tuple(dict.fromkeys(p for each in some for p in each.parameters))
    return replace(some[0], sql=" UNION ALL ".join(arms), parameters=salts)


def _tried(asked: Sequence[str]) -> None:
    name = _world()
    every = list(_statements(asked))
    # Tables of domains have numbers of their own in each statement.
    alike = [(sql, each) for sql, each in every if set(each.parameters) <= {Salt()}]
    others = [one for one in every if one not in alike]
    parts = [alike[n : n + _TOGETHER] for n in range(0, len(alike), _TOGETHER)]
    parts += [[each] for each in others]
    faults = [fault for part in parts for fault in _failing(part, name)]
    sys.stdout.write(f"{len(every)} statements of hostile rows\n")
    assert not faults, f"{len(faults)} fail:\n" + "\n".join(faults)


@pytest.mark.bounds
@pytest.mark.parametrize("turn", values_in_turn(range(TURNS), TURNS))
def test_no_statement_fails(turn: int) -> None:
    _tried(always()[turn::TURNS])


@pytest.mark.slow
def test_no_statement_fails_at_length() -> None:
    _tried([*always(), *pairs(Random("Spark"), 0.02)])
