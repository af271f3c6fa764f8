"""docs/schema.md has every section of the schema file, and every key of it, with a meaning."""

from __future__ import annotations

import pytest
from documentation.pages import check_table
from documentation.schema_keys import SECTIONS, reference

from dpsql.schema.load.file_format import Form


def test_the_page_has_what_the_loader_reads(request: pytest.FixtureRequest) -> None:
    check_table(request, "schema-keys", reference())


def test_every_section_is_in_the_reference() -> None:
    assert {form for form, _ in SECTIONS.values()} == set(Form.__subclasses__())


@pytest.mark.parametrize("title", SECTIONS)
def test_every_key_has_a_meaning_and_no_other_has(title: str) -> None:
    form, meanings = SECTIONS[title]
    assert tuple(meanings) == form.__struct_fields__
