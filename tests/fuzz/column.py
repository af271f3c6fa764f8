"""What a generated FROM offers: columns by kind, and the columns that identify the unit."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from random import Random

from dpsql.structs import replace


class Kind(Enum):
    """How a column can be used."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    DOUBLE = "double"
    BOOLEAN = "boolean"
    TEXT = "text"
    DATE = "date"
    IDENTITY = "identity"


NUMBERS = frozenset({Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE})


@dataclass(frozen=True)
class Column:
    """A column as it is written; `values` are compared with it, `entity` is whose key it is."""

    text: str
    kind: Kind
    values: tuple[str, ...] = ()
    entity: str = ""
    listed: bool = False
    """Whether its values are finitely many by the schema."""

    @property
    def name(self) -> str:
        """Without its table."""
        return self.text.rpartition(".")[2]


def _identity(name: str, entity: str, *, listed: bool = False) -> Column:
    return Column(name, Kind.IDENTITY, ("1", "2", "7"), entity, listed=listed)


_AGES = ("0", "18", "64.5", "120", "-1")
_COSTS = ("0", "1", "99.99", "1000", "2000")
_DATES = ("DATE '2024-01-01'", "DATE '2024-06-30'", "DATE '2023-01-01'")

TABLES: dict[str, tuple[Column, ...]] = {
    "patients": (
        _identity("patient_id", "patient"),
        Column("age", Kind.INTEGER, _AGES, listed=True),
        Column("sex", Kind.TEXT, ("'F'", "'M'", "'x'"), listed=True),
        Column("weight", Kind.DOUBLE, ("0", "50.5", "300", "1e9")),
        Column("insured", Kind.BOOLEAN, ("TRUE", "FALSE"), listed=True),
        Column("city", Kind.TEXT, ("'x'", "'a'", "''")),
    ),
    "visits": (
        _identity("visit_id", "visit"),
        _identity("patient_id", "patient"),
        _identity("doctor_id", "doctor", listed=True),
        Column("visit_date", Kind.DATE, _DATES, listed=True),
        Column("cost", Kind.DECIMAL, _COSTS),
        Column("ward", Kind.TEXT, ("'ER'", "'ICU'", "'a'"), listed=True),
    ),
    "tests": (
        _identity("test_id", "test"),
        _identity("visit_id", "visit"),
        Column("kind", Kind.TEXT, ("'blood'", "'scan'"), listed=True),
        Column("score", Kind.INTEGER, ("-5", "0", "3"), listed=True),
    ),
    "readings": (
        Column("sensor", Kind.INTEGER, ("0", "1", "3"), listed=True),
        Column("value", Kind.DOUBLE, ("0", "-0.5", "1")),
    ),
    "doctors": (
        _identity("doctor_id", "doctor", listed=True),
        Column("specialty", Kind.TEXT, ("'surgery'", "'eye'"), listed=True),
        _identity("region_id", "region", listed=True),
    ),
    "regions": (
        _identity("region_id", "region", listed=True),
        Column("region_name", Kind.TEXT, ("'north'",), listed=True),
    ),
}

PUBLIC = frozenset({"doctors", "regions"})


@dataclass(frozen=True)
class Source:
    """A FROM clause, with the WITH clause it needs."""

    text: str
    columns: tuple[Column, ...]
    ctes: tuple[str, ...] = ()
    rows_are_units: bool = False

    def of(self, *kinds: Kind) -> list[Column]:
        """The columns of these kinds."""
        return [c for c in self.columns if c.kind in kinds]

    def identities(self, *entities: str) -> list[Column]:
        """The columns that identify one of these."""
        return [c for c in self.columns if c.entity in entities]


def table(name: str, alias: str) -> Source:
    """A table under an alias."""
    found = tuple(replace(c, text=f"{alias}.{c.text}") for c in TABLES[name])
    return Source(f"{name} {alias}", found, rows_are_units=name == "readings")


def renamed(source: Source, alias: str, outputs: list[Column]) -> tuple[Column, ...]:
    """The columns of a derived table that selects `outputs` AS their place."""
    del source
    return tuple(replace(c, text=f"{alias}.k{n}") for n, c in enumerate(outputs))


def listed(outputs: list[Column]) -> str:
    """A SELECT list that names every output by its place."""
    return ", ".join(f"{c.text} AS k{n}" for n, c in enumerate(outputs))


def some(random: Random, columns: list[Column], most: int) -> list[Column]:
    """Up to `most` different columns."""
    return random.sample(columns, random.randint(1, min(most, len(columns)))) if columns else []
