"""What is derived of a call holds for its values, NULL included, over arguments of any domain."""

from __future__ import annotations

import itertools
from fractions import Fraction
from random import Random

import pytest
from functions.calls import Case, cases, engine
from functions.samples import extreme, ordinary
from neighbor_search.share import in_turn

from dpsql.analysis.domains.expression_domain import domain
from dpsql.plan.expression import Expression, Scalar
from dpsql.plan.functions import FUNCTIONS, evaluation
from dpsql.plan.functions.evaluation import as_text, cast
from dpsql.privacy.domain import Domain, Interval, coordinate, day, of_values, timestamp
from dpsql.schema.sql_type import Date, Decimal, Double, Integer, SqlType, Timestamp, Varchar

_KINDS = 2
"""Types that a usage is tried over; the tests of types try them all."""

_SLACK = Fraction(1, 10**12)
"""A logarithm may pass its value at the end of an interval by the last bit."""


def _some(name: str, random: Random) -> list[Case]:
    chosen: list[Case] = []
    for _, group in itertools.groupby(cases(name), lambda case: case.sql):
        found = list(group)
        chosen += random.sample(found, min(_KINDS, len(found)))
    return chosen


def _interval(kind: SqlType, random: Random) -> tuple[list[Scalar], Domain] | None:
    """Values of an interval, its ends among them."""
    match kind:
        case Integer(signed=signed):
            low = random.randint(-9 if signed else 0, 9)
            high = low + random.choice([0, 3, 20])
            values: list[Scalar] = [low, high, *range(low, high + 1)]
        case Decimal(scale=scale):
            unit = 10**scale
            low, high = sorted(random.randint(-9 * unit, 9 * unit) for _ in range(2))
            values = [Fraction(random.randint(low, high), unit) for _ in range(9)]
            values += [Fraction(low, unit), Fraction(high, unit)]
        case Double():
            ends = sorted(random.randint(-64, 64) for _ in range(2))
            values = [Fraction(random.randint(*ends), 8) for _ in range(9)]
            values += [Fraction(end, 8) for end in ends]
        case Date():
            low = random.randint(-20_000, 30_000)
            high = low + random.choice([0, 40, 900])
            values = [day(n) for n in (low, high, *(random.randint(low, high) for _ in range(20)))]
        case Timestamp():
            low = random.randint(-(10**15), 2 * 10**15)
            high = low + random.choice([0, 10**9, 10**13])
            values = [
                timestamp(n) for n in (low, high, *(random.randint(low, high) for _ in "x" * 20))
            ]
        case _:
            return None
    listed = [value for value in values if value is not None]
    found = [place for value in listed if (place := coordinate(value)) is not None]
    return values, Domain(Interval(min(found), max(found)), nullable=False)


def _given(kind: SqlType, shape: str, random: Random) -> tuple[list[Scalar], Domain]:
    """Some values of a domain, as texts or as they are, and the domain."""
    found = _interval(kind, random) if shape == "interval" else None
    if found is not None:
        return list(found[0]), found[1]
    if shape == "anything":
        return list(extreme(kind)), Domain(nullable=False)
    texts = random.sample(ordinary(kind), min(4, len(ordinary(kind))))
    values = cast(tuple(texts), Varchar(), kind)
    assert values is not None
    known = tuple(dict.fromkeys(value for value in values if value is not None))
    return list(known), of_values(known, nullable=False)


@pytest.mark.parametrize(
    ("name", "shape"),
    in_turn(  # three shapes: every run tries one or two of them for each function
        (
            (f"{name}-{shape}", (name, shape))
            for name in FUNCTIONS
            for shape in ("interval", "values", "anything")
        ),
        share=2,
    ),
)
def test_values_lie_in_the_derived_domain(name: str, shape: str) -> None:
    random = Random(f"{name} {shape}")
    for case in _some(name, random):
        lists, domains = [], dict[int | Expression, Domain]()
        for column in case.columns:
            values, known = _given(column.type, shape, random)
            nullable = random.random() < 0.3
            lists.append([*values, None] if nullable else values)
            domains[column.id] = known.as_nullable() if nullable else known
        derived = domain(case.expression, domains)
        rows = random.sample(combined := list(itertools.product(*lists)), min(60, len(combined)))
        for row, text in zip(rows, _computed(case, rows), strict=True):
            assert _holds(derived, text, case.expression.type), (case.name, row, text, derived)


def _computed(case: Case, rows: list[tuple[Scalar, ...]]) -> list[str | None]:
    marks = [f"CAST(a{c.id} AS {c.type}) AS c{c.id}" for c in case.columns] or ["NULL"]
    names = ["r", *(f"a{c.id}" for c in case.columns)]
    texts = [
        [number, *(as_text(v, c.type) for v, c in zip(row, case.columns, strict=True))]
        for number, row in enumerate(rows)
    ]
    width = f"({', '.join('?' * len(names))})"
    given = f"(VALUES {', '.join([width] * len(texts))}) AS q({', '.join(names)})"
    typed = f"(SELECT r, {', '.join(marks)} FROM {given})"
    asked = f"SELECT CAST({case.emitted} AS VARCHAR) FROM {typed} ORDER BY r"
    found = engine().execute(asked, [text for row in texts for text in row]).fetchall()
    return [text for (text,) in found]


def _holds(derived: Domain, text: str | None, kind: SqlType) -> bool:
    if text is None:
        return derived.nullable
    try:
        value = evaluation._value(text, kind)
    except OverflowError:
        value = None
    if value is None:
        # Infinite, NaN, or a date that Python doesn't count to: outside every finite interval.
        return derived.values is None and (derived.bounds is None or derived.bounds.ends is None)
    if derived.values is not None and value not in derived.values:
        return False
    place = coordinate(value)
    if derived.bounds is None or place is None:
        return True
    margin = abs(place) * _SLACK if isinstance(kind, Double) else Fraction(0)
    around = derived.bounds + Interval(-margin, margin)
    return place in around
