"""Rows that stored numbers draw of a unit: as many as may count, whatever rows others have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from fuzz.ways import Proofs, Way, database
from neighbor_search.sidecar import LIMITS, has_numbered_rows, private, proved

from dpsql.audit.databases.unit_ownership import Rows
from dpsql.bounding.options import ContributionLimits
from dpsql.schema.load.load import load_schema
from dpsql.schema.model import Schema

SCHEMA = """
dataset: travel
source: travel.duckdb
units: {person: {table: people, key: person}}
tables:
  people:
    key: person
    unit: person
    columns: {person: {type: bigint}}
  trips:
    unit: {column: person, references: people.person}
    limits: {groups: 2, rows_per_group: 3}
    columns:
      person: {type: bigint}
      town: {type: varchar}
      way: {type: varchar, values: [bus, foot, train]}
      km: {type: integer, bounds: [0, 10]}
budget: {epsilon: 3, delta: 1.0e-6, accounting: zcdp}
"""

WIDE = "      code: {type: hugeint, references: codes.code}"

LIMIT = ContributionLimits(groups=2, rows_per_group=3)

Trip = tuple[int, str | None, str | None, int | None]

TRIPS: Sequence[Trip] = [
    # One person has no value at all, one some, one is beyond bounds, and one has rows alike.
    *((1, "Ulm", "bus", km) for km in (None,) * 5),
    *((2, "Ulm", "bus", km) for km in (None, 1, None, 2, 3, None, 4, 5)),
    *((2, town, "foot", None if n % 2 else n) for n in range(8) for town in ("Bonn", "Trier")),
    *((3, None, None, km) for km in (99, -99, 1, 2, None)),
    *((4, "Ulm", "bus", 7) for _ in range(6)),
    *((5, "Ulm", "train", n) for n in range(10)),
]

BY_COLUMN = ["SELECT town, median(km) FROM trips GROUP BY 1"]
BY_COLUMN += ["SELECT way, median(km), quantile_disc(km, 0.1) FROM trips GROUP BY 1"]


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Schema:
    path: Path = tmp_path_factory.mktemp("travel") / "schema.yaml"
    path.write_text(SCHEMA, encoding="utf-8")
    return load_schema(path)


@pytest.mark.parametrize("sql", BY_COLUMN)
def test_what_counts_of_a_person_is_the_same_with_others_and_alone(
    schema: Schema, sql: str
) -> None:
    proofs = Proofs(schema, {"facts": []}, frozenset(schema.tables))
    (ways,) = proofs.ways(sql, LIMIT)
    numbered = [way for way in ways if way.draws_rows == "once"]
    assert {"prepared", "prepared, by PerUnit"} <= {way.name for way in numbered}
    note = numbered[0].release.choice.plan.note
    assert "number with" in note
    assert "<= 3" in note
    key = 1 if "town" in sql else 2
    together = [_counts(schema, TRIPS, way) for way in numbered]
    alone = Counter[tuple[object, ...]]()
    for person in {trip[0] for trip in TRIPS}:
        trips = [trip for trip in TRIPS if trip[0] == person]
        found = _counts(schema, trips, numbered[0])
        alone += found
        values = Counter(trip[key] for trip in trips if trip[3] is not None)
        for choice in range(len(numbered[0].release.step.query.histograms)):
            rows = Counter[object]()
            for (of, *group, _), count in found.items():
                if of == choice:
                    rows[_shown(group, numbered[0])] += count
            assert len(rows) == min(2, len(values))
            assert rows == {group: min(3, values[group]) for group in rows}  # type: ignore[index]
    assert together == [alone] * len(together)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT ward, median(cost) FROM visits WHERE cost > 1 GROUP BY 1",
        "SELECT ward, median(cost) FILTER (WHERE cost > 1) FROM visits GROUP BY 1",
        "SELECT ward, median(cost + 1) FROM visits GROUP BY 1",
        "SELECT ward, doctor_id, median(cost) FROM visits GROUP BY 1, 2",
        "SELECT doctor_id, mode(ward) FROM visits GROUP BY 1",
        "SELECT sex, median(cost) FROM visits JOIN patients USING (patient_id) GROUP BY 1",
        "SELECT median(cost) FROM visits",
    ],
)
def test_other_rows_than_all_by_one_column_are_drawn_by_hashes(sql: str) -> None:
    (found,) = proved(sql, "clinic", private("clinic"), LIMITS["narrow"], ready=True).releases
    assert not has_numbered_rows(found)


def test_wide_integers_that_are_no_keys_are_one_group_whatever_is_stored(tmp_path: Path) -> None:
    # 10^38 + 1 and what follows it are read as no key: three rows of a unit, of which one counts.
    path = tmp_path / "schema.yaml"
    codes = """
  codes:
    key: code
    unit: {column: person, references: people.person}
    columns: {code: {type: hugeint}, person: {type: bigint}}
"""
    wide = SCHEMA.replace("      town: {type: varchar}", WIDE).replace(
        "\nbudget:", f"{codes}budget:"
    )
    path.write_text(wide, encoding="utf-8")
    found = load_schema(path)
    first = 10**38 + 1
    trips: list[tuple[object, ...]] = [(1, first + n, "bus", 3) for n in range(3)]
    trips.append((2, first, "bus", 3))
    rows: Rows = {
        "people": [(1,), (2,)],
        "codes": [(first + n, 1) for n in range(3)],
        "trips": trips,
    }
    limits = ContributionLimits(groups=2, rows_per_group=1)
    proofs = Proofs(found, {"facts": []}, frozenset(found.tables))
    (ways,) = proofs.ways("SELECT code, count(*) FROM trips GROUP BY 1", limits)
    assert "prepared" in {way.name for way in ways}
    with database(found, rows, frozenset(found.tables)) as world:
        assert [world.found(way) for way in ways] == [({(None,): (2,)},)] * len(ways)


def _counts(schema: Schema, trips: Sequence[Trip], way: Way) -> Counter[tuple[object, ...]]:
    """The rows in each cell, by the number of the choice, the group and the cell."""
    rows: Rows = {"people": [(n,) for n in range(7)], "trips": list(trips)}
    with database(schema, rows, frozenset(schema.tables)) as world:
        outcome = world.found(way)
    assert outcome is not None
    histograms = outcome[bool(way.release.step.bounded.contributions.statistics) :]
    return Counter(
        {
            (number, *key): count
            for number, histogram in enumerate(histograms)
            for key, (count,) in histogram.items()
        }
    )


def _shown(group: Sequence[object], way: Way) -> object:
    """The value of the key, which is numbered where it is listed."""
    (value,) = group
    domains = way.release.step.query.domains
    return domains[0].cells[value][0] if domains else value  # type: ignore[call-overload]
