"""Groups that are drawn before rows are summed: the same limits, on other groups."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import duckdb
import pyarrow as pa
import pytest
from data.database import attached
from neighbor_search.public_rows import PUBLIC, create_tables
from neighbor_search.share import in_turn
from notes.compiler import prepared, schema_of
from notes.exact import raw_groups
from physical.strategies import by_strategy

from dpsql.audit.databases.unit_ownership import Row
from dpsql.bounding.group_choice import MAX_RANKS
from dpsql.bounding.options import AS_DECLARED, ContributionLimits
from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.emit.sql.identifier import column_ref, table
from dpsql.physical.plan import PhysicalPlan
from dpsql.physical.strategy.cell_window import cell_window, is_in_window
from dpsql.physical.strategy.choose_groups_first import ChooseGroupsFirst
from dpsql.physical.strategy.count_units_first import CountUnitsFirst
from dpsql.physical.strategy.per_unit import PerUnit
from dpsql.plan.bounded_release.bounded_release import ByHash, ByRank, LimitGroups
from dpsql.release.columns.group_keys import domain_table
from dpsql.session.compile.compiled_release import CompiledRelease

SQL = """SELECT extract(month FROM visit_date) AS m, ward, count(*), sum(cost) FROM visits
GROUP BY 1, 2"""

WARDS = ["ER", "ICU", "GP"]

Visit = tuple[int | None, int, str, int]
"""Patient, month, ward, and cost in hundredths, which may be beyond its bounds."""

Groups = dict[tuple[int, int], tuple[int, int]]


@pytest.mark.parametrize(
    ("strategy", "salt", "limits"),
    in_turn(  # five limits: every run tries each of them
        (
            (f"{strategy.__name__}-{salt}-{limits}", (strategy, salt, limits))
            for strategy in (ChooseGroupsFirst, CountUnitsFirst, PerUnit)
            for salt in ("1", "another")
            for limits in ((4, 3, 12), (4, 3, 5), (4, 2, 4), (3, 1, 2), (1, 3, 3))
        ),
        share=3,
    ),
)
def test_the_integers_are_those_of_the_limits_by_hand(
    limits: tuple[int, int, int], salt: str, strategy: type[PhysicalPlan]
) -> None:
    groups, rows_per_group, rows = limits
    declared = ContributionLimits(groups=groups, rows_per_group=rows_per_group, rows=rows)
    release = by_strategy(_release(declared), strategy)
    random = Random(f"{limits} {salt}")
    for busy in (1, 3, 12, 40):
        visits = [_visit(random, patients=6) for _ in range(6 * busy)]
        with attached() as connection:
            found = _found(connection, release, visits, salt)
            assert found == _by_hand(visits, Hashes(connection, salt), limits)
        assert any(map(any, found.values()))


def test_a_cell_for_each_place_at_most() -> None:
    """52 cells of months and wards are drawn, 366 days are not."""
    release = _release()
    assert isinstance(release.step.bounded.limited, LimitGroups)
    assert isinstance(release.step.bounded.limited.limit, ByRank)
    assert isinstance(release.choice.plan, ChooseGroupsFirst)
    (by_day,) = prepared(
        "SELECT visit_date, count(*) FROM visits GROUP BY 1", "clinic", frozenset()
    ).releases
    assert isinstance(by_day.step.bounded.limited, LimitGroups)
    assert isinstance(by_day.step.bounded.limited.limit, ByHash)
    assert not isinstance(by_day.choice.plan, ChooseGroupsFirst)


@pytest.mark.parametrize(
    "asked",
    [
        "count(DISTINCT patient_id)",
        "count(DISTINCT cost)",
        "count(*), median(cost)",
        "count(*), dp_over_limit(count(*))",
    ],
)
def test_what_is_no_sum_over_rows_is_not_drawn(asked: str) -> None:
    sql = f"SELECT extract(month FROM visit_date), {asked} FROM visits GROUP BY 1"
    for release in prepared(sql, "clinic", frozenset()).releases:
        assert not isinstance(release.choice.plan, ChooseGroupsFirst)


@pytest.mark.parametrize("groups", [1, 3, 12, 126, 127])
def test_a_unit_keeps_as_many_groups_that_follow_each_other(groups: int) -> None:
    random = Random(groups)
    everything = range(MAX_RANKS)
    ends: list[Sequence[int]] = [[0], [126], [0, 126], [63, 64], everything]
    drawn = [random.sample(everything, random.randint(1, MAX_RANKS)) for _ in range(200)]
    units = [sorted(own) for own in (*ends, *drawn)]
    with attached() as connection:
        for unit, kept in _kept(connection, units, groups, "1").items():
            assert kept in _runs(units[unit], min(groups, len(units[unit])))


def test_each_group_of_a_unit_is_kept_as_often() -> None:
    """30 groups of 4,000 units: none is farther than six deviations off, 1 run in 10^7."""
    cells, units = range(0, 90, 3), 4_000
    with attached() as connection:
        kept = _kept(connection, [cells] * units, 12, "another")
    counts = Counter(cell for own in kept.values() for cell in own)
    share = 12 / len(cells)
    deviation = (units * share * (1 - share)) ** 0.5
    assert all(abs(counts[cell] - units * share) < 6 * deviation for cell in cells)


def _kept(
    connection: duckdb.DuckDBPyConnection, units: Sequence[Sequence[int]], groups: int, salt: str
) -> dict[int, list[int]]:
    """The cells that each unit keeps, by the emitted SQL."""
    limited = _release().step.bounded.limited
    assert isinstance(limited, LimitGroups)
    rows = [(unit, cell) for unit, own in enumerate(units) for cell in own]
    placed = pa.table({"u": [u for u, _ in rows], "x": pa.array([x for _, x in rows], pa.uint8())})
    connection.register("placed", placed)
    window = rendered(cell_window(limited, table("placed"), column_ref("x"), groups, MAX_RANKS))
    found = connection.execute(
        f"SELECT u, list(x ORDER BY x) FROM placed JOIN ({window}) AS w USING (u)"
        f" WHERE {rendered(is_in_window(column_ref('x'), MAX_RANKS))} GROUP BY u",
        [salt],
    )
    return dict(found.fetchall())


def _runs(cells: Sequence[int], groups: int) -> list[list[int]]:
    """All `groups` of `cells` that follow each other; the first follows the last."""
    twice = [*cells, *cells]
    return [sorted(twice[first : first + groups]) for first in range(len(cells))]


def _release(limits: ContributionLimits = AS_DECLARED) -> CompiledRelease:
    (release,) = prepared(SQL, "clinic", frozenset(), limits=limits).releases
    return release


def _visit(random: Random, patients: int) -> Visit:
    # Small numbers are frequent: some patients have many visits, some groups most of them.
    patient = min(random.randrange(patients + 1), random.randrange(patients + 1))
    month = min(random.randint(1, 12), random.randint(1, 12))
    cost = random.choice([random.randrange(100_000), -5, 250_000])
    return patient or None, month, random.choice([*WARDS, "in no cell"]), cost


def _found(
    connection: duckdb.DuckDBPyConnection, release: CompiledRelease, visits: list[Visit], salt: str
) -> Groups:
    rows: list[Row] = [
        (n, patient, 1, f"2024-{month:02}-01", f"{cost / 100:.2f}", ward)
        for n, (patient, month, ward, cost) in enumerate(visits)
    ]
    create_tables(connection, schema_of("clinic"), PUBLIC["clinic"] | {"visits": rows})
    for domain in release.step.query.domains:
        connection.register(domain.name, domain_table(domain))
    raw = raw_groups(connection, release, salt).totals
    assert set(raw.column_names) == {"g0", "g1", "s0", "s1"}
    return {(r["g0"], r["g1"]): (int(r["s0"]), int(r["s1"])) for r in raw.to_pylist()}


@dataclass(frozen=True)
class Hashes:
    """DuckDB's hashes of a patient, and of more beside, with the salt."""

    connection: duckdb.DuckDBPyConnection
    salt: str

    def of(self, patient: int, *cell: int) -> int:
        numbers = "".join(", ?::BIGINT" for _ in cell)
        sql = f"SELECT hash(?::BIGINT{numbers}, ?)"
        (found,) = self.connection.execute(sql, [patient, *cell, self.salt]).fetchall()[0]
        return int(found)


def _by_hand(visits: list[Visit], hashes: Hashes, limits: tuple[int, int, int]) -> Groups:
    groups, rows_per_group, rows = limits
    costs: dict[int, dict[tuple[int, int], list[int]]] = defaultdict(lambda: defaultdict(list))
    for patient, month, ward, cost in visits:
        if patient is not None and ward in WARDS:
            cell = month - 1, WARDS.index(ward)
            costs[patient][cell].append(min(max(cost, 0), 100_000))
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for patient, own in costs.items():
        first = hashes.of(patient) % 2**30 % len(own)
        kept = [*sorted(own), *sorted(own)][first : first + min(groups, len(own))]
        sums = {c: _scaled((len(own[c]), sum(own[c])), len(own[c]), rows_per_group) for c in kept}
        counted, until = sum(n for n, _ in sums.values()), 0
        for cell in sorted(sums, key=lambda c: (hashes.of(patient, *c), c)):
            count, cents = sums[cell]
            left = _share(until + count, counted, rows) - _share(until, counted, rows)
            until += count
            before = found.get(cell, (0, 0))
            found[cell] = before[0] + left, before[1] + cents * left // count
    return found


def _share(until: int, counted: int, most: int) -> int:
    """How many of the rows up to so many count, of which `most` of `counted` do in all."""
    return until if counted <= most else (2 * until * most + counted) // (2 * counted)


def _scaled(pair: tuple[int, int], rows: int, most: int) -> tuple[int, int]:
    """Toward 0, and nothing here is negative."""
    return pair if rows <= most else (pair[0] * most // rows, pair[1] * most // rows)
