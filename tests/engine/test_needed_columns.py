"""No statement of ours reads a column that wasn't thought to be needed."""

from __future__ import annotations

import pytest
from engine.noted_rows import lines, noted, rows_of, server_tables, statements
from neighbor_search.share import in_turn
from notes.blocks import Claim
from notes.compiler import schema_of

from dpsql.engine.needed_columns import needed_columns
from dpsql.engine.source import ServerTable

TABLES = (
    ServerTable("orders", (("id", "INTEGER"), ("Price", "DOUBLE"), ("note", "VARCHAR"))),
    ServerTable("sales.orders", (("id", "INTEGER"), ("place", "VARCHAR"))),
    ServerTable("people", (("id", "INTEGER"), ("orders", "INTEGER"))),
)


@pytest.mark.parametrize(
    ("sql", "needed"),
    [
        ("SELECT 1", {}),
        ('SELECT count(*) FROM "orders"', {"orders": ()}),
        ('SELECT sum(t.price) FROM "orders" AS t WHERE t."ID" = 1', {"orders": ("id", "Price")}),
        ('SELECT * FROM "orders"', {"orders": ("id", "Price", "note")}),
        ('SELECT t.* FROM "ORDERS" AS t', {"orders": ("id", "Price", "note")}),
        ('SELECT *, 1 FROM "people" JOIN "sales.orders" USING (id)',
         {"people": ("id", "orders"), "sales.orders": ("id", "place")}),
        ('WITH x AS (SELECT id FROM "orders") SELECT * FROM x', {"orders": ("id",)}),
        ('SELECT * FROM (SELECT id FROM "orders") AS t', {"orders": ("id",)}),
        ("SELECT id FROM \"orders\" WHERE note = 'it''s \"place\"; FROM \"people\"'",
         {"orders": ("id", "note")}),
        ('SELECT COLUMNS(*) FROM "orders"', {"orders": ("id", "Price", "note")}),
        ('FROM "orders"', {"orders": ("id", "Price", "note")}),
    ],
)  # fmt: skip
def test_what_is_named_or_under_a_star_is_needed(
    sql: str, needed: dict[str, tuple[str, ...]]
) -> None:
    assert needed_columns(sql, TABLES) == needed


def test_of_what_is_not_understood_all_is_needed() -> None:
    needed = needed_columns('SELECT ((( FROM "orders"', TABLES)
    assert needed["orders"] == ("id", "Price", "note")


@pytest.mark.parametrize("claim", in_turn(((claim.name, (claim,)) for claim in noted()), share=40))
def test_notes_read_nothing_that_is_not_pulled(claim: Claim) -> None:
    tables = server_tables(schema_of(claim.schema))
    for sql, parameters, listed, integers in statements(claim):
        with rows_of(claim.schema).cursor() as narrow:
            for name, table in listed.items():
                narrow.register(name, table)
            for name, columns in needed_columns(sql, tables).items():
                items = ", ".join(f'"{column}"' for column in columns) or "1 AS nothing"
                narrow.execute(
                    f'CREATE TEMP TABLE "{name}" AS SELECT {items} FROM memory.main."{name}"'
                )
            assert lines(narrow.sql(sql, params=parameters or None).to_arrow_table()) == integers
