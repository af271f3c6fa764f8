"""The demo's company, whose data are generated once."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from dpsql.cli.demo.data import generate


@pytest.fixture(scope="session")
def company_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("company") / "data"
    generate(folder)
    return folder


@pytest.fixture
def company(company_folder: Path, tmp_path: Path) -> Path:
    """Its schema, with a ledger of the test's own: ε = 3 in all, and 0.5 a query."""
    text = files("dpsql.cli.demo").joinpath("schema.yaml").read_text(encoding="utf-8")
    path = tmp_path / "schema.yaml"
    path.write_text(text.replace("source: data", f"source: {company_folder}"))
    return path
