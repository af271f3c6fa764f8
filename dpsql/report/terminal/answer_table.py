"""An answer as a table: noise beside it, dim where it is all noise, bars where there is one key.

A value whose magnitude is within its 95 % error may as well be 0: what is dim should not be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from dpsql.report.result.python_value import Row, Value
from dpsql.report.result.result import Description
from dpsql.report.result.type_objects import NUMBER
from dpsql.report.terminal.sanitize import sanitize
from dpsql.report.terminal.table import spell
from dpsql.session.answer.answer import ColumnPrivacy

Shown = Sequence[ColumnPrivacy | None]
Widths = Sequence[Sequence[float | None] | None]
"""For each column a 95 % half-width for each row, if it has any."""

BAR_CELLS: Final = 24
_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"


def table(
    columns: Sequence[Description],
    rows: Sequence[Row],
    shown: Shown,
    widths: Widths,
    *,
    noise: bool,
) -> RenderableType:
    """Rows below their columns' names; `shown` says how the values of each column were made."""
    found = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column, width in zip(columns, widths, strict=True):
        found.add_column(
            Text(sanitize(column[0])),
            justify="right" if column[1] == NUMBER else "left",
            overflow="fold",
        )
        if noise and width is not None:
            found.add_column(Text("±", style="dim"), justify="left")
    bars = list(_bars(columns, rows, shown, widths))
    if bars:
        found.add_column("", no_wrap=True, min_width=BAR_CELLS)
    for place, row in enumerate(rows):
        cells = list(_cells(row, place, widths, noise=noise))
        found.add_row(*cells, *bars[place : place + 1])
    return found


def records(
    columns: Sequence[Description],
    rows: Sequence[Row],
    shown: Shown,  # noqa: ARG001 - as of a table
    widths: Widths,
    *,
    noise: bool,
) -> RenderableType:
    """One column below the other, for answers that are wider than the screen."""
    parts: list[RenderableType] = []
    for number, row in enumerate(rows, start=1):
        parts.append(Text(f"─[ {number} ]─", style="dim"))
        found = Table.grid(padding=(0, 2))
        for column, value, own in zip(columns, row, widths, strict=True):
            width = None if own is None else own[number - 1]
            error = f"± {width:.6g}" if noise and width is not None else ""
            found.add_row(Text(sanitize(column[0])), _value(value, width), Text(error, style="dim"))
        parts.append(found)
    return Group(*parts)


def bar(part: float) -> str:
    """A bar of `part` (0 to 1) of its cells, in eighths."""
    eighths = round(max(0.0, min(1.0, part)) * BAR_CELLS * 8)
    full, rest = divmod(eighths, 8)
    return "█" * full + (_EIGHTHS[rest] if rest else "")


def _cells(row: Row, index: int, widths: Widths, *, noise: bool) -> Iterator[Text]:
    for value, own in zip(row, widths, strict=True):
        width = None if own is None else own[index]
        yield _value(value, width)
        if noise and own is not None:
            yield Text("" if value is None or width is None else f"{width:.6g}", style="dim")


def _value(value: Value, width: float | None) -> Text:
    return Text(spell(value), style="dim" if value is None or _is_noise(value, width) else "")


def _is_noise(value: Value, width: float | None) -> bool:
    number = _number(value)
    return width is not None and number is not None and abs(number) <= width


def _number(value: Value) -> float | None:
    return float(value) if isinstance(value, int | float | Decimal) else None


def _bars(
    columns: Sequence[Description], rows: Sequence[Row], shown: Shown, widths: Widths
) -> Iterator[Text]:
    """Bars for one noisy number by one key, in proportion to the largest."""
    noisy = [place for place, made in enumerate(shown) if made is not None]
    if len(columns) != 2 or len(noisy) != 1 or len(rows) < 2:
        return
    (place,) = noisy
    own = widths[place]
    values = [row[place] for row in rows]
    numbers = [_number(value) or 0.0 for value in values]
    most = max(numbers)
    if most <= 0:
        return
    for row, (value, number) in enumerate(zip(values, numbers, strict=True)):
        style = "dim" if _is_noise(value, None if own is None else own[row]) else "cyan"
        yield Text(bar(number / most), style=style)
