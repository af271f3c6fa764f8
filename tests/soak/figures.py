"""The table of what a soak found, in docs/."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from documentation.pages import put

_HEAD: Final = "| {} minutes | |\n| --- | --- |\n"


def write_figures(seconds: float, rows: Sequence[tuple[str, str]]) -> None:
    """Put the figures of a soak of so many `seconds` into their place."""
    table = _HEAD.format(f"{seconds / 60:.0f}")
    table += "".join(f"| {name} | {told} |\n" for name, told in rows)
    put("soak-table", table)
