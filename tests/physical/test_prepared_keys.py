"""Keys that aren't listed, and months, in two parts: every way finds the same integers."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

import pytest
from data.database import attached
from fuzz.ways import Database, Outcome, Proofs, Way, database, without_zeros
from neighbor_search.share import in_turn
from neighbor_search.sidecar import all_within_bounds
from physical.strategies import by_plan

from dpsql.audit.databases.unit_ownership import Rows, Unit, units_of_rows, without
from dpsql.audit.sensitivity.bound_check import violations
from dpsql.bounding.options import ContributionLimits
from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.engine.sidecar import file
from dpsql.physical.modifier.clamp_elimination import OUT_OF_RANGE_TYPE
from dpsql.physical.strategy.count_units_first import CountUnitsFirst
from dpsql.physical.strategy.split_by_contribution import SplitByContribution
from dpsql.physical.strategy.unit_bits import MAX_BIT, UnitBits, number_of_bits
from dpsql.plan.expression import Column
from dpsql.schema.load.load import load_schema
from dpsql.schema.model import Schema
from dpsql.structs import replace

SCHEMA = """
dataset: trips
source: trips.duckdb
units:
  person: {table: people, key: person}
tables:
  people:
    key: person
    unit: person
    columns:
      person: {type: bigint}
  trips:
    key: trip
    unit: {column: person, references: people.person}
    limits: {groups: 4, rows_per_group: 3}
    columns:
      trip: {type: bigint}
      person: {type: bigint}
      town: {type: varchar}
      way: {type: varchar}
      km: {type: integer, bounds: [0, 10]}
      day: {type: date, bounds: [2024-01-01, 2024-12-31]}
budget: {epsilon: 3, delta: 1.0e-6, accounting: zcdp}
"""

TOWNS = ("Bonn", "Trier", None, "Ulm", "Köln")
KM = (3, -7, 10, 50, None, 0)
DAYS = (
    *(dt.date(2024, 1, 31), dt.date(2024, 1, 1), None, dt.date(2024, 12, 31), dt.date(2024, 2, 1)),
    *(
        dt.date(2023, 12, 31),
        "infinity",
        "5881580-07-10",
        "290309-12-22 (BC)",
        dt.date(2024, 2, 29),
    ),
)

SPLIT = [
    "SELECT town, way, count(*), sum(km), sum(3 - km) FROM trips GROUP BY 1, 2",
    "SELECT town, way, sum(km) FROM trips WHERE km > 2 GROUP BY 1, 2",
    """SELECT town, way, sum(2 * km) FILTER (WHERE town < 'T'), sum(3 - km)
    FROM trips GROUP BY 1, 2""",
    """SELECT town, way, avg(km), avg(km) FILTER (WHERE way <> 'bus'), sum(3 - km)
    FROM trips GROUP BY 1, 2""",
    "SELECT town, count(DISTINCT person), avg(km) FROM trips WHERE km > 2 GROUP BY 1",
    "SELECT town, count(*), median(km) FROM trips GROUP BY 1",
    "SELECT date_trunc('month', day), count(*), sum(km) FROM trips GROUP BY 1",
]
OTHERS = [
    "SELECT date_trunc('month', day), town, count(*) FROM trips GROUP BY 1, 2",
    "SELECT date_trunc('month', day), sum(km) FROM trips WHERE km > 2 GROUP BY 1",
    "SELECT date_trunc('month', day), median(km) FROM trips GROUP BY 1",
    "SELECT date_trunc('month', day), count(DISTINCT person) FROM trips GROUP BY 1",
]
LONE = [
    "SELECT km, count(DISTINCT person), sum(km) FROM trips WHERE town < 'T' GROUP BY 1",
    "SELECT way, km, count(*), count(DISTINCT person) FROM trips WHERE day IS NULL GROUP BY 1, 2",
]
TWO_MONTHS = """SELECT km, count(DISTINCT person), sum(km) FROM trips
WHERE day >= DATE '2024-01-31' AND day < DATE '2024-03-01' GROUP BY 1"""

PERSONS = {9: MAX_BIT, 10: MAX_BIT + 1, 12: -12}
"""The last one that has a bit, and ones that have none."""


def rows() -> Rows:
    """Of person p 2p trips, to p towns or fewer: no limit binds the first, all bind the twelfth."""
    trips = [
        (
            100 * person + n,
            person,
            TOWNS[n * n % min(person, 5)],
            (None, "bus", "foot")[n % (1 + person % 3)],
            KM[(n + person) % 6],
            DAYS[(n // 2 + person) % 10] if person % 2 else DAYS[n % 3],
        )
        for person in range(1, 13)
        for n in range(2 * person)
    ]
    # Twelve months in four quarters, and rows of one group within bounds and beyond.
    trips += [(1300 + m, 13, "Bonn", "bus", 3, dt.date(2024, m, 15)) for m in range(1, 13)]
    trips += [(1400 + n, 14, "Ulm", "bus", km, None) for n, km in enumerate((3, 50, None))]
    # Two rows of a value, which no limit binds.
    trips += [(1500 + n, 15, "Bonn", "bus", 3, None) for n in range(2)]
    # One row of each of four values, two in each of two months.
    trips += [(1600 + n, 16, "Bonn", "bus", 1 + n, DAYS[n % 2 * 4]) for n in range(4)]
    nobody = (1, None, "Bonn", "bus", 3, None)
    people: list[tuple[object, ...]] = [(PERSONS.get(person, person),) for person in range(1, 17)]
    own = [(trip, PERSONS.get(person, person), *others) for trip, person, *others in trips]
    return {"people": people, "trips": [*own, nobody]}


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Schema:
    path: Path = tmp_path_factory.mktemp("trips") / "schema.yaml"
    path.write_text(SCHEMA, encoding="utf-8")
    return load_schema(path)


@pytest.fixture(scope="module")
def worlds(schema: Schema) -> Iterator[list[Database]]:
    """All rows, and those without one of some persons, each with a sidecar.

    All but the first are told that no value is beyond its bounds, so that each row is asked.
    """
    full, holds = rows(), frozenset(schema.tables)
    owned = units_of_rows(schema, full)
    persons = sorted({unit for own in owned["people"] for unit in own}, key=repr)
    lacking = [without(full, owned, frozenset[Unit]({unit})) for unit in persons[::4]]
    with ExitStack() as stack:
        databases = [stack.enter_context(database(schema, full, holds))]
        with patch.object(file, "of_whole_table", all_within_bounds):
            others = (full, *lacking)
            databases += [stack.enter_context(database(schema, own, holds)) for own in others]
        yield databases


@pytest.mark.parametrize(
    "sql", [*LONE, *in_turn(((sql, (sql,)) for sql in [*SPLIT, *OTHERS]), share=2)]
)
def test_all_ways_find_the_same_integers_within_bounds(
    schema: Schema, worlds: list[Database], sql: str
) -> None:
    proofs = Proofs(schema, {"facts": []}, frozenset(schema.tables))
    for limits in (ContributionLimits(), ContributionLimits(groups=2, rows_per_group=1)):
        found = proofs.ways(sql, limits)
        assert found
        for ways in found:
            plans = [way.release.choice.plan for way in ways]
            is_split = any(isinstance(plan, SplitByContribution) for plan in plans)
            assert is_split or limits.groups or sql not in SPLIT
            outcomes = [[each.found(way) for way in ways] for each in worlds]
            _are_same(ways, outcomes)
            for way, of_worlds in zip(ways, zip(*outcomes, strict=True), strict=True):
                _are_bounded(way, of_worlds)


@pytest.mark.parametrize("sql", LONE)
def test_lone_rows_of_a_listed_integer_are_counted_as_units(
    schema: Schema, worlds: list[Database], sql: str
) -> None:
    proofs = Proofs(schema, {"facts": []}, frozenset(schema.tables))
    compared = 0
    for way in (way for each in proofs.ways(sql, ContributionLimits()) for way in each):
        for candidate in way.release.choice.candidates:
            plan = candidate.plan
            if isinstance(plan, CountUnitsFirst) and plan.value_rows is not None:
                own = replace(way, release=by_plan(way.release, plan))
                for each in worlds:
                    _are_same([way, own], [[each.found(way), each.found(own)]])
                compared += 1
    assert compared


def test_a_unit_of_too_many_rows_in_two_months_is_told_by_one_of_them(tmp_path: Path) -> None:
    path = tmp_path / "schema.yaml"
    path.write_text(SCHEMA.replace("group: 3}", "group: 3, rows: 12}"), encoding="utf-8")
    declared = load_schema(path)
    proofs = Proofs(declared, {"facts": []}, frozenset(declared.tables))
    limits = ContributionLimits(groups=3, rows_per_group=3)
    (ways,) = proofs.ways(TWO_MONTHS, limits)
    counted = [
        replace(way, release=by_plan(way.release, candidate.plan))
        for way in ways
        for candidate in way.release.choice.candidates
        if isinstance(candidate.plan, CountUnitsFirst) and candidate.plan.span is not None
    ]
    assert counted
    with database(declared, rows(), frozenset(declared.tables)) as world:
        every = [*ways, *counted]
        _are_same(every, [[world.found(way) for way in every]])


def test_units_are_counted_beside_sums_without_clamps(schema: Schema) -> None:
    proofs = Proofs(schema, {"facts": []}, frozenset(schema.tables))
    ways = proofs.ways(SPLIT[0], ContributionLimits())
    found = [way.release.choice.plan for each in ways for way in each]
    plans = [plan for plan in found if isinstance(plan, SplitByContribution)]
    assert plans
    assert all(plan.no_clamp is not None for plan in plans)
    by_bits = "; units are counted by their rows, or by bits where keys have few values"
    assert all(by_bits in plan.note for plan in plans)


@pytest.mark.parametrize("told", [0, 1])
@pytest.mark.parametrize("units", ["bigint", "varchar"])
def test_units_have_bits_if_they_are_integers_and_keys_have_few_values(
    told: int, units: str
) -> None:
    """Units 1, -1, 2^21 and that of two rows of each key, by bits or by their rows."""
    names = [1, -1, MAX_BIT, MAX_BIT + 1]
    each = [(unit, key) for unit in names for key in ("a", None)] * 2 + [(2, "a")]
    values = ", ".join(
        f"('{unit}'::{units}, {'NULL' if key is None else repr(key)}, {told}::UTINYINT)"
        for unit, key in each
    )
    bits = UnitBits((Column(1, "many", OUT_OF_RANGE_TYPE),))
    rows = f"(VALUES {values}) AS t (u, g, c1)"
    strings, others = (rendered(part) for part in (bits.strings(), bits.has_none()))
    counted = rendered(number_of_bits())
    with attached() as connection:
        by_bits = connection.execute(
            f"SELECT g, {counted} FROM (SELECT g, {strings} FROM {rows} GROUP BY g) GROUP BY g"
        ).fetchall()
        by_rows = connection.execute(f"SELECT DISTINCT u FROM {rows} WHERE {others}").fetchall()
    if told or units == "varchar":
        assert dict(by_bits) == {"a": 0, None: 0}
        assert len(by_rows) == 5
    else:
        assert dict(by_bits) == {"a": 3, None: 2}
        assert sorted(by_rows) == [(-1,), (MAX_BIT + 1,)]


def _are_same(ways: list[Way], worlds: list[list[Outcome]]) -> None:
    """Ways that draw groups alike have the same outcomes."""
    alike: dict[str, list[int]] = defaultdict(list)
    for number, way in enumerate(ways):
        alike[way.draws].append(number)
    for numbers in alike.values():
        for outcomes in worlds:
            first, *others = [outcomes[number] for number in numbers]
            assert first is not None
            for other in others:
                assert other is not None
                assert list(map(without_zeros, first)) == list(map(without_zeros, other))


def _are_bounded(way: Way, outcomes: Sequence[Outcome]) -> None:
    if not way.release.step.bounded.contributions.statistics:
        return
    full, *lacking = outcomes
    for less in lacking:
        assert full is not None
        assert less is not None
        assert not list(violations(full[0], less[0], way.release, way.release.sensitivity))
