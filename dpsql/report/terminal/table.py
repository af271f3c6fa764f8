"""Tables for people: on a terminal, as plain text for pipes, and in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.report.result.python_value import Row, Value
from dpsql.report.result.result import Description
from dpsql.report.result.type_objects import NUMBER
from dpsql.report.terminal.sanitize import sanitize, width

_NULL = "NULL"


def plain(columns: Sequence[Description], rows: Sequence[Row]) -> str:
    """A table of plain text: columns under their names, two blanks apart, numbers to the right."""
    cells = [[spell(value) for value in row] for row in rows]
    names = [sanitize(column[0]) for column in columns]
    return _aligned(names, cells, list(map(_is_number, columns)))


def listing(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A plain table whose values are all texts."""
    cells = [[sanitize(text) for text in row] for row in rows]
    return _aligned(names, cells, [False] * len(names))


def markdown(columns: Sequence[Description], rows: Sequence[Row]) -> str:
    """A table in GitHub's Markdown."""
    lines = [
        [_escaped(sanitize(column[0])) for column in columns],
        ["---:" if _is_number(column) else "---" for column in columns],
        *([_escaped(spell(value)) for value in row] for row in rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def print_on_terminal(columns: Sequence[Description], rows: Sequence[Row]) -> None:
    """Print a table that fits the terminal's width."""
    from rich.box import SIMPLE_HEAD  # noqa: PLC0415 - only a terminal needs it
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        # Text, since a plain string would be read for markup.
        table.add_column(
            Text(sanitize(column[0])),
            justify="right" if _is_number(column) else "left",
            overflow="fold",
        )
    for row in rows:
        table.add_row(*(Text(spell(value), style="dim" if value is None else "") for value in row))
    Console(highlight=False).print(table)


def spell(value: Value) -> str:
    """A value as text in a table; a float has ten digits."""
    match value:
        case None:
            return _NULL
        case bool():
            return str(value).lower()
        case float():
            return f"{value:.10g}"
        case _:
            return sanitize(str(value))


def _is_number(column: Description) -> bool:
    return column[1] == NUMBER


def _aligned(names: Sequence[str], cells: Sequence[Sequence[str]], right: Sequence[bool]) -> str:
    widths = [
        max(map(width, (name, *(row[index] for row in cells)))) for index, name in enumerate(names)
    ]
    lines = [names, ["-" * size for size in widths], *cells]
    return "\n".join("  ".join(map(_padded, line, widths, right)).rstrip() for line in lines)


def _padded(text: str, size: int, right: bool) -> str:  # noqa: FBT001 - mapped over columns
    blanks = " " * (size - width(text))
    return blanks + text if right else text + blanks


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|")
