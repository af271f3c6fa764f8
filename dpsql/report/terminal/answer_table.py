"""An answer as a table with errors; values that may be 0 are dim; bars where there is one key.

A value whose magnitude is within its 95 % error may as well be 0, so it is dim. So is one that
noise has put at an end of all that it can be, which has no bar: it would be the longest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from msgspec import Struct
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

Clamped = Sequence[Sequence[bool]]
"""For each column which of its rows' values stand at an end of all that they can be."""

BAR_CELLS: Final = 24
_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"


class RowErrors(Struct, frozen=True):
    """The errors of an answer's values, and which of them are `clamped`; () if none is."""

    half_widths: Widths
    clamped: Clamped = ()

    def half_width(self, column: int, row: int) -> float | None:
        """How far noise may have moved a value; None if that isn't known."""
        widths = self.half_widths[column]
        return None if widths is None else widths[row]

    def is_clamped(self, column: int, row: int) -> bool:
        """Whether noise has put a value at an end of all that it can be."""
        return bool(self.clamped) and self.clamped[column][row]

    def is_dim(self, value: Value, column: int, row: int) -> bool:
        """Whether a value may be all noise, or is none."""
        if value is None or self.is_clamped(column, row):
            return True
        width, number = self.half_width(column, row), _number(value)
        return width is not None and number is not None and abs(number) <= width


def table(
    columns: Sequence[Description],
    rows: Sequence[Row],
    shown: Shown,
    errors: RowErrors,
    *,
    noise: bool,
) -> RenderableType:
    """The rows below their columns' names, with a column ± of errors if `noise`.

    `shown` has the mechanism of each column, None for columns without noise.
    """
    grid = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column, width in zip(columns, errors.half_widths, strict=True):
        grid.add_column(
            Text(sanitize(column[0])),
            justify="right" if column[1] == NUMBER else "left",
            overflow="fold",
        )
        if noise and width is not None:
            grid.add_column(Text("±", style="dim"), justify="left")
    bars = list(_bars(columns, rows, shown, errors))
    if bars:
        grid.add_column("", no_wrap=True, min_width=BAR_CELLS)
    for number, row in enumerate(rows):
        cells = list(_cells(row, number, errors, noise=noise))
        grid.add_row(*cells, *bars[number : number + 1])
    return grid


def records(
    columns: Sequence[Description],
    rows: Sequence[Row],
    shown: Shown,  # noqa: ARG001 - as of a table
    errors: RowErrors,
    *,
    noise: bool,
) -> RenderableType:
    """Each row as a list of its columns, for answers that are wider than the screen."""
    parts: list[RenderableType] = []
    for number, row in enumerate(rows):
        parts.append(Text(f"─[ {number + 1} ]─", style="dim"))
        grid = Table.grid(padding=(0, 2))
        for index, (column, value) in enumerate(zip(columns, row, strict=True)):
            width = errors.half_width(index, number)
            error = f"± {width:.6g}" if noise and width is not None else ""
            style = "dim" if errors.is_dim(value, index, number) else ""
            name = Text(sanitize(column[0]))
            grid.add_row(name, Text(spell(value), style=style), Text(error, style="dim"))
        parts.append(grid)
    return Group(*parts)


def bar(part: float) -> str:
    """A bar that fills `part` (0 to 1) of `BAR_CELLS` cells, in eighths of a cell."""
    eighths = round(max(0.0, min(1.0, part)) * BAR_CELLS * 8)
    full, rest = divmod(eighths, 8)
    return "█" * full + (_EIGHTHS[rest] if rest else "")


def _cells(row: Row, number: int, errors: RowErrors, *, noise: bool) -> Iterator[Text]:
    for index, value in enumerate(row):
        yield Text(spell(value), style="dim" if errors.is_dim(value, index, number) else "")
        if noise and errors.half_widths[index] is not None:
            width = errors.half_width(index, number)
            yield Text("" if value is None or width is None else f"{width:.6g}", style="dim")


def _number(value: Value) -> float | None:
    return float(value) if isinstance(value, int | float | Decimal) else None


def _bars(
    columns: Sequence[Description], rows: Sequence[Row], shown: Shown, errors: RowErrors
) -> Iterator[Text]:
    """Bars for one noisy number by one key, in proportion to the largest that isn't clamped."""
    noisy = [index for index, mechanism in enumerate(shown) if mechanism is not None]
    if len(columns) != 2 or len(noisy) != 1 or len(rows) < 2:
        return
    (index,) = noisy
    numbers = [
        0.0 if errors.is_clamped(index, number) else _number(row[index]) or 0.0
        for number, row in enumerate(rows)
    ]
    largest = max(numbers)
    if largest <= 0:
        return
    for number, (row, length) in enumerate(zip(rows, numbers, strict=True)):
        style = "dim" if errors.is_dim(row[index], index, number) else "cyan"
        yield Text(bar(length / largest), style=style)
