"""The demo's company: 20,000 people in three public recipes, with a ledger in the test's folder."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest
from cli.cli_run import Run, runner

from dpsql.cli.demo.data import generate


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(monkeypatch)


@pytest.fixture
def company(tmp_path: Path) -> Path:
    """A schema file beside its data."""
    generate(tmp_path / "data")
    path = tmp_path / "schema.yaml"
    path.write_text(files("dpsql.cli.demo").joinpath("schema.yaml").read_text(encoding="utf-8"))
    return path
