"""The fixed public rows of the fixtures that notes are bound against; private tables are empty."""

from __future__ import annotations

import datetime as dt
from functools import cache
from pathlib import Path

import duckdb

from dpsql.schema.load.load import load_schema
from dpsql.schema.model import Schema

FIXTURES = Path(__file__).parent.parent.parent / "fixtures"

PUBLIC: dict[str, dict[str, list[tuple[object, ...]]]] = {
    "clinic": {
        "regions": [(1, "north"), (2, "south")],
        # Two doctors of one specialty and region: keys of joins repeat, and one has no region.
        "doctors": [(1, "surgery", 1), (2, "surgery", 1), (3, "general", 2), (4, "eye", None)],
    },
    "tpch": {
        "region": [(0, "AFRICA", ""), (2, "ASIA", "")],
        "nation": [(5, "ETHIOPIA", 0, ""), (8, "INDIA", 2, ""), (12, "JAPAN", 2, "")],
        "supplier": [(1, "S1", "", 8, "", 0, ""), (2, "S2", "", 12, "", 0, "")],
        "part": [
            (1, "green tin", "", "Brand#12", "PROMO TIN", 3, "SM BOX", 901, ""),
            (2, "red brass", "", "Brand#23", "LARGE BRASS", 8, "MED BOX", 902, ""),
        ],
        "partsupp": [(1, 1, 10, 5, ""), (1, 2, 10, 6, ""), (2, 1, 10, 7, "")],
    },
    "school": {"courses": [(1, "art", 2), (2, "art", 3), (3, "maths", 5), (4, None, 1)]},
    "trial": {},
    "pairs": {},
    "families": {},
    "library": {},
    "meters": {},
    "surveys": {},
    "polls": {"towns": [(1, "Bonn"), (2, "Trier")]},
    "parcels": {"items": [(1, "lamp"), (2, "chair"), (3, "lamp"), (4, None)]},
    "works": {
        "plant.sites": [(1, "Bonn"), (2, "Bonn"), (3, "Trier")],
        "sites": [(1, "Ulm"), (3, None)],
    },
    "registry": {},
    "auction": {
        "offers": [
            # Two of one price, and one without a price; the cheapest is sold below its cost.
            (1, 5, 8, "low", -0.5, dt.date(2024, 1, 5)),
            (2, 20, 12, "fair", 0.0, dt.date(2024, 1, 10)),
            (3, 20, 15, "fair too", 0.25, dt.date(2024, 1, 10)),
            (4, 35, 12, "high", 0.5, dt.date(2024, 1, 20)),
            (5, None, 12, None, None, None),
        ]
    },
    "bi": {"products": [(1, "tools"), (2, "toys"), (3, "tools"), (4, None)]},
}


@cache
def public_connection(schema: str) -> duckdb.DuckDBPyConnection:
    """A database with the fixture's tables: public ones filled, private ones empty.

    Of several threads, DISTINCT would give a domain's values in another order now and then, and
    two plans of one statement would differ in it, as no digest of them does.
    """
    connection = duckdb.connect(config={"threads": 1})
    create_tables(connection, load_schema(FIXTURES / schema / "schema.yaml"), PUBLIC[schema])
    return connection


def create_tables(
    connection: duckdb.DuckDBPyConnection,
    schema: Schema,
    rows: dict[str, list[tuple[object, ...]]],
    world: str = "main",
) -> None:
    """Every declared table with `rows`, in the namespace `world`."""
    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {world}")
    for table in schema.tables.values():
        columns = ", ".join(f'"{c.name}" {c.type}' for c in table.columns.values())
        connection.execute(f'CREATE TABLE {world}."{table.name}" ({columns})')
        found = rows.get(table.name, [])
        if found:
            row = f"({', '.join('?' for _ in table.columns)})"
            marks = ", ".join([row] * len(found))
            values = [value for cells in found for value in cells]
            connection.execute(f'INSERT INTO {world}."{table.name}" VALUES {marks}', values)
