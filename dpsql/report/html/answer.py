"""An answer as HTML, for notebooks: each noisy value with its error, and the cost."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from msgspec import Struct

from dpsql.report.cost import paid
from dpsql.report.error_columns import PLUS_MINUS, clamped_rows, half_width_rows
from dpsql.report.html.template import render
from dpsql.report.result.python_value import Value, python_rows
from dpsql.report.result.result import Result
from dpsql.report.result.type_objects import NUMBER

MAX_ROWS: Final = 100
"""Further rows aren't shown, and have to be fetched."""

MAX_CHARACTERS: Final = 200
"""The length at which one value is cut."""


class Cell(Struct, frozen=True):
    """A value as text; `is_noise`: it is within its 95 % error of 0, or clamped."""

    text: str
    error: str
    is_number: bool
    is_null: bool
    is_noise: bool


def answer_page(result: Result) -> str:
    """A fragment of HTML, without scripts, with at most `MAX_ROWS` rows."""
    numeric = [column[1] == NUMBER for column in result.description]
    some = result.table.slice(0, MAX_ROWS)
    widths = half_width_rows(result, some.num_rows)
    clamped = clamped_rows(result, some.num_rows)
    rows = [
        [
            _cell(
                value,
                None if errors is None else errors[number],
                is_number=is_number,
                is_clamped=ends[number],
            )
            for value, errors, ends, is_number in zip(row, widths, clamped, numeric, strict=True)
        ]
        for number, row in enumerate(python_rows(some, result.types))
    ]
    heads = list(zip(map(_cut, result.names), numeric, strict=True))
    return render("answer.html.j2", heads=heads, rows=rows, lines=list(_lines(result)))


def _lines(result: Result) -> Iterator[str]:
    more = result.table.num_rows - MAX_ROWS
    if more > 0:
        yield f"… and {more:,} more row{'' if more == 1 else 's'}"
    if result.privacy is not None:
        yield f"cost: {paid(result.privacy)}"
        yield from result.privacy.notes


def _cell(value: Value, width: float | None, *, is_number: bool, is_clamped: bool) -> Cell:
    has_error = value is not None and width is not None
    return Cell(
        _cut(_text_of(value)),
        f"{PLUS_MINUS} {width:.6g}" if has_error else "",
        is_number,
        value is None,
        is_clamped
        or (
            isinstance(value, int | float | Decimal)
            and width is not None
            and abs(float(value)) <= width
        ),
    )


def _text_of(value: Value) -> str:
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).lower()
        case float():
            return f"{value:.10g}"
        case _:
            return str(value)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}…"
