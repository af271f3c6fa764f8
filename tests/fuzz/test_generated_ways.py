"""All ways to compute a release find the same integers, on schemas that none was written for.

A case is a schema with a database and its neighbours, each with a sidecar of its own, and several
queries, under limits from one row on. Seeds are fixed, so that nothing fails by chance.
"""

from __future__ import annotations

import os
from collections import Counter
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
from fuzz.far_specs import FAR_SPECS
from fuzz.generated_query import Asked, query
from fuzz.generated_schema import SPECS, Made, is_wide, made
from fuzz.ways import (
    Answered,
    Outcome,
    Proofs,
    Way,
    database,
    in_ones,
    number,
    plain,
    told_value,
)
from neighbor_search.share import values_in_turn
from neighbor_search.sidecar import LIMITS

from dpsql.audit.databases.unit_ownership import Rows, Unit, units_of_rows, without
from dpsql.audit.sensitivity.bound_check import violations
from dpsql.bounding.options import AS_DECLARED
from dpsql.schema.model import EntityUnit, Neighbors, Public
from dpsql.structs import replace

ORDINARY = 8
LONG = int(os.environ.get("DPSQL_CASES", "2000")) // 4
"""Schemas; each is asked several queries in several databases."""

FAR = (*SPECS, *FAR_SPECS, *FAR_SPECS)

CHUNK = 2
QUERIES = 10
UNITS = 2


@pytest.mark.bounds
@pytest.mark.parametrize("chunk", values_in_turn(range(ORDINARY // CHUNK), 4))
def test_all_ways_find_the_same_integers(chunk: int, tmp_path: Path) -> None:
    for case in range(CHUNK):
        _attack(Random(f"ways {chunk}, {case}"), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(-(-LONG // CHUNK)))
def test_all_ways_find_the_same_integers_at_length(chunk: int, tmp_path: Path) -> None:
    for case in range(CHUNK):
        _attack(Random(f"ways at length {chunk} {case}"), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(-(-LONG // CHUNK)))
def test_all_ways_find_the_same_integers_of_far_values(chunk: int, tmp_path: Path) -> None:
    for case in range(CHUNK):
        _attack(Random(f"ways of far values {chunk} {case}"), tmp_path, FAR)


def _attack(
    random: Random, folder: Path, specs: tuple[tuple[str, str], ...] = SPECS
) -> Counter[str]:
    """Several queries about one schema; how often each way was compared."""
    found, told = made(random, folder, specs), Counter[str]()
    proofs = Proofs(found.schema, found.rows, found.holds)
    worlds = list(_worlds(random, found))
    with ExitStack() as stack:
        databases = [
            stack.enter_context(database(found.schema, rows, found.holds)) for rows in worlds
        ]
        true = _true_rows(found)
        answers = None if true is None else stack.enter_context(plain(found.schema, true))
        for _ in range(QUERIES):
            asked = query(random, found)
            limits = random.choice([AS_DECLARED, *LIMITS.values()])
            if random.random() < 0.3:
                limits = replace(limits, unit_sum=Fraction(random.choice([1, 3, 40, 1000]), 2))
            for ways in proofs.ways(asked.sql, limits):
                outcomes = [[each.found(way) for way in ways] for each in databases]
                where = f"{asked.sql}\n{limits}\n{found.text}{found.rows}"
                _same(ways, outcomes, told, where)
                _bounded(ways, outcomes, found.schema.neighbors, where)
            if answers is not None and asked.plain is not None:
                answer = proofs.answer(asked.sql, databases[0])
                _true(answer, answers.plain(asked.plain), asked, told, f"{found.text}{found.rows}")
    return told


def _true_rows(found: Made) -> Rows | None:
    """The rows that have a unit, each of which plain SQL takes once as well; None if some don't."""
    private = [t for t in found.schema.tables.values() if isinstance(t.ownership, EntityUnit)]
    keyed = {table.name for table in private if table.key is not None}
    if not is_wide(found.schema) or not keyed <= found.holds:
        return None
    owned = units_of_rows(found.schema, found.rows)
    return {
        name: rows
        if isinstance(found.schema.tables[name].ownership, Public)
        else [row for row, units in zip(rows, owned[name], strict=True) if units]
        for name, rows in found.rows.items()
    }


def _true(
    answer: Answered | None, plain: Answered | None, asked: Asked, told: Counter[str], where: str
) -> None:
    """Where no limit binds, each group has what plain SQL says, and those that it lacks nothing."""
    if answer is None or plain is None:
        return
    told["true"] += 1
    keys = asked.keys
    expected = {tuple(map(told_value, row[:keys])): row[keys:] for row in plain}
    for row in answer:
        key = tuple(map(told_value, row[:keys]))
        exact = expected.get(key, (None,) * (len(row) - keys))
        shown = [int(v * 10**10) for v in map(number, row[keys:])]
        if shown != [int(v * 10**10) for v in map(number, exact)]:
            told_of = f"{asked.sql}: {row}, not {exact}\n{where}"
            raise AssertionError(f"other integers than plain ones, in truth: {told_of}")
    if not keys:
        assert len(answer) == 1


def _worlds(random: Random, found: Made) -> list[Rows]:
    """The database, and what is left of it without one of some units."""
    owned = units_of_rows(found.schema, found.rows)
    units = sorted({u for own in owned.values() for rows in own for u in rows}, key=repr)
    many = Counter(unit for own in owned.values() for rows in own for unit in rows)
    chosen = sorted(units, key=lambda unit: (-many[unit], repr(unit)))[:1]
    rest = [unit for unit in units if unit not in chosen]
    chosen += random.sample(rest, min(len(rest), UNITS - 1))
    return [found.rows, *(without(found.rows, owned, frozenset[Unit]({u})) for u in chosen)]


def _same(ways: list[Way], worlds: list[list[Outcome]], told: Counter[str], where: str) -> None:
    first = ways[0]
    for outcomes in worlds:
        for way, outcome in zip(ways, outcomes, strict=True):
            expected = outcomes[0]
            if (expected is None) != (outcome is None):
                raise AssertionError(f"other integers than plain ones: {way.name} fails\n{where}")
            if not _comparable(first, way) or expected is None or outcome is None:
                continue
            told[way.name] += 1
            if in_ones(first, expected) != in_ones(way, outcome):
                told_of = f"{way.name}: {outcome}, not {expected}\n{where}"
                raise AssertionError(f"other integers than plain ones: {told_of}")


def _comparable(one: Way, other: Way) -> bool:
    """They mean the same: the same statistics, and the same groups and rows of a unit."""
    ours, theirs = one.release.step.bounded, other.release.step.bounded
    drawn = {one.draws, other.draws} - {""}
    if len(drawn) > 1 or one.draws_rows != other.draws_rows:
        return False
    return ours.contributions.statistics == theirs.contributions.statistics


def _bounded(
    ways: list[Way], worlds: list[list[Outcome]], neighbors: Neighbors, where: str
) -> None:
    """One unit changes no more than derived, and whether it is there decides no failure."""
    full, *lacking = worlds
    pairs = [(full, less) for less in lacking]
    if neighbors is Neighbors.CHANGE_ONE:
        pairs = [(lacking[0], less) for less in lacking[1:]]
    for one, other in pairs:
        for way, before, after in zip(ways, one, other, strict=True):
            if (before is None) != (after is None):
                raise AssertionError(f"statistic 0: it fails by one unit: {way.name}\n{where}")
            if not before or not after or not way.release.step.bounded.contributions.statistics:
                continue
            derived = way.release.sensitivity
            for fault in violations(before[0], after[0], way.release, derived):
                raise AssertionError(f"{fault}: {way.name}: {where}")
