from __future__ import annotations

import io
import re
from collections.abc import Sequence

import pytest
from rich.console import Console

from dpsql.report.result.python_value import Row
from dpsql.report.result.result import Description
from dpsql.report.terminal.answer_table import BAR_CELLS, RowErrors, bar, records, table
from dpsql.session.answer.answer import ColumnPrivacy

COUNT = ColumnPrivacy("count(*)", "gaussian", 5.0, 10.0)
MEAN = ColumnPrivacy("avg(x)", "gaussian", 5.0, None)


def columns(*names: str) -> list[Description]:
    codes = ["VARCHAR", *["BIGINT"] * (len(names) - 1)]
    return [(n, c, None, None, None, None, None) for n, c in zip(names, codes, strict=True)]


def drawn(
    names: Sequence[str],
    rows: Sequence[Row],
    shown: Sequence[ColumnPrivacy | None],
    *,
    noise: bool = True,
    expanded: bool = False,
    clamped: Sequence[Sequence[bool]] = (),
) -> list[str]:
    """Lines as a terminal of 80 columns shows them, with <dim> for what is dim."""
    screen = Console(
        file=io.StringIO(), width=80, force_terminal=True, color_system="standard", highlight=False
    )
    shape = records if expanded else table
    widths: list[list[float] | None] = [
        None if made is None or made.half_width is None else [made.half_width] * len(rows)
        for made in shown or [None] * len(names)
    ]
    screen.print(shape(columns(*names), rows, shown, RowErrors(widths, clamped), noise=noise))
    assert isinstance(screen.file, io.StringIO)
    text = screen.file.getvalue().replace("\x1b[2m", "<dim>").replace("\x1b[1;2m", "<dim>")
    for code in ("\x1b[0m", "\x1b[1m", "\x1b[36m"):
        text = text.replace(code, "")
    return text.splitlines()


ROWS: list[Row] = [("a", 100, 7), ("b", 10, 7), ("c", -3, 7), ("d", None, 7)]


def test_noise_stands_beside_the_values_that_have_it() -> None:
    lines = drawn(["k", "n", "m"], ROWS, [None, COUNT, MEAN])
    assert lines[0].split() == ["k", "n", "<dim>±", "m"]
    assert lines[2].split() == ["a", "100", "<dim>10", "7"]


def test_noise_is_left_out_on_request() -> None:
    lines = drawn(["k", "n", "m"], ROWS, [None, COUNT, MEAN], noise=False)
    assert lines[0].split() == ["k", "n", "m"]
    assert lines[2].split() == ["a", "100", "7"]


def test_values_within_their_noise_are_dim() -> None:
    lines = drawn(["k", "n", "m"], ROWS, [None, COUNT, MEAN], noise=False)
    dim = ["<dim>" in line for line in lines[2:]]
    assert dim == [False, True, True, True]


def test_one_key_and_one_noisy_number_have_bars() -> None:
    rows: list[Row] = [("a", 100), ("b", 50), ("c", -3)]
    lines = drawn(["k", "n"], rows, [None, COUNT], noise=False)[2:]
    assert [line.count("█") for line in lines] == [BAR_CELLS, BAR_CELLS // 2, 0]


def test_what_noise_put_at_an_end_is_dim_and_has_no_bar() -> None:
    rows: list[Row] = [("a", 600), ("b", 50), ("c", 25)]
    clamped = [[False] * 3, [True, False, False]]
    lines = drawn(["k", "n"], rows, [None, COUNT], noise=False, clamped=clamped)[2:]
    assert [line.count("█") for line in lines] == [0, BAR_CELLS, BAR_CELLS // 2]
    assert ["<dim>600" in lines[0].replace(" ", ""), "<dim>50" in lines[1]] == [True, False]


@pytest.mark.parametrize(
    ("names", "rows", "shown"),
    [
        (["k", "n", "m"], ROWS, [None, COUNT, MEAN]),
        (["k", "n"], [("a", 100)], [None, COUNT]),
        (["k", "n"], [("a", 1), ("b", 2)], [None, None]),
        (["k", "n"], [("a", -1), ("b", -2)], [None, COUNT]),
    ],
)
def test_other_answers_have_none(
    names: list[str], rows: list[Row], shown: list[ColumnPrivacy | None]
) -> None:
    assert "█" not in "".join(drawn(names, rows, shown))


def test_a_record_has_a_line_for_each_column() -> None:
    lines = drawn(["k", "n"], [("a", 100), ("b", 5)], [None, COUNT], expanded=True)
    assert [re.sub(r"<dim>\s*$", "", line).split() for line in lines] == [
        ["<dim>─[", "1", "]─"],
        ["k", "a"],
        ["n", "100", "<dim>±", "10"],
        ["<dim>─[", "2", "]─"],
        ["k", "b"],
        ["n", "<dim>5", "<dim>±", "10"],
    ]


@pytest.mark.parametrize(
    ("part", "text"),
    [(0, ""), (-1, ""), (1, "█" * BAR_CELLS), (2, "█" * BAR_CELLS), (1 / 192, "▏")],
)
def test_a_bar_is_in_proportion(part: float, text: str) -> None:
    assert bar(part) == text
