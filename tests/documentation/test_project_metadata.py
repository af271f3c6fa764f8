"""What pyproject.toml tells indexes and packagers of the project."""

from __future__ import annotations

import re
import tomllib

from documentation.pages import ROOT, pages

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_it_says_where_the_project_is() -> None:
    wanted = {"Homepage", "Documentation", "Repository", "Issues", "Changelog"}
    assert wanted <= set(PROJECT["urls"])


def test_classifiers_have_the_lowest_python_that_is_wanted_and_the_status() -> None:
    classifiers = PROJECT["classifiers"]
    lowest = PROJECT["requires-python"].removeprefix(">=")
    assert min(c for c in classifiers if ":: 3." in c).endswith(lowest)
    assert any(c.startswith("Development Status") for c in classifiers)
    # An index refuses a licence that is told twice.
    assert not any(c.startswith("License") for c in classifiers)


def test_the_changelog_has_an_unreleased_section() -> None:
    assert "\n## Unreleased\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_pages_name_extras_as_a_clone_installs_them() -> None:
    """An index doesn't have this project, and could have another under its name."""
    named = set()
    for page in pages():
        text = page.read_text(encoding="utf-8")
        assert "dpsql[" not in text, page
        named |= set(re.findall(r"pip install\s+'\.\[(\w+)\]'", text))
    assert named <= set(PROJECT["optional-dependencies"])
    assert {"audit", "batch", "mcp", "postgres", "spark"} <= named
