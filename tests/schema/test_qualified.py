"""Names with a schema: what they mean, how they are declared, and where their rows are read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from data.database import attached
from hypothesis import given
from hypothesis import strategies as st
from narrowed import integer
from schema.shop import SHOP, changed, load

from dpsql.dbapi.connect import connect
from dpsql.engine.duckdb.catalog import read_catalog
from dpsql.engine.source import DuckDBSource
from dpsql.errors import SchemaFault
from dpsql.schema.model import EntityUnit
from dpsql.schema.qualified_name import bare, identity, resolve_name, schema_of

NAMES = ("orders", "sales.orders", "hr.people", "sales.towns", "hr.towns", "public.lines")


@pytest.mark.parametrize(
    ("parts", "names"),
    [
        (("orders",), ("orders",)),  # main first, whatever other schemas have
        (("ORDERS",), ("orders",)),
        (("people",), ("hr.people",)),
        (("towns",), ("sales.towns", "hr.towns")),
        (("lines",), ("public.lines",)),
        (("main", "lines"), ("public.lines",)),
        (("public", "orders"), ("orders",)),
        (("Main", "Orders"), ("orders",)),
        (("sales", "orders"), ("sales.orders",)),
        (("sales", "people"), ()),
        (("shop", "orders"), ("orders",)),  # catalogue.table
        (("shop", "people"), ()),
        (("shop", "hr", "people"), ("hr.people",)),
        (("SHOP", "public", "lines"), ("public.lines",)),
        (("other", "hr", "people"), ()),
        (("sales.orders",), ()),  # a quoted name with a dot is one name
        (("a", "shop", "hr", "people"), ()),
        (("nobody",), ()),
    ],
)
def test_a_name_means_a_declared_table(parts: tuple[str, ...], names: tuple[str, ...]) -> None:
    assert resolve_name(NAMES, parts, "shop") == names


PART = st.sampled_from(["a", "b", "main", "public", "A"])


@given(st.lists(st.tuples(PART, PART).map(".".join) | PART, unique_by=identity), PART)
def test_a_table_is_meant_by_its_full_name_alone(names: list[str], dataset: str) -> None:
    for name in names:
        full = schema_of(name), bare(name)
        assert resolve_name(names, full, "another") == (name,)
        assert resolve_name(names, (dataset, *full), dataset) == (name,)


FAULTS = [
    ("  towns:", "  main.towns:", "main is the schema of names without one; write towns"),
    ("  towns:", "  pg_catalog.towns:", "pg_catalog is the catalogue's schema"),
    ("  towns:", "  a.b.towns:", "not a plain name"),
    ("  towns:", "  .towns:", "not a plain name"),
    ("  towns:", "  a b.towns:", "not a plain name"),
    ("  readings:", "  public.Towns:", "is towns to statements"),
    ("towns.town_id}", "geo.towns.town_id}", "no such table"),
    ("towns.town_id}", "a.b.towns.town_id}", "is not table.column"),
]


@pytest.mark.parametrize(("old", "new", "words"), FAULTS, ids=[new for _, new, _ in FAULTS])
def test_a_name_that_could_mean_two_things_is_a_fault(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    with pytest.raises(SchemaFault) as caught:
        load(tmp_path, changed(old, new))
    assert words in caught.value.message


def test_references_and_unit_paths_lead_over_schemas(tmp_path: Path) -> None:
    text = SHOP.replace("orders.order_id", "sales.orders.order_id").replace(
        "  orders:", "  sales.orders:"
    )
    text = text.replace("towns.town_id", "geo.towns.town_id").replace("  towns:", "  geo.towns:")
    schema = load(tmp_path, text)
    owner = schema.tables["lines"].ownership
    assert isinstance(owner, EntityUnit)
    (hop,) = owner.hops
    assert (hop.table, hop.key) == ("sales.orders", ("order_id",))
    reference = schema.tables["sales.orders"].columns["town"].references
    assert reference is not None
    assert (reference.table, reference.column) == ("geo.towns", "town_id")


ROWS = """\
dataset: rows
source: {source}
tables:
  sales.orders: {{unit: row, columns: {{amount: {{type: bigint, bounds: [0, 10]}}}}}}
  hr.orders: {{public: true, columns: {{amount: {{type: bigint}}}}}}
  orders: {{public: true, columns: {{amount: {{type: bigint}}}}}}
budget: {{epsilon: 60, delta: 1e-6}}
per_query: {{epsilon: 10}}
"""


def answers(folder: Path, source: str) -> None:
    """Ask each of the three; noise at epsilon 10 is off by 10 with a probability below 1e-9."""
    (folder / "schema.yaml").write_text(ROWS.format(source=source))
    with connect(folder / "schema.yaml") as connection:

        def ask(sql: str) -> Sequence[tuple[object, ...]]:
            return connection.execute(sql).fetchall()

        ((count,),) = ask("SELECT count(*) FROM sales.orders")
        assert abs(integer(count) - 100) < 10
        assert ask("SELECT sum(amount) FROM hr.orders") == [(7,)]
        assert ask("SELECT sum(amount) FROM orders") == [(5,)]
        # What is copied beside released rows is told apart, too.
        joined = "SELECT o.amount, h.amount, n > 0 FROM orders o, hr.orders h, n"
        assert ask(f"WITH n AS (SELECT count(*) AS n FROM sales.orders) {joined}") == [(5, 7, True)]


def test_schemas_of_a_duckdb_file_are_read(tmp_path: Path) -> None:
    with attached(tmp_path / "rows.duckdb") as made:
        made.execute("CREATE SCHEMA sales; CREATE SCHEMA hr")
        made.execute("CREATE TABLE sales.orders AS SELECT 1::BIGINT AS amount FROM range(100)")
        made.execute("CREATE TABLE hr.orders AS SELECT 7::BIGINT AS amount")
        made.execute("CREATE TABLE orders AS SELECT 5::BIGINT AS amount")
        # A name with a dot in it is not a table of a schema.
        made.execute('CREATE TABLE "sales.orders" AS SELECT 9::BIGINT AS amount')
        made.execute('CREATE TABLE sales."a.b" AS SELECT 9::BIGINT AS amount')
    found = read_catalog(DuckDBSource(str(tmp_path / "rows.duckdb")))
    assert list(found) == ["orders", "hr.orders", "sales.orders"]
    answers(tmp_path, "rows.duckdb")


def test_folders_of_a_folder_are_schemas(tmp_path: Path) -> None:
    for name, values in {"sales/orders": [1] * 100, "hr/orders": [7], "orders": [5]}.items():
        file = tmp_path / "data" / f"{name}.parquet"
        file.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"amount": values}), file)
    answers(tmp_path, "data")
