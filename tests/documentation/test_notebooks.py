"""Each page of docs/learn has a notebook, which is the page's own text and runs in a kernel."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import nbformat
import pytest
from documentation.notebook import LEARN, NOTEBOOKS, notebook_text
from nbclient import NotebookClient
from neighbor_search.share import in_turn

PAGES = sorted(page for page in LEARN.glob("*.md") if page.name != "README.md")
SHORTEST_FIRST = sorted(PAGES, key=lambda page: page.stat().st_size)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_its_notebook(page: Path, request: pytest.FixtureRequest) -> None:
    file = NOTEBOOKS / f"{page.stem}.ipynb"
    text = notebook_text(page)
    if request.config.getoption("--update-docs"):
        assert "CI" not in os.environ
        file.write_text(text, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == text, f"run pytest --update-docs {__file__}"


def test_a_notebook_has_its_page() -> None:
    assert {file.stem for file in NOTEBOOKS.iterdir()} == {page.stem for page in PAGES}


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize(
    "page", in_turn(((page.stem, (page,)) for page in SHORTEST_FIRST), len(SHORTEST_FIRST))
)
def test_a_notebook_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder of its own, with the `dpsql` of this environment.

    Its cells are the blocks of its page, and those are run of every page by `test_pages_run.py`.
    """
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    file = NOTEBOOKS / f"{page.stem}.ipynb"
    notebook = nbformat.read(file, as_version=4)  # type: ignore[no-untyped-call]
    for cell in notebook.cells:
        cell.source = cell.source.replace("audit attack ", "audit attack --trials 4 --people 16 ")
    folder = tmp_path / "notebook"
    folder.mkdir()
    client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}})
    client.execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert any(output.get("name") == "stdout" for output in outputs)
