"""The commands of a dataset's owner: check and budget."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli.cli_run import Run
from narrowed import ledger_file

from dpsql.schema.load.load import load_schema
from dpsql.schema.verify import record_path
from dpsql.session.sidecar import sidecar_path

SHOP = """\
dataset: shop
source: data
units:
  person: {table: people, key: id}
tables:
  people: {key: id, unit: person, columns: {id: {type: bigint}}}
  orders:
    key: number
    unit: {column: person, references: people.id}
    limits: {groups: 3}
    columns: {number: {type: bigint}, person: {type: bigint}}
  towns: {public: true, key: name}
  readings: {unit: row, columns: {value: {type: bigint}}}
budget: {epsilon: 1, delta: 1e-6, accounting: approx}
per_query: {epsilon: 0.25, delta: 1e-7}
analysts: {alice: {epsilon: 0.5}}
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    data = tmp_path / "data"
    data.mkdir()
    for name, columns in {
        "people": {"id": [1, 2, 3]},
        "orders": {"number": [1, 2], "person": [1, 1]},
        "towns": {"name": ["a", "b"]},
        "readings": {"value": [1]},
    }.items():
        pq.write_table(pa.table(columns), data / f"{name}.parquet")
    path = tmp_path / "schema.yaml"
    path.write_text(SHOP)
    return path


def test_check_says_whether_what_was_prepared_is_used(run: Run, shop: Path) -> None:
    def prepared() -> list[str]:
        ended = run("check", shop)
        assert ended.code == 0
        return [line for line in ended.out.splitlines() if line.startswith("prepared: ")]

    paid = "person: {type: bigint}, paid: {type: bigint, bounds: [0, 9]}}"
    shop.write_text(SHOP.replace("person: {type: bigint}}", paid))
    orders = {"number": [1, 2], "person": [1, 1], "paid": [3, 30]}
    pq.write_table(pa.table(orders), shop.parent / "data" / "orders.parquet")
    assert prepared() == []
    made = run("prepare", shop)
    assert made.code == 0
    assert made.out.startswith("prepared people, orders in ")
    assert prepared() == ["prepared: orders, people"]
    shop.write_text(shop.read_text().replace("[0, 9]", "[0, 8]"))
    assert prepared() == [
        "prepared: none: the file is of other data, owners or bounds; run dpsql prepare again"
    ]
    assert run("prepare", shop).code == 0
    assert prepared() == ["prepared: orders, people"]


def test_prepare_says_what_is_ready_how_old_it_is_and_what_would_be_made(
    run: Run, shop: Path
) -> None:
    def status() -> list[str]:
        ended = run("prepare", "--status", shop)
        assert (ended.code, ended.err) == (0, "")
        return timeless(ended.out).splitlines()

    def timeless(text: str) -> str:
        # Of what a part of the rows has taken: on a busy machine, it is more.
        return re.sub(r"in about [\d,]+ s$", "in about 1 s", text, flags=re.MULTILINE)

    planned = "people, orders: 5 rows, about 0.0 MB, in about 1 s"
    assert status() == ["prepared: nothing", f"would be made: {planned}"]
    made = run("prepare", shop)
    assert timeless(made.err) == f"preparing {planned}\n"
    path = sidecar_path(load_schema(shop))
    size = f"{path.stat().st_size / 1e6:,.1f} MB"
    when = dt.datetime.fromtimestamp(path.stat().st_mtime, dt.UTC)
    file = f"file: {path}, {size} of {when:%Y-%m-%d %H:%M} UTC"
    assert status() == ["prepared: orders, people", file, f"would be made: {planned}"]
    pq.write_table(pa.table({"id": [1, 2, 3, 4]}), shop.parent / "data" / "people.parquet")
    assert status() == [
        "prepared: nothing of these data, owners and bounds",
        f"{file}, which is not used",
        f"would be made: {planned.replace('5 rows', '6 rows')}",
    ]


def test_check_says_of_each_table_whose_it_is_and_what_limits_it(run: Run, shop: Path) -> None:
    ended = run("check", shop)
    assert ended.code == 0
    assert ended.err == ""
    lines = [line.rstrip() for line in ended.out.splitlines()]
    assert lines[0] == ("dataset shop: epsilon = 1, delta = 1e-06 (approx), neighbours: add_remove")
    assert lines[2:8] == [
        "table     rows of            key            limits per unit",
        "--------  -----------------  -------------  " + "-" * 44,
        "people    person, by id      id: holds      default: groups 8, rows_per_group 8, rows 64",
        "orders    person, by person  number: holds  groups 3; default: rows_per_group 8, rows 64",
        "towns     nobody (public)    name: holds",
        "readings  each its own unit                 1 row",
    ]


def test_check_records_the_keys_that_hold_and_makes_no_ledger(run: Run, shop: Path) -> None:
    ended = run("check", shop)
    schema = load_schema(shop)
    assert record_path(schema).exists()
    assert not ledger_file(schema).exists()
    assert f"\nledger: {schema.ledger} (not made yet)\n" in ended.out


def test_check_tells_of_rows_without_a_unit(run: Run, shop: Path) -> None:
    items = """  items:
    unit: {column: number, references: orders.number}
    columns: {number: {type: bigint}, price: {type: bigint}}
  towns"""
    shop.write_text(SHOP.replace("  towns", items))
    for name, columns in {
        "orders": {"number": [1, 2, 3], "person": [1, None, 2]},
        "items": {"number": [1, 1, 2, None, 7], "price": [1, 2, 3, 4, 5]},
    }.items():
        pq.write_table(pa.table(columns), shop.parent / "data" / f"{name}.parquet")
    ended = run("check", shop)
    assert ended.code == 0
    orders, items = [line for line in ended.out.splitlines() if "no unit" in line]
    assert orders == "orders: 1 of 3 rows have no unit, and count nowhere: person is NULL"
    assert items.startswith(
        "items: 3 of 5 rows have no unit, and count nowhere: what they reference"
    )
    assert items.endswith("on the way by number → orders")
    told = run("explain", shop, "SELECT count(*) FROM items").out
    assert "rows of items that lead to no unit count nowhere: dpsql check tells how many" in told


def test_check_fails_for_a_key_that_is_not_unique(run: Run, shop: Path) -> None:
    pq.write_table(
        pa.table({"number": [1, 1], "person": [1, 2]}), shop.parent / "data" / "orders.parquet"
    )
    ended = run("check", shop)
    assert ended.code == 1
    assert "number: does NOT hold" in ended.out
    assert ended.err.startswith("error: the key of orders is not unique")
    assert "hint: " in ended.err


def test_check_fails_for_another_number_of_rows(run: Run, shop: Path) -> None:
    text = SHOP.replace("unit: row,", "unit: row, rows: 1000,")
    shop.write_text(text.replace("budget:", "neighbors: change_one\nbudget:"))
    ended = run("check", shop)
    assert ended.code == 1
    assert "1 row, of 1000" in ended.out
    assert ended.err.startswith("error: readings is declared with 1000 rows, and has ")
    there = int(ended.err.split("and has ")[1].split()[0])
    assert f"hint: write rows: {there}" in ended.err
    shop.write_text(shop.read_text().replace("rows: 1000", f"rows: {there}"))
    assert run("check", shop).code == 0


def test_check_fails_where_there_are_fewer_rows_than_declared(run: Run, shop: Path) -> None:
    shop.write_text(SHOP.replace("unit: row,", "unit: row, at_least: 1000,"))
    ended = run("check", shop)
    assert ended.code == 1
    assert "1 row, of 1000 at least" in ended.out
    assert ended.err.startswith("error: readings is declared with 1000 rows at least, and has ")
    there = int(ended.err.split("and has ")[1].split()[0])
    assert f"hint: write at_least: {there} or less" in ended.err
    shop.write_text(shop.read_text().replace("at_least: 1000", f"at_least: {there}"))
    assert run("check", shop).code == 0
    shop.write_text(SHOP.replace("unit: row,", "unit: row, resize: 1000,"))
    ended = run("check", shop)
    assert (ended.code, "of 1000 that it is resized to" in ended.out) == (0, True)


def test_check_needs_the_source(run: Run, shop: Path) -> None:
    (shop.parent / "data").rename(shop.parent / "away")
    shop.write_text(
        SHOP.replace(
            "{public: true, key: name}", "{public: true, columns: {name: {type: varchar}}}"
        )
    )
    ended = run("check", shop)
    assert ended.code == 1
    assert "doesn't exist" in ended.err
    assert "sqlstate: 58P01" in ended.err


def test_check_names_the_line_of_a_fault(run: Run, shop: Path) -> None:
    shop.write_text(SHOP.replace("limits: {groups: 3}", "limits: {group: 3}"))
    ended = run("check", shop)
    assert ended.code == 1
    assert "line 10" in ended.err or ":10" in ended.err
    assert "did you mean groups?" in ended.err


def test_budget_of_an_unused_dataset_is_whole(run: Run, shop: Path) -> None:
    ended = run("budget", shop)
    assert ended.code == 0
    assert ended.out == (
        "dataset shop: epsilon 0 spent of 1, 1 left; delta 0 spent of 1e-06\n"
        "enough for 4 queries at epsilon = 0.25\n"
        "nothing was charged yet\n"
    )


def test_budget_tells_what_was_spent_by_whom_on_what(run: Run, shop: Path) -> None:
    assert run("query", shop, "SELECT count(*)\nFROM people", "--analyst", "alice").code == 0
    assert run("query", shop, "SELECT count(*) FROM orders").code == 0
    ended = run("budget", shop, "--analyst", "alice")
    dataset, own, further, _, title, _, _, _, opened, first, second = ended.out.splitlines()
    assert dataset.startswith("dataset shop: epsilon 0.5 spent of 1, 0.5 left; delta ")
    assert own == "analyst alice: epsilon 0.25 spent of 0.5, 0.25 left"
    assert further == "enough for 1 query at epsilon = 0.25"
    assert title.startswith("entries, in ")
    assert "ledger opened" in opened
    assert first.split()[2:] == [
        "alice",
        "0.25",
        "answered",
        *["SELECT", "count(*)", "FROM", "people"],
    ]
    assert second.split()[2] == "analyst"


def test_a_capped_analyst_is_told_what_is_left_of_the_cap(run: Run, shop: Path) -> None:
    ended = run("query", shop, "SELECT count(*) FROM people", "--analyst", "alice")
    assert "left: epsilon = 0.75 of 1 (0.25 of 0.5 for alice), " in ended.err


def test_budget_shows_the_latest_entries_only(run: Run, shop: Path) -> None:
    shop.write_text(SHOP.replace("{epsilon: 0.25, ", "{epsilon: 0.01, "))
    for number in range(12):
        assert run("query", shop, f"SELECT count(*) FROM people WHERE id > {number}").code == 0
    ended = run("budget", shop)
    assert "the latest 10 of 13 entries" in ended.out
    assert "id > 11" in ended.out
    assert "id > 1\n" not in ended.out


def test_check_lists_views_and_says_what_is_hidden(run: Run, shop: Path) -> None:
    views = (
        "views:\n  adults: {query: SELECT id FROM people}\n"
        "  count: {query: SELECT count(*) AS n FROM adults, visible: false}\nbudget:"
    )
    text = SHOP.replace("budget:", views)
    shop.write_text(text.replace("{public: true, key: name}", "{public: true, visible: false}"))
    ended = run("check", shop)
    assert ended.code == 0
    lines = [" ".join(line.split()) for line in ended.out.splitlines()]
    assert "towns (hidden) nobody (public)" in lines
    assert "count (view, hidden) nobody: a release" in lines
    assert any(line.startswith("adults (view) person, by id default: groups 8") for line in lines)


def test_check_refuses_a_view_that_cannot_be_bound(run: Run, shop: Path) -> None:
    view = "views: {adults: {query: SELECT ide FROM people}}\nbudget:"
    shop.write_text(SHOP.replace("budget:", view))
    ended = run("check", shop)
    assert ended.code != 0
    assert "line 14, views.adults.query: there is no column ide at character 8" in ended.err
    assert "did you mean id?" in ended.err


def test_check_names_the_file_that_has_an_unreadable_page(run: Run, shop: Path) -> None:
    file = shop.parent / "data" / "readings.parquet"
    rows = pa.table({"value": pa.array(range(20000), pa.int64())})
    pq.write_table(rows, file, use_dictionary=False, compression="zstd")
    assert run("check", shop).code == 0
    content = bytearray(file.read_bytes())
    content[20:120] = b"\xff" * 100
    file.write_bytes(content)
    ended = run("check", shop)
    assert ended.code == 1
    assert f"{file} can't be read to the end" in ended.err
    assert "charge stands" not in ended.err
