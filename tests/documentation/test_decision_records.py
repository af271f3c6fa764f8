"""Decision records say what was decided, why, by what measurement, and what follows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from documentation.pages import DOCS, ROOT

RECORDS = sorted((DOCS / "adr").glob("0*.md"))
HEADINGS = ["Decision", "Reason", "Measurement", "Consequence"]


def test_records_are_numbered_without_a_gap() -> None:
    assert [int(record.name[:4]) for record in RECORDS] == list(range(1, len(RECORDS) + 1))


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.stem)
def test_a_record_has_its_four_parts_and_a_date(record: Path) -> None:
    text = record.read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == HEADINGS
    assert re.search(r"^# \d+\. .+\n\n\d{4}-\d\d-\d\d\n", text)


def test_every_record_is_listed() -> None:
    listed = (DOCS / "adr" / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"\]\((0[\w-]+\.md)\)", listed) == [record.name for record in RECORDS]


@pytest.mark.parametrize("page", [*RECORDS, DOCS / "architecture.md"], ids=lambda page: page.stem)
def test_files_that_a_page_names_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"`(dpsql/[\w/]+(?:\.py)?)`", text):
        assert (ROOT / name).exists(), name
