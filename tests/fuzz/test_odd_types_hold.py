"""No row changes a statistic by more than its bound, or fails a statement, whatever its type holds.

The types' values reach the ends of what a sum, DuckDB or Python has. Of each aggregate the integers
are compared with those of one row more, of any of the values.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest
from data.database import attached
from neighbor_search.share import values_in_turn
from notes.exact import raw_groups

from dpsql.engine.duckdb.lockdown import configure as fix_meaning
from dpsql.errors import Error
from dpsql.schema.load.load import load_schema
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.session import Session

SCHEMA = """
dataset: odd_types
source: odd.duckdb
tables:
  rows:
    unit: row
    columns:
      x: {{type: "{kind}", bounds: [{low}, {high}]}}
      y: {{type: integer, bounds: [0, 4]}}
budget: {{epsilon: 1, delta: 1.0e-6}}
"""

AGGREGATES = (
    "sum(x)",
    "avg(x)",
    "var_samp(x)",
    "count(DISTINCT x)",
    "median(x)",
    "max(x)",
    "corr(x, y)",
    "sum(x * y)",
    "sum(x + x)",
    # What both arguments have in common may overflow.
    "corr(x + x, (x + x) + y)",
    "sum(x) FILTER (WHERE y > 1)",
)


@dataclass(frozen=True)
class Kind:
    """A type with its declared bounds, and values within them and far beyond."""

    name: str
    low: str
    high: str
    values: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name} in [{self.low}, {self.high}]"


DUST = "0.000000000000000000000001"
KINDS = (
    Kind("decimal(38,30)", "0", DUST, (DUST, "0", "-99999999", "99999999.5")),
    Kind("decimal(38,30)", "-1", "1", ("-1", "1", f"0.{'3' * 30}", "99999999")),
    Kind(
        "decimal(38,38)", "0", "0.5", ("0.5", f"0.{'9' * 38}", f"-0.{'9' * 38}", f"0.{'0' * 37}1")
    ),
    Kind("decimal(38,0)", "-1" + "0" * 30, "1" + "0" * 30, ("1" + "0" * 30, "9" * 38, "7")),
    Kind("decimal(18,17)", "-9", "9", ("9", f"-9.{'9' * 17}", f"0.{'0' * 16}1")),
    Kind("decimal(18,4)", "0", "1000000", ("1000000", f"{'9' * 14}.9999", f"-{'9' * 14}")),
    Kind("hugeint", "-1" + "0" * 30, "1" + "0" * 30, ("1" + "0" * 30, str(2**127 - 1), "7")),
    Kind("ubigint", "0", str(2**64 - 1), (str(2**64 - 1), "0", "1")),
    Kind("bigint", str(-(2**63)), str(2**63 - 1), (str(-(2**63)), str(2**63 - 1), "1")),
    Kind("double", "-1e270", "1e270", ("1e270", "-1.7e308", "nan", "inf", "-inf", "5e-324")),
    Kind("double", "0", "1e-300", ("1e-300", "5e-324", "1", "nan", "inf")),
    Kind("float", "-3e38", "3e38", ("3e38", "-3e38", "nan", "-inf", "1e-40")),
    Kind(
        "date",
        '"0001-01-01"',
        '"9999-12-31"',
        ("9999-12-31", "infinity", "-infinity", "20000-01-01"),
    ),
    Kind(
        "timestamp",
        '"0001-01-01 00:00:00"',
        '"9999-12-31 23:59:59.999999"',
        ("9999-12-31 23:59:59.999999", "infinity", "-infinity", "4000-01-01 (BC) 00:00:00"),
    ),
)


@pytest.fixture(params=values_in_turn(KINDS, 3))
def kind(request: pytest.FixtureRequest) -> Kind:
    found = request.param
    assert isinstance(found, Kind)
    return found


@pytest.fixture
def releases(kind: Kind, tmp_path: Path) -> Iterator[list[tuple[str, CompiledRelease]]]:
    """What is answered of the kind: some aggregates refuse some types."""
    with attached(tmp_path / "odd.duckdb") as made:
        made.execute(f"CREATE TABLE rows (x {kind.name}, y INTEGER)")
    text = SCHEMA.format(kind=kind.name, low=kind.low, high=kind.high)
    (tmp_path / "schema.yaml").write_text(text, encoding="utf-8")
    session = Session(load_schema(tmp_path / "schema.yaml"))
    yield [(a, r) for a in AGGREGATES for r in prepared(session, f"SELECT {a} FROM rows")]
    session.close()


def prepared(session: Session, sql: str) -> tuple[CompiledRelease, ...]:
    try:
        return session.compile(sql).releases
    except Error:
        return ()


def test_no_row_of_any_type_passes_a_bound(
    kind: Kind, releases: list[tuple[str, CompiledRelease]]
) -> None:
    assert len(releases) >= 3
    with attached() as connection:
        fix_meaning(connection)
        connection.execute(f"CREATE TABLE rows (x {kind.name}, y INTEGER)")
        # Sums pass a power of ten where one row is added to so many.
        for beside, many in itertools.product(kind.values[:2], (9, 99)):
            connection.execute("DELETE FROM rows")
            connection.execute(f"INSERT INTO rows SELECT '{beside}', 4 FROM range({many})")
            before = [integers(connection, release) for _, release in releases]
            for value in (*(f"'{value}'" for value in kind.values), "NULL"):
                connection.execute(f"INSERT INTO rows VALUES ({value}, 4)")
                for (aggregate, release), old in zip(releases, before, strict=True):
                    changes = zip(integers(connection, release), old, strict=True)
                    moved = [abs(new - was) for new, was in changes]
                    bounds = release.sensitivity.per_group
                    told = f"{aggregate}: {value} beside {many} of {beside}: {moved}, not {bounds}"
                    assert all(m <= b for m, b in zip(moved, bounds, strict=True)), told
                connection.execute("DELETE FROM rows WHERE rowid = (SELECT max(rowid) FROM rows)")


def integers(connection: duckdb.DuckDBPyConnection, release: CompiledRelease) -> list[int]:
    """The statistics of the only group; choices are among cells, which have to be counted, too."""
    number = len(release.step.bounded.contributions.statistics)
    found = raw_groups(connection, release, "1").totals.to_pylist()
    return [int(row[f"s{place}"]) for row in found for place in range(number)]
