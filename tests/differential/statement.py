"""The corpora: TPC-H's queries, BI tools' statements, the notes' queries, and written ones."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from notes.blocks import accepted

FIXTURES = Path(__file__).parent.parent.parent / "fixtures"
WRITTEN = Path(__file__).parent / "queries.sql"

_HEADING = re.compile(r"^-- \[(\d+)\].*$", re.MULTILINE)
_SECTION = re.compile(r"^-- == (\w+): (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Statement:
    """A query about the fixture `schema`; `marks` say what a test has to know of it."""

    name: str
    schema: str
    sql: str
    marks: frozenset[str] = frozenset()


@cache
def tpch() -> dict[int, Statement]:
    """The 22 official queries."""
    found = json.loads((FIXTURES / "tpch" / "queries.json").read_text(encoding="utf-8"))
    return {int(n): Statement(f"tpch Q{n}", "tpch", sql.strip()) for n, sql in found.items()}


@cache
def analytic() -> dict[int, Statement]:
    """What BI tools send, by number."""
    text = (FIXTURES / "bi" / "analytic.sql").read_text(encoding="utf-8")
    _, *parts = _HEADING.split(text)
    return {
        int(number): Statement(f"bi {number}", "bi", _without_remarks(body))
        for number, body in zip(parts[::2], parts[1::2], strict=True)
    }


@cache
def noted() -> tuple[Statement, ...]:
    """Every query that a note accepts, once."""
    found = {(c.sql, c.schema): Statement(f"note {c.name}", c.schema, c.sql) for c in accepted()}
    return tuple(found.values())


@cache
def written() -> tuple[Statement, ...]:
    """queries.sql, by section: `-- == schema: construct`, and `-- mark: …` before a query."""
    _, *parts = _SECTION.split(WRITTEN.read_text(encoding="utf-8"))
    return tuple(
        Statement(f"{construct} {number}", schema, _without_remarks(text), _marks(text))
        for schema, construct, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
        for number, text in enumerate(re.split(r";\n", body), start=1)
        if _without_remarks(text)
    )


def _without_remarks(text: str) -> str:
    kept = [line for line in text.strip().split("\n") if not line.startswith("-- ")]
    return "\n".join(kept).strip().removesuffix(";").rstrip()


def _marks(text: str) -> frozenset[str]:
    return frozenset(
        m for line in re.findall(r"^-- mark: (.+)$", text, re.MULTILINE) for m in line.split()
    )
