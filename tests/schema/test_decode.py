from __future__ import annotations

import datetime as dt
from fractions import Fraction
from pathlib import Path

import platformdirs
import pytest
from schema.file_source import file_source
from schema.shop import SHOP, changed, load

from dpsql.privacy.accounting.loss import Accounting
from dpsql.schema.model import EntityUnit, Hop, Limits, Neighbors, Public, Reference, RowUnit
from dpsql.schema.sql_type import Decimal, Double, Integer


def test_ownership_follows_references_to_the_entity(tmp_path: Path) -> None:
    tables = load(tmp_path).tables
    assert tables["people"].ownership == EntityUnit("person", (), "id")
    assert tables["orders"].ownership == EntityUnit("person", (), "person_id")
    hop = Hop(("order_id",), "orders", ("order_id",))
    assert tables["lines"].ownership == EntityUnit("person", (hop,), "person_id")
    assert tables["towns"].ownership == Public()
    assert tables["readings"].ownership == RowUnit()


def test_a_path_may_take_many_hops(tmp_path: Path) -> None:
    text = changed(
        "  towns:\n",
        """  parts:
    key: part
    unit: {column: line, references: lines.line}
    columns: {part: {type: bigint}, line: {type: bigint}}
  towns:
""",
    )
    text = changed("  lines:\n", "  lines:\n    key: line\n", text)
    text = changed("price: {type: double}", "line: {type: bigint}", text)
    hops = (Hop(("line",), "lines", ("line",)), Hop(("order_id",), "orders", ("order_id",)))
    assert load(tmp_path, text).tables["parts"].ownership == EntityUnit("person", hops, "person_id")


def test_a_step_may_take_several_columns_in_the_order_of_the_key(tmp_path: Path) -> None:
    text = changed("key: order_id", "key: [town, order_id]")
    text = changed(
        "unit: {column: order_id, references: orders.order_id}",
        "unit: {column: [order_id, of], references: [orders.order_id, orders.town]}",
        text,
    )
    text = changed("price: {type: double}", "of: {type: bigint}", text)
    hop = Hop(("of", "order_id"), "orders", ("town", "order_id"))
    lines = load(tmp_path, text).tables["lines"]
    assert lines.ownership == EntityUnit("person", (hop,), "person_id")
    assert lines.columns["order_id"].references is None


def test_unit_columns_are_references(tmp_path: Path) -> None:
    columns = load(tmp_path).tables["orders"].columns
    assert columns["person_id"].references == Reference("people", "id")
    assert columns["town"].references == Reference("towns", "town_id")


def test_numbers_are_exact_and_values_canonical(tmp_path: Path) -> None:
    columns = load(tmp_path).tables["people"].columns
    assert columns["age"].bounds == (0, 120)
    assert columns["mass"].bounds == (Fraction(0), Fraction(1, 10))
    assert columns["paid"].bounds == (Fraction(-1, 2), Fraction(99999, 100))
    assert columns["born"].bounds == (dt.date(1900, 1, 1), dt.date(2025, 12, 31))
    seen = (dt.datetime(2024, 1, 1), dt.datetime(2024, 12, 31, 23, 59, 59))  # noqa: DTZ001
    assert columns["seen"].bounds == seen
    assert columns["sex"].values == ("F", "M")
    assert columns["paid"].type == Decimal(6, 2)


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("0.1", Fraction(1, 10)),
        ("1e-6", Fraction(1, 10**6)),
        ("1.0e-6", Fraction(1, 10**6)),
        ("+.5", Fraction(1, 2)),
        ("5.", Fraction(5)),
        ("1E1", Fraction(10)),
        ("007", Fraction(7)),
    ],
)
def test_every_spelling_of_a_number_is_read(tmp_path: Path, written: str, number: Fraction) -> None:
    text = changed("bounds: [0, 0.1]", f"bounds: [-1, {written}]")
    assert load(tmp_path, text).tables["people"].columns["mass"].bounds == (Fraction(-1), number)


def test_words_are_texts(tmp_path: Path) -> None:
    """NO is a country and 12:30 a time of day; only true and false are booleans."""
    text = changed("values: [F, M]", 'values: [NO, on, y, 12:30, "1", "true", 1_000, ""]')
    values = load(tmp_path, text).tables["people"].columns["sex"].values
    assert values == ("NO", "on", "y", "12:30", "1", "true", "1_000", "")


def test_values_keep_their_order_and_case(tmp_path: Path) -> None:
    text = changed("values: [F, M]", "values: [b, a, B, é]")
    assert load(tmp_path, text).tables["people"].columns["sex"].values == ("b", "a", "B", "é")


def test_limits_name_what_is_declared(tmp_path: Path) -> None:
    tables = load(tmp_path).tables
    assert tables["orders"].limits == Limits(3, 8, 64, frozenset({"groups"}))
    assert tables["lines"].limits == Limits()


def test_defaults_follow_the_budget(tmp_path: Path, state_folder: Path) -> None:
    schema = load(tmp_path)
    assert schema.neighbors is Neighbors.ADD_REMOVE
    assert schema.neighbor_distance.steps == 1
    assert schema.budget.accounting is Accounting.ZCDP
    assert schema.per_query.epsilon == Fraction(1, 10)
    assert schema.per_query.max_epsilon == 1
    assert schema.per_query.delta == Fraction(1, 10**7)
    assert schema.analysts == {}
    assert schema.version is None
    assert schema.ledger == state_folder / "shop" / "ledger.db"
    assert schema.anchor == state_folder / "anchors" / "shop.anchor"
    assert file_source(schema).path == tmp_path / "data"
    assert file_source(schema).files["people"] == tmp_path / "data" / "people.parquet"


@pytest.mark.parametrize(
    ("delta", "accounting"), [("0", Accounting.PURE), ("1e-6", Accounting.ZCDP)]
)
def test_accounting_is_what_the_delta_allows(
    tmp_path: Path, delta: str, accounting: Accounting
) -> None:
    schema = load(tmp_path, changed("delta: 1e-6", f"delta: {delta}"))
    assert schema.budget.accounting is accounting
    assert schema.per_query.delta == schema.budget.delta / 10


def test_the_smallest_budget_has_a_share(tmp_path: Path) -> None:
    schema = load(tmp_path, changed("epsilon: 1,", "epsilon: 0.000001,"))
    assert schema.per_query.epsilon == Fraction(1, 10**6)


def test_what_is_said_is_taken(tmp_path: Path) -> None:
    extra = """\
neighbors: change_one
group_size: 3
per_query: {epsilon: 0.2, max_epsilon: 0.5, delta: 1e-8}
analysts: {alice: {epsilon: 0.7}, Bob: {epsilon: 2}}
ledger: books/shop.db
version: 2024-05-01
"""
    text = changed("delta: 1e-6", "delta: 1e-6, accounting: approx") + extra
    schema = load(tmp_path, text)
    assert schema.neighbors is Neighbors.CHANGE_ONE
    assert (schema.neighbor_distance.units, schema.neighbor_distance.steps) == (3, 6)
    assert schema.budget.accounting is Accounting.APPROX
    assert (schema.per_query.epsilon, schema.per_query.max_epsilon) == (
        Fraction(1, 5),
        Fraction(1, 2),
    )
    assert schema.per_query.delta == Fraction(1, 10**8)
    assert schema.analysts == {"alice": Fraction(7, 10), "Bob": Fraction(2)}
    assert schema.ledger == tmp_path / "books" / "shop.db"
    assert schema.version == "2024-05-01"


def test_ledger_and_anchor_lie_apart_with_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DPSQL_STATE")
    schema = load(tmp_path)
    assert schema.ledger == platformdirs.user_state_path("dpsql") / "shop" / "ledger.db"
    assert schema.anchor == platformdirs.user_data_path("dpsql") / "anchors" / "shop.anchor"


def test_a_named_ledger_keeps_the_anchor_of_its_dataset(tmp_path: Path) -> None:
    assert load(tmp_path, SHOP + "ledger: x.db\n").anchor == load(tmp_path).anchor


def test_types_are_read_as_duckdb_names_them(tmp_path: Path) -> None:
    text = changed("value: {type: float}", "value: {type: Double Precision}")
    assert load(tmp_path, text).tables["readings"].columns["value"].type == Double()
    assert load(tmp_path).tables["readings"].columns["value"].type == Double(32)
    assert load(tmp_path).tables["towns"].columns["town_id"].type == Integer(32)


def test_a_byte_order_mark_is_no_name(tmp_path: Path) -> None:
    assert load(tmp_path, "\ufeff" + SHOP).dataset == "shop"


def test_empty_sections_are_empty(tmp_path: Path) -> None:
    text = SHOP + "per_query:\nanalysts:\n"
    assert load(tmp_path, text) == load(tmp_path)
