"""Group keys whose values can be enumerated from public facts alone.

Enumerated keys all appear, empty groups too, and cost no δ. The cells are distinct by construction
and by check: a cell that came twice would be answered twice for one charge (soundness: GROUP BY
s_nationkey over a public table whose rows repeat it).
"""

from __future__ import annotations

import datetime as dt
import math
from fractions import Fraction
from itertools import chain

from dpsql.analysis.domains.expression_domain import Environment, domain
from dpsql.analysis.domains.finite_domain import images
from dpsql.analysis.lineage.lineage import private_scans
from dpsql.analysis.lineage.public_keys import public_key_source
from dpsql.bounding.public_facts import Facts
from dpsql.errors import Refused
from dpsql.plan.bounded_release.bounded_release import Cell, KeyDomain
from dpsql.plan.expression import Column, Expression
from dpsql.plan.expression_text import describe
from dpsql.plan.numeric_types import holds
from dpsql.plan.operator import Output, Plan
from dpsql.plan.traversal import columns, operators, sources
from dpsql.privacy.domain import Domain, Value, day
from dpsql.schema.sql_type import Date, Double, Integer, Interval, SqlType

MAX_CELLS = 1_000_000


def key_domains(
    keys: tuple[Output, ...],
    source: Plan,
    key_source: Plan | None,
    below: Environment,
    facts: Facts,
) -> tuple[KeyDomain, ...]:
    """The domains of those keys that have one: public keys jointly, functions of one column too.

    `key_source` is a public plan of all of them, if there is one.
    """
    for key in keys:
        if isinstance(key.expression.type, Interval) or (
            isinstance(key.expression.type, Double) and key_source is not None
        ):
            raise _several_forms(key)
    found: list[KeyDomain] = []
    rows = None if key_source is None else facts.rows(key_source, MAX_CELLS)
    if rows is not None:
        found.append(_checked(KeyDomain(tuple(range(len(keys))), rows)))
    shared = () if found else tuple(p for p, k in enumerate(keys) if _is_joint(k, source))
    public = public_key_source(source, tuple(keys[p] for p in shared)) if shared else None
    rows = None
    if public is not None and not _are_many(source, tuple(keys[p] for p in shared), facts):
        rows = facts.rows(public.plan, MAX_CELLS)
    if public is not None and rows is not None:
        nulls = ((None,) * len(shared),) if public.includes_null else ()
        distinct = tuple(dict.fromkeys((*rows, *nulls)))
        # The very same list is read again sooner than an equal one.
        same = len(distinct) == len(rows)
        found.append(_checked(KeyDomain(shared, rows if same else distinct)))
    covered = {place for key_domain in found for place in key_domain.keys}
    for column, alike in _of_one_column(keys, covered).items():
        together = [keys[place].expression for place in alike]
        cells = images(together, column, domain(column, below))
        if cells is not None:
            found.append(_checked(KeyDomain(alike, cells)))
            covered |= {*alike}
    for place, key in enumerate(keys):
        if place not in covered:
            cells = _cells(domain(key.expression, below), key.expression.type)
            if cells is None and not isinstance(key.expression.type, Double):
                cells = _referenced(key.expression, source, below, facts)
            if cells is not None:
                found.append(_checked(KeyDomain((place,), cells)))
    return tuple(found)


def are_few_cells(cells: tuple[KeyDomain, ...]) -> tuple[KeyDomain, ...]:
    """Domains that have up to MAX_CELLS together: keys of the longest are listed no more."""
    kept = sorted(cells, key=lambda domain: len(domain.cells))
    while math.prod(len(domain.cells) for domain in kept) > MAX_CELLS:
        kept.pop()
    return tuple(domain for domain in cells if domain in kept)


def _of_one_column(keys: tuple[Output, ...], covered: set[int]) -> dict[Column, tuple[int, ...]]:
    """The places of keys that are functions of one and the same column, two at least."""
    places: dict[Column, list[int]] = {}
    for place, key in enumerate(keys):
        read = columns(key.expression)
        if place not in covered and len(read) == 1 and not isinstance(key.expression.type, Double):
            (column,) = read
            places.setdefault(column, []).append(place)
    return {column: tuple(alike) for column, alike in places.items() if len(alike) > 1}


def _several_forms(output: Output) -> Refused:
    """30 days and a month, or -0.0 and 0.0 of a public table, are equal keys of several forms.

    Doubles of private rows have one zero, and print as their domain has them where they are listed.
    """
    key = output.expression
    return Refused(
        f"grouping by {describe(key)}, of type {key.type}, whose equal values have several forms",
        at=output.at,
        hint=f"group by CAST({describe(key)} AS BIGINT) or by a range of it",
        note="group_by",
    )


def _cells(domain: Domain, kind: SqlType) -> tuple[Cell, ...] | None:
    """All values of a domain, with NULL if it is among them; None if they can't be listed."""
    values: tuple[Value, ...] | None = domain.values
    ends = None if domain.bounds is None else domain.bounds.ends
    if values is None and ends is not None and ends[1] - ends[0] < MAX_CELLS:
        numbers = range(math.ceil(ends[0]), math.floor(ends[1]) + 1)
        match kind:
            case Integer():
                values = tuple(numbers)
            case Date():
                values = tuple(day(number) for number in numbers)
            case _:
                return None
    if values is None:
        return None
    cells: tuple[Cell, ...] = tuple((value,) for value in values)
    return (*cells, (None,)) if domain.nullable else cells


def _referenced(
    key: Expression, source: Plan, below: Environment, facts: Facts
) -> tuple[Cell, ...] | None:
    """The keys of the public table that a private column references."""
    if not isinstance(key, Column):
        return None
    for scan in private_scans(source):
        if key in scan.columns:
            reference = scan.table.columns[key.name].references
            cells = None if reference is None else facts.referenced(reference, MAX_CELLS)
            if cells is None:
                return None
            cells = _typed_cells(cells, key.type)
            return (*cells, (None,)) if domain(key, below).nullable else cells
    return None


def _typed_cells(cells: tuple[Cell, ...], kind: SqlType) -> tuple[Cell, ...]:
    """Those that `kind` has: of a wider type of integers, 2 ** 40 is no INTEGER's."""
    if not isinstance(kind, Integer) or not cells:
        return cells
    numbers = [value for value in chain.from_iterable(cells) if isinstance(value, int)]
    if len(numbers) == len(cells) and holds(kind, min(numbers)) and holds(kind, max(numbers)):
        return cells
    return tuple(c for c in cells if all(isinstance(v, int) and holds(kind, v) for v in c))


def _is_joint(key: Output, source: Plan) -> bool:
    """A key of public rows, whose values they list; not a double, of whose zeros they have two."""
    return (
        not isinstance(key.expression.type, Double)
        and public_key_source(source, (key,)) is not None
    )


def _are_many(source: Plan, keys: tuple[Output, ...], facts: Facts) -> bool:
    """Values of public rows that nothing links come in all combinations: more than are listed.

    Of each part alone they are counted, since an engine makes all combinations to tell that they
    are too many: addresses of who buys, of who sells, and three days.
    """
    parts: list[tuple[frozenset[Plan], tuple[Output, ...]]] = []
    for key in keys:
        found = public_key_source(source, (key,))
        if found is None:
            return False
        tables = frozenset(plan for plan in operators(found.plan) if not sources(plan))
        together: tuple[Output, ...] = (key,)
        for part in [part for part in parts if part[0] & tables]:
            parts.remove(part)
            tables, together = tables | part[0], (*part[1], *together)
        parts.append((tables, together))
    if len(parts) == 1:
        return False
    count = 1
    for _, together in parts:
        public = public_key_source(source, together)
        if public is None:
            return False
        rows = facts.rows(public.plan, MAX_CELLS)
        count *= MAX_CELLS + 1 if rows is None else max(1, len(rows))
    return count > MAX_CELLS


def _checked(cells: KeyDomain) -> KeyDomain:
    # Most lists have no equal values; only where some are does it take a closer look.
    if len(set(cells.cells)) != len(cells.cells) and (
        len(set(map(_canonical, cells.cells))) != len(cells.cells)
    ):
        raise Refused("a group key's domain lists a value twice", note="group_by")
    return cells


def _canonical(cell: Cell) -> tuple[object, ...]:
    """True and 1, or a day and its midnight, are different keys."""
    return tuple((_family(value), value) for value in cell)


def _family(value: Value | None) -> str:
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        return "number"
    if isinstance(value, dt.datetime):
        return "timestamp"
    return type(value).__name__
