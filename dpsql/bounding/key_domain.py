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
"""The largest number of combinations of keys that are listed."""


def key_domains(
    keys: tuple[Output, ...],
    source: Plan,
    key_source: Plan | None,
    below: Environment,
    facts: Facts,
) -> tuple[KeyDomain, ...]:
    """The domains of those keys that have one; public keys, and functions of one column, share one.

    `key_source` is a public plan of all keys, if there is one; `below` are the domains of
    `source`'s columns. Raises Refused for keys whose equal values have several forms.
    """
    for key in keys:
        if isinstance(key.expression.type, Interval) or (
            isinstance(key.expression.type, Double) and key_source is not None
        ):
            raise _several_forms(key)
    listed: list[KeyDomain] = []
    rows = None if key_source is None else facts.rows(key_source, MAX_CELLS)
    if rows is not None:
        listed.append(_checked(KeyDomain(tuple(range(len(keys))), rows)))
    shared = () if listed else tuple(p for p, k in enumerate(keys) if _is_joint(k, source))
    public = public_key_source(source, tuple(keys[p] for p in shared)) if shared else None
    rows = None
    if public is not None and not _are_many(source, tuple(keys[p] for p in shared), facts):
        rows = facts.rows(public.plan, MAX_CELLS)
    if public is not None and rows is not None:
        nulls = ((None,) * len(shared),) if public.includes_null else ()
        distinct = tuple(dict.fromkeys((*rows, *nulls)))
        # The very same list is read again sooner than an equal one.
        same = len(distinct) == len(rows)
        listed.append(_checked(KeyDomain(shared, rows if same else distinct)))
    covered = {index for key_domain in listed for index in key_domain.keys}
    for column, alike in _of_one_column(keys, covered).items():
        together = [keys[index].expression for index in alike]
        cells = images(together, column, domain(column, below))
        if cells is not None:
            listed.append(_checked(KeyDomain(alike, cells)))
            covered |= {*alike}
    for index, key in enumerate(keys):
        if index not in covered:
            cells = _cells(domain(key.expression, below), key.expression.type)
            if cells is None and not isinstance(key.expression.type, Double):
                cells = _referenced(key.expression, source, below, facts)
            if cells is not None:
                listed.append(_checked(KeyDomain((index,), cells)))
    return tuple(listed)


def limit_cells(cells: tuple[KeyDomain, ...]) -> tuple[KeyDomain, ...]:
    """Domains that have up to MAX_CELLS together: the longest of `cells` are left out."""
    few = sorted(cells, key=lambda domain: len(domain.cells))
    while math.prod(len(domain.cells) for domain in few) > MAX_CELLS:
        few.pop()
    return tuple(domain for domain in cells if domain in few)


def _of_one_column(keys: tuple[Output, ...], covered: set[int]) -> dict[Column, tuple[int, ...]]:
    """The indices of keys that are functions of the same single column, of two keys or more."""
    indices: dict[Column, list[int]] = {}
    for index, key in enumerate(keys):
        read = columns(key.expression)
        if index not in covered and len(read) == 1 and not isinstance(key.expression.type, Double):
            (column,) = read
            indices.setdefault(column, []).append(index)
    return {column: tuple(alike) for column, alike in indices.items() if len(alike) > 1}


def _several_forms(output: Output) -> Refused:
    """The refusal of a key whose equal values have several forms.

    30 days and a month, or -0.0 and 0.0 of a public table, are equal keys of several forms. Doubles
    of private rows have one zero, and print as their domain has them where they are listed.
    """
    key = output.expression
    return Refused(
        f"grouping by {describe(key)}, of type {key.type}, whose equal values have several forms",
        at=output.at,
        hint=f"group by CAST({describe(key)} AS BIGINT) or by a range of it",
        note="group_by",
    )


def _cells(domain: Domain, kind: SqlType) -> tuple[Cell, ...] | None:
    """All values of a domain, with NULL if it is nullable; None if they can't be listed."""
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
    """The keys of the public table that a private column references; None if it references none."""
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
    """The cells that `kind` has: of a wider type of integers, 2 ** 40 is no INTEGER's."""
    if not isinstance(kind, Integer) or not cells:
        return cells
    numbers = [value for value in chain.from_iterable(cells) if isinstance(value, int)]
    if len(numbers) == len(cells) and holds(kind, min(numbers)) and holds(kind, max(numbers)):
        return cells
    return tuple(c for c in cells if all(isinstance(v, int) and holds(kind, v) for v in c))


def _is_joint(key: Output, source: Plan) -> bool:
    """The key reads public rows, which list its values; it is no double, which has two zeros."""
    return (
        not isinstance(key.expression.type, Double)
        and public_key_source(source, (key,)) is not None
    )


def _are_many(source: Plan, keys: tuple[Output, ...], facts: Facts) -> bool:
    """Keys of public rows that nothing links have more combinations than are listed.

    Each linked part is counted alone, since an engine would make all combinations to tell that they
    are too many: addresses of buyers, addresses of sellers, and three days.
    """
    parts: list[tuple[frozenset[Plan], tuple[Output, ...]]] = []
    for key in keys:
        public_source = public_key_source(source, (key,))
        if public_source is None:
            return False
        tables = frozenset(plan for plan in operators(public_source.plan) if not sources(plan))
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
    """`cells`, or Refused if a cell comes twice."""
    if len(set(cells.cells)) != len(cells.cells) and (
        len(set(map(_canonical, cells.cells))) != len(cells.cells)
    ):
        raise Refused("a group key's domain lists a value twice", note="group_by")
    return cells


def _canonical(cell: Cell) -> tuple[object, ...]:
    """The cell with the types of its values: True and 1, or a day and its midnight, differ."""
    return tuple((_family(value), value) for value in cell)


def _family(value: Value | None) -> str:
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        return "number"
    if isinstance(value, dt.datetime):
        return "timestamp"
    return type(value).__name__
