"""What pyproject.toml tells indexes and packagers of the project."""

from __future__ import annotations

import tomllib

from documentation.pages import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_it_says_where_the_project_is() -> None:
    assert set(PROJECT["urls"]) == {
        "Homepage",
        "Documentation",
        "Repository",
        "Issues",
        "Changelog",
    }


def test_classifiers_have_the_lowest_python_that_is_wanted_and_the_status() -> None:
    classifiers = PROJECT["classifiers"]
    lowest = PROJECT["requires-python"].removeprefix(">=")
    assert min(c for c in classifiers if ":: 3." in c).endswith(lowest)
    assert any(c.startswith("Development Status") for c in classifiers)
    # An index refuses a licence that is told twice.
    assert not any(c.startswith("License") for c in classifiers)


def test_the_changelog_has_an_unreleased_section() -> None:
    assert "\n## Unreleased\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
