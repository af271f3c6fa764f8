"""The switches of the display, and the file that answers go to."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct


class Settings(Struct):
    r"""The switches of one console, each by the name of its command.

    `timing` prints how long a statement took, `expanded` (`\x`) prints each row as a list of its
    columns, and `dry` only explains queries. `noise` shows errors on the screen; with `errors`,
    files and pipes get columns of them. With `pager`, answers that are longer than the screen are
    shown by a pager. `output` (`\o`) is the file that answers are added to, None
    for the screen.
    """

    timing: bool = False
    expanded: bool = False
    noise: bool = True
    errors: bool = False
    dry: bool = False
    pager: bool = True
    output: Path | None = None
