"""A small schema that the tests of this folder break in one place at a time."""

from __future__ import annotations

from pathlib import Path

from dpsql.schema.load.load import load_schema
from dpsql.schema.model import Schema

SHOP = """\
dataset: shop
source: data
units:
  person: {table: people, key: id}
tables:
  people:
    key: id
    unit: person
    columns:
      id: {type: bigint}
      age: {type: integer, bounds: [0, 120]}
      sex: {type: varchar, values: [F, M]}
      born: {type: date, bounds: [1900-01-01, 2025-12-31]}
      seen: {type: timestamp, bounds: [2024-01-01, 2024-12-31 23:59:59]}
      paid: {type: "decimal(6,2)", bounds: [-0.5, 999.99]}
      mass: {type: double, bounds: [0, 0.1]}
      tag: {type: uuid}
  orders:
    key: order_id
    unit: {column: person_id, references: people.id}
    limits: {groups: 3}
    columns:
      order_id: {type: bigint}
      person_id: {type: bigint}
      town: {type: integer, references: towns.town_id}
  lines:
    unit: {column: order_id, references: orders.order_id}
    columns:
      order_id: {type: bigint}
      price: {type: double}
  towns:
    public: true
    key: town_id
    columns:
      town_id: {type: integer}
  readings:
    unit: row
    columns:
      value: {type: float}
budget: {epsilon: 1, delta: 1e-6}
"""


def load(folder: Path, text: str = SHOP) -> Schema:
    path = folder / "schema.yaml"
    path.write_text(text, encoding="utf-8")
    return load_schema(path)


def changed(old: str, new: str, text: str = SHOP) -> str:
    assert text.count(old) == 1, f"{old} stands {text.count(old)} times"
    return text.replace(old, new)


def line_of(text: str, part: str) -> int:
    """The line of the first occurrence of `part`."""
    return text[: text.index(part)].count("\n") + 1
