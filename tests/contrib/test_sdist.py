"""The source archive: all that builds and tests the project, and nothing that lay beside it."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from contrib.builder import ROOT, builder
from neighbor_search.share import in_turn

JUNK = (
    "tests/__pycache__/x.cpython-311.pyc",
    "dpsql/__pycache__/x.cpython-311.pyc",
    ".hypothesis/examples/1",
    ".venv/pyvenv.cfg",
    ".env",
    "fixtures/pgwire/shop.duckdb",
    "fixtures/pgwire/data/orders.csv",
    "tests/customers.parquet",
    "fixtures/shop.users",
    "ledger.db",
)
"""What lies about where people work."""

WANTED = (
    "dpsql",
    "tests",
    "fixtures",
    "grammar_notes",
    "docs",
    "contrib",
    "packaging",
    ".ci",
    ".github",
)


@pytest.fixture(params=in_turn((("with .gitignore", (True,)), ("without", (False,))), 2))
def tree(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The project as it is kept, and what lies about."""
    folder = tmp_path / "project"
    skipped = shutil.ignore_patterns(".git", ".venv*", "*_cache", "__pycache__", ".hypothesis")
    shutil.copytree(ROOT, folder, ignore=skipped)
    for name in JUNK:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("junk")
    if not request.param:
        (folder / ".gitignore").unlink(missing_ok=True)
    return folder


def test_it_has_what_builds_and_tests_and_nothing_else(tree: Path, tmp_path: Path) -> None:
    python = builder(tmp_path / "build")
    out = str(tmp_path / "out")
    words = [str(python), "-m", "hatchling", "build", "-t", "sdist", "-d", out]
    subprocess.run(words, cwd=tree, check=True, capture_output=True, timeout=120)
    (archive,) = (tmp_path / "out").glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        found = {name.partition("/")[2] for name in opened.getnames()}
    junk = {name for name in found if name in JUNK or "__pycache__" in name}
    assert not junk
    kept = {
        str(path.relative_to(tree))
        for top in WANTED
        for path in (tree / top).rglob("*")
        if path.is_file()
    }
    assert kept - set(JUNK) <= found
    assert {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "mkdocs.yml"} <= found
    assert ".pre-commit-config.yaml" in found
    tops = {name.partition("/")[0] for name in found}
    files = {"pyproject.toml", "PKG-INFO", ".gitignore", ".dockerignore", "LICENSE", "mkdocs.yml"}
    files |= {".pre-commit-config.yaml"}
    markdown = {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"}
    assert tops <= {*WANTED, *files, *markdown}
