"""docs/threats.md: every way in that is known, and the tests that try it; each of them exists."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml
from notes.compiler import schema_of

from dpsql.bind.statement import bind
from dpsql.errors import Error

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "threats.md"

HEAD = """# Threats, and the tests that try them

Ways to learn more than the ledger says, as papers, other systems' mistakes and our own reading of
DuckDB tell them; what stands against each; and where it is tried. What isn't covered says so:
[SECURITY.md](../SECURITY.md) has the promise. Notes of grammar_notes/ are run by the tests, and
every query that they accept is attacked by the neighbour search. This page is made of
[tests/audit/threats.yaml](../tests/audit/threats.yaml) by `pytest --update-docs tests/audit`.
"""


@dataclass(frozen=True)
class Threat:
    attack: str
    defence: str = ""
    tests: list[str] = field(default_factory=list, hash=False)
    outside: str = ""


CATALOGUE: dict[str, list[Threat]] = {
    title: [Threat(**row) for row in rows]
    for title, rows in yaml.safe_load(
        Path(__file__).with_name("threats.yaml").read_text(encoding="utf-8")
    ).items()
}
THREATS = [threat for rows in CATALOGUE.values() for threat in rows]


def page() -> str:
    parts, number = [HEAD], 0
    for title, rows in CATALOGUE.items():
        lines = [f"\n## {title}\n", "| | attack | what stands against it | tried by |"]
        lines += ["| --- | --- | --- | --- |"]
        for row in rows:
            number += 1
            tried = "<br>".join(map(link, row.tests)) or "not covered"
            lines.append(f"| {number} | {row.attack} | {row.defence or row.outside} | {tried} |")
        parts.append("\n".join(lines) + "\n")
    return "".join(parts)


def link(test: str) -> str:
    path, name = target(test)
    text = name or (path.stem if path.suffix == ".md" else path.name)
    return f"[{text}](../{path.relative_to(ROOT)})"


def target(test: str) -> tuple[Path, str]:
    """The file of a test, or of a note, and the test's name."""
    where, _, name = test.partition("::")
    return ROOT / (where if where.startswith("grammar_notes/") else f"tests/{where}"), name


def test_the_page_is_current(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-docs"):
        assert "CI" not in os.environ
        PAGE.write_text(page(), encoding="utf-8")
    else:
        assert PAGE.read_text(encoding="utf-8") == page()


@pytest.mark.parametrize("threat", THREATS, ids=lambda threat: threat.attack)
def test_every_threat_is_tried_or_said_to_be_outside(threat: Threat) -> None:
    assert bool(threat.tests) != bool(threat.outside)
    assert bool(threat.tests) == bool(threat.defence)
    for test in threat.tests:
        path, name = target(test)
        assert path.is_file(), test
        found = path.read_text(encoding="utf-8")
        assert not name or re.search(rf"^(async )?def {name}\(", found, re.MULTILINE), test


def test_the_promise_links_to_the_page() -> None:
    promise = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert f"(docs/threats.md) has {len(THREATS)} ways" in promise


@pytest.mark.parametrize(
    "sql",
    [
        "SET dpsql.noise = off",
        "SET dpsql.seed = 1",
        "SET dpsql.private = off",
        "SET dpsql.mechanism = 'exact'",
        "PRAGMA dpsql_noise = off",
        "SELECT /*+ exact */ setseed(1), count(*) FROM patients",
    ],
)
def test_no_statement_turns_the_noise_off(sql: str) -> None:
    with pytest.raises(Error):
        bind(sql, schema_of("clinic"))
