"""The command line, run in this process."""

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
def penguins(fixtures: Path, penguins_folder: Path, tmp_path: Path) -> Path:
    """A schema file whose source is the generated penguins."""
    text = (fixtures / "penguins" / "schema.yaml").read_text()
    path = tmp_path / "schema.yaml"
    path.write_text(text.replace("source: data", f"source: {penguins_folder}"))
    return path


@pytest.fixture
def company(tmp_path: Path) -> Path:
    """The demo's schema file beside its data."""
    generate(tmp_path / "data")
    path = tmp_path / "schema.yaml"
    path.write_text(files("dpsql.cli.demo").joinpath("schema.yaml").read_text(encoding="utf-8"))
    return path
