"""What stands in FROM of random statements over the clinic: joins, and LATERAL."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

Column = tuple[str, str]
"""A name as it is written, and a kind of values: number, text, truth or key."""

TABLES: dict[str, tuple[Column, ...]] = {
    "patients": (
        ("patient_id", "patient"),
        ("age", "number"),
        ("sex", "text"),
        ("insured", "truth"),
        ("city", "text"),
    ),
    "visits": (
        ("visit_id", "visit"),
        ("patient_id", "patient"),
        ("doctor_id", "doctor"),
        ("cost", "number"),
        ("ward", "text"),
    ),
    "tests": (("test_id", "test"), ("visit_id", "visit"), ("kind", "text"), ("score", "number")),
}
KEYS = ("patient", "visit", "test")
NULLABLE = " or none"
"""Of keys that an outer join leaves NULL."""


@dataclass(frozen=True)
class Rows:
    """What stands in FROM, the columns that can be named, and in how many queries it stands."""

    text: str
    columns: tuple[Column, ...]
    depth: int = 0

    def of(self, *kinds: str) -> list[str]:
        return [name for name, kind in self.columns if kind in kinds]


def joined(random: Random) -> Rows:
    """Two tables, by the key that they share, in one of the ways to write that."""
    one, other, key = random.choice(
        [("patients", "visits", "patient_id"), ("visits", "tests", "visit_id")]
    )
    if random.random() < 0.4:
        one, other = other, one
    side = random.choice(["", "", "INNER ", "LEFT ", "RIGHT ", "FULL "])
    merged = (key, key.removesuffix("_id"))
    mine = _called("l", one, is_open=side in ("RIGHT ", "FULL "))
    theirs = _called("r", other, is_open=side in ("LEFT ", "FULL "))
    roll = random.random()
    shared: tuple[tuple[str, str], ...] = (merged,)
    if roll < 0.35:
        text = f"{one} AS l {side}JOIN {other} AS r USING ({key})"
    elif roll < 0.5:
        text = f"{one} AS l NATURAL {side}JOIN {other} AS r"
    else:
        more = random.choice(["", "", " AND l.{0} IS NOT NULL"]).format(key)
        text, shared = f"{one} AS l {side}JOIN {other} AS r ON l.{key} = r.{key}{more}", ()
    if not side.strip() and random.random() < 0.2:
        text = f"SELECT l.*, r.* FROM {one} AS l, {other} AS r WHERE l.{key} = r.{key}"
        return Rows(f"({text}) AS j", _both(one, other))
    return Rows(text, (*mine, *theirs, *shared))


def lateral(random: Random) -> Rows:
    """Rows beside those that they ask for: all, distinct ones, the first, or one a group."""
    outer, inner, key, number = random.choice(
        [("patients", "visits", "patient_id", "cost"), ("visits", "tests", "visit_id", "score")]
    )
    own = {"visits": "visit_id", "tests": "test_id"}[inner]
    text = {"visits": "ward", "tests": "kind"}[inner]
    where = f"FROM {inner} i WHERE i.{key} = o.{key}"
    where += random.choice(["", f" AND i.{number} > 2", f" AND i.{own} <> 3"])
    order = f"ORDER BY i.{number}, i.{own}"
    limit = random.choice(["LIMIT 1", "LIMIT 2", "LIMIT 2 OFFSET 1"])
    query = random.choice(
        [
            f"SELECT i.{number} AS m, i.{text} AS t {where}",
            f"SELECT DISTINCT i.{text} AS t, 1 AS m {where}",
            f"SELECT i.{number} AS m, i.{text} AS t {where} {order} {limit}",
            f"SELECT i.{text} AS t, -i.{number} AS m {where} ORDER BY 2, t, i.{own} {limit}",
            f"SELECT i.{text} AS t, row_number() OVER ({order}) AS m {where}",
            f"SELECT i.{text} AS t, i.{number} AS m {where} QUALIFY rank() OVER ({order}) <= 2",
            f"SELECT i.{text} AS t, count(*) AS m {where} GROUP BY i.{text}",
            f"SELECT max(i.{text}) AS t, count(*) AS m {where}",
        ]
    )
    join = random.choice([", LATERAL ({}) AS s", " LEFT JOIN LATERAL ({}) AS s ON TRUE"])
    known = tuple((f"o.{c}", k) for c, k in TABLES[outer])
    return Rows(f"{outer} AS o{join.format(query)}", (*known, ("s.t", "text"), ("s.m", "number")))


def _called(alias: str, table: str, *, is_open: bool) -> tuple[Column, ...]:
    """A table's columns; `is_open`: an outer join has rows where they are NULL."""
    return tuple(
        (f"{alias}.{c}", k + NULLABLE if is_open and k in KEYS else k) for c, k in TABLES[table]
    )


def _both(one: str, other: str) -> tuple[Column, ...]:
    """The columns of `l.*, r.*`: names that repeat are numbered."""
    found: list[Column] = list(TABLES[one])
    taken = {name for name, _ in found}
    found += [(f"{n}_1" if n in taken else n, k) for n, k in TABLES[other]]
    return tuple(found)
