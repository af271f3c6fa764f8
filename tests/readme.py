"""Tables in the README that tests make, between marks of their own."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"


def check_table(request: pytest.FixtureRequest, name: str, table: str) -> None:
    """The README has `table`, which ends in a line break; `--update-readme` writes it there."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    text = README.read_text(encoding="utf-8")
    assert begin in text
    current = re.sub(
        f"{begin}\n.*?{end}", lambda _: f"{begin}\n{table}{end}", text, flags=re.DOTALL
    )
    if request.config.getoption("--update-readme"):
        assert "CI" not in os.environ
        README.write_text(current, encoding="utf-8")
    else:
        slow = "-m slow " if request.node.get_closest_marker("slow") else ""
        assert text == current, f"run pytest {slow}--update-readme {request.node.nodeid}"
