from __future__ import annotations

import datetime as dt
import json as standard
import math
from decimal import Decimal

import pytest

from dpsql.report.export import csv, json
from dpsql.report.result.python_value import Value
from dpsql.report.result.result import Description
from dpsql.report.terminal.sanitize import sanitize
from dpsql.report.terminal.table import listing, markdown, plain, spell


def column(name: str, code: str = "VARCHAR") -> Description:
    return (name, code, None, None, None, None, None)


def test_numbers_stand_right_and_texts_left() -> None:
    columns = [column("word"), column("n", "BIGINT")]
    assert plain(columns, [("a", 10), ("long one", -5)]) == (
        "word       n\n"
        "--------  --\n"
        "a         10\n"
        "long one  -5"
    )  # fmt: skip


def test_wide_signs_take_two_cells() -> None:
    assert listing(["a", "b"], [["日本", "x"], ["ab", "y"]]) == (
        "a     b\n"
        "----  -\n"
        "日本  x\n"
        "ab    y"
    )  # fmt: skip


def test_an_answer_without_rows_has_its_names() -> None:
    assert plain([column("word")], []) == "word\n----"


def test_a_table_in_markdown_escapes_its_bars() -> None:
    columns = [column("a|b"), column("n", "DOUBLE")]
    assert markdown(columns, [("x|y\\", 0.5), (None, None)]) == (
        "| a\\|b | n |\n| --- | ---: |\n| x\\|y\\\\ | 0.5 |\n| NULL | NULL |"
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "NULL"),
        (True, "true"),
        (1 / 3, "0.3333333333"),
        (Decimal("1.50"), "1.50"),
        (10**37, "1" + "0" * 37),
        (dt.date(2024, 1, 2), "2024-01-02"),
        (dt.datetime(2024, 1, 2, 3, 4, 5), "2024-01-02 03:04:05"),  # noqa: DTZ001
        ("\x1b[31mred\nline", "\\x1b[31mred\\nline"),
        ("[bold]no markup[/]", "[bold]no markup[/]"),
    ],
)
def test_values_in_tables_are_for_people(value: Value, text: str) -> None:
    assert spell(value) == text


@pytest.mark.parametrize("sign", ["\x1b", "\x07", "\r", "\u202e", "\ud800", "\x9b"])
def test_nothing_that_acts_on_a_terminal_is_left(sign: str) -> None:
    assert sanitize(f"a{sign}b").isprintable()


def test_csv_tells_null_from_an_empty_text() -> None:
    rows: list[tuple[Value, ...]] = [
        (None, "", 'a "b", c'),
        (True, "x\ny", 0.1),
        (Decimal("1E+2"), dt.date(2024, 1, 2), 10**20),
    ]
    assert csv(["a", "b", "c d"], rows) == (
        'a,b,c d\n,"","a ""b"", c"\ntrue,"x\ny",0.1\n100,2024-01-02,100000000000000000000\n'
    )


def test_json_has_every_digit() -> None:
    rows: list[tuple[Value, ...]] = [
        (10**30, Decimal("0.10"), "ä\n", None),
        (-1, Decimal(-7), dt.date(2024, 1, 2), math.nan),
    ]
    text = json(["n", "n", "s", "x"], rows)
    assert text == (
        '[{"n":1000000000000000000000000000000,"n_1":0.10,"s":"ä\\n","x":null},\n'
        ' {"n":-1,"n_1":-7,"s":"2024-01-02","x":null}]\n'
    )
    assert standard.loads(text)[0]["n"] == 10**30


def test_json_of_no_rows_is_an_empty_list() -> None:
    assert standard.loads(json(["a"], [])) == []
