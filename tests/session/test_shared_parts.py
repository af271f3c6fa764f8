"""Releases that differ in constants have the digests that each has by itself."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from unittest import mock

import pytest
from data.database import attached

from dpsql.plan.operator import Scan
from dpsql.plan.traversal import operators
from dpsql.session.digest.canonical_digest import DigestBuilder, release_digest
from dpsql.session.digest.codec import parted
from dpsql.session.digest.shared_parts import SharedParts, _Reader, _Recorder
from dpsql.session.session import Session
from dpsql.structs import replace

SCHEMA = """\
dataset: people
source: people.duckdb
units: {person: {table: people, key: id}}
tables:
  people:
    key: id
    unit: person
    columns:
      id: {type: integer}
      age: {type: integer, bounds: [0, 120]}
      dept: {type: varchar, values: [a, b]}
      pay: {type: "decimal(10,2)", bounds: [0, 1000]}
  visits:
    unit: {column: id, references: people.id}
    limits: {groups: 2, rows_per_group: 3}
    columns:
      id: {type: integer}
      day: {type: integer, bounds: [0, 365]}
      ward: {type: varchar, values: [x, y]}
budget: {epsilon: 64, accounting: pure}
"""

QUERIES = {
    "of rows": "SELECT dept, count(*), avg(pay) FROM people WHERE age > {} GROUP BY dept",
    "of a column that the constant is a part of": (
        "SELECT ward, sum(n) FROM (SELECT id, ward, count(*) AS n FROM visits WHERE day > {}"
        " GROUP BY id, ward) AS v GROUP BY ward"
    ),
    "of rows that are joined": (
        "SELECT ward, sum(pay) FROM visits JOIN people USING (id) WHERE day > {} GROUP BY ward"
    ),
    "of a number of units": "SELECT dept, count(DISTINCT id) FROM people WHERE age > {} GROUP BY 1",
}


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    with attached(tmp_path / "people.duckdb") as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT i::INTEGER AS id, (i % 121)::INTEGER AS age,"
            " ['a', 'b'][1 + i % 2] AS dept, (i % 1000)::DECIMAL(10,2) AS pay FROM range(500) r(i)"
        )
        connection.execute(
            "CREATE TABLE visits AS SELECT (i % 500)::INTEGER AS id, (i % 366)::INTEGER AS day,"
            " ['x', 'y'][1 + i % 2] AS ward FROM range(900) r(i)"
        )
    path = tmp_path / "schema.yaml"
    path.write_text(SCHEMA, encoding="utf-8")
    return path


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_each_constant_has_the_digest_that_it_has_alone(schema: Path, query: str) -> None:
    shared, read = SharedParts.release_digest, list[str]()

    def compared(self: SharedParts, *release: object) -> str:
        read.append(shared(self, *release))  # type: ignore[arg-type]
        assert read[-1] == release_digest(*release)  # type: ignore[arg-type]
        return read[-1]

    with (
        mock.patch.object(SharedParts, "release_digest", compared),
        closing(Session(schema, epsilon="1/10")) as session,
    ):
        keys = {session.compile(query.format(age)).releases[0].key for age in range(31, 37)}
    assert len(keys) == 6
    assert len(set(read)) > 3


def test_parts_without_a_constant_are_read_once(schema: Path) -> None:
    with closing(Session(schema, epsilon="1/10")) as session:
        release = session.compile(QUERIES["of rows"].format(30)).releases[0]
    bounded = release.step.bounded
    parts, digests = SharedParts(bounded, {}), []
    for read in (release_digest, parts.release_digest):
        with mock.patch(
            "dpsql.session.digest.canonical_digest.parted", side_effect=parted
        ) as called:
            digests.append(read(bounded, {}))
        digests.append(str(called.call_count))
    assert digests[0] == digests[2]
    assert int(digests[3]) < int(digests[1]) / 3


def test_a_part_in_which_a_plan_stands_is_read_each_time(schema: Path) -> None:
    """Two scans of a table are two leaves, even where neither makes a column."""
    with closing(Session(schema, epsilon="1/10")) as session:
        release = session.compile(QUERIES["of rows"].format(30)).releases[0].release
    (scan,) = (part for part in operators(release) if isinstance(part, Scan))
    one, other = ((replace(scan, columns=(), unit=None),) for _ in range(2))
    recorder = _Recorder({})
    recorder.read(one)
    readers = DigestBuilder({}), _Reader({}, recorder.parts)
    plain, shared = ([reader.read(part) for part in (other, one)] for reader in readers)
    assert plain[0] != plain[1]
    assert shared == plain
