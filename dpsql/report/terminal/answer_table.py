"""An answer as a table with errors; values that may be 0 are dim; bars where there is one key.

A value whose magnitude is within its 95 % error may as well be 0, so it is dim.
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
"""For each column the 95 % half-widths of its rows, None for a column without any."""

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
    """The rows below their columns' names, with a column ± of errors if `noise`.

    `shown` has the mechanism of each column, None for columns without noise.
    """
    grid = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column, width in zip(columns, widths, strict=True):
        grid.add_column(
            Text(sanitize(column[0])),
            justify="right" if column[1] == NUMBER else "left",
            overflow="fold",
        )
        if noise and width is not None:
            grid.add_column(Text("±", style="dim"), justify="left")
    bars = list(_bars(columns, rows, shown, widths))
    if bars:
        grid.add_column("", no_wrap=True, min_width=BAR_CELLS)
    for number, row in enumerate(rows):
        cells = list(_cells(row, number, widths, noise=noise))
        grid.add_row(*cells, *bars[number : number + 1])
    return grid


def records(
    columns: Sequence[Description],
    rows: Sequence[Row],
    shown: Shown,  # noqa: ARG001 - as of a table
    widths: Widths,
    *,
    noise: bool,
) -> RenderableType:
    """Each row as a list of its columns, for answers that are wider than the screen."""
    parts: list[RenderableType] = []
    for number, row in enumerate(rows, start=1):
        parts.append(Text(f"─[ {number} ]─", style="dim"))
        grid = Table.grid(padding=(0, 2))
        for column, value, own in zip(columns, row, widths, strict=True):
            width = None if own is None else own[number - 1]
            error = f"± {width:.6g}" if noise and width is not None else ""
            grid.add_row(Text(sanitize(column[0])), _value(value, width), Text(error, style="dim"))
        parts.append(grid)
    return Group(*parts)


def bar(part: float) -> str:
    """A bar that fills `part` (0 to 1) of `BAR_CELLS` cells, in eighths of a cell."""
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
    noisy = [index for index, mechanism in enumerate(shown) if mechanism is not None]
    if len(columns) != 2 or len(noisy) != 1 or len(rows) < 2:
        return
    (index,) = noisy
    own = widths[index]
    values = [row[index] for row in rows]
    numbers = [_number(value) or 0.0 for value in values]
    largest = max(numbers)
    if largest <= 0:
        return
    for row, (value, number) in enumerate(zip(values, numbers, strict=True)):
        style = "dim" if _is_noise(value, None if own is None else own[row]) else "cyan"
        yield Text(bar(number / largest), style=style)
