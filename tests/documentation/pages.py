"""The pages that people read: README.md and docs/, and tables in them that tests make."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"
README = ROOT / "README.md"


def pages() -> list[Path]:
    """The README, and every page of the site that is written here."""
    return [README, *sorted(DOCS.rglob("*.md"))]


def page_with(name: str) -> Path:
    """The one page that has the marks of the table `name`."""
    begin = f"<!-- {name}:begin -->"
    (found,) = (page for page in pages() if begin in page.read_text(encoding="utf-8"))
    return found


def put(name: str, made: str) -> None:
    """Write `made`, which ends in a line break, between the marks of `name`."""
    page = page_with(name)
    page.write_text(_with(page, name, made), encoding="utf-8")


def table_of(name: str) -> str:
    """What stands between the marks of `name`."""
    text = page_with(name).read_text(encoding="utf-8")
    return text.split(f"<!-- {name}:begin -->\n")[1].split(f"<!-- {name}:end -->")[0]


def check_table(request: pytest.FixtureRequest, name: str, table: str) -> None:
    """The page has `table`, which ends in a line break; `--update-docs` writes it there."""
    if request.config.getoption("--update-docs"):
        assert "CI" not in os.environ
        put(name, table)
    else:
        slow = "-m slow " if request.node.get_closest_marker("slow") else ""
        told = f"run pytest {slow}--update-docs {request.node.nodeid}"
        assert table_of(name) == table, told


def _with(page: Path, name: str, made: str) -> str:
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    text = page.read_text(encoding="utf-8")
    return re.sub(f"{begin}\n.*?{end}", lambda _: f"{begin}\n{made}{end}", text, flags=re.DOTALL)
