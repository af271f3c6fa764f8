"""The README's table of what a soak found."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from readme import README

_BEGIN, _END = "<!-- soak-table:begin -->", "<!-- soak-table:end -->"
_HEAD: Final = "| {} minutes | |\n| --- | --- |\n"


def write_figures(seconds: float, rows: Sequence[tuple[str, str]]) -> None:
    """Put the figures of a soak of so many `seconds` into their place."""
    text = README.read_text(encoding="utf-8")
    assert _BEGIN in text
    table = _HEAD.format(f"{seconds / 60:.0f}")
    table += "".join(f"| {name} | {told} |\n" for name, told in rows)
    written = re.sub(
        f"{_BEGIN}\n.*?{_END}", lambda _: f"{_BEGIN}\n{table}{_END}", text, flags=re.DOTALL
    )
    README.write_text(written, encoding="utf-8")
