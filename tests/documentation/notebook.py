"""Notebooks of pages: their text in cells, and their blocks of code in cells that run it."""

from __future__ import annotations

import json
import re
from pathlib import Path

from documentation.blocks import Block, blocks
from documentation.pages import DOCS

LEARN = DOCS / "learn"
NOTEBOOKS = LEARN / "notebooks"

Cell = dict[str, object]


def notebook_text(page: Path) -> str:
    """The notebook of `page` in nbformat 4.5; blocks are schema files, shell, and Python."""
    cells: list[Cell] = []
    rest = page.read_text(encoding="utf-8")
    for number, block in enumerate(blocks(page)):
        before, rest = _parted(rest, block)
        cells += _prose(before, f"text-{number}")
        code: Cell = {"execution_count": None, "outputs": [], "source": _code(block)}
        cells.append({"cell_type": "code", "id": f"code-{number}", "metadata": {}, **code})
    cells += _prose(rest, "text-end")
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = {"cells": cells, "metadata": {"kernelspec": kernel}}
    versions = {"nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook | versions, ensure_ascii=False, indent=1) + "\n"


def _parted(text: str, block: Block) -> tuple[str, str]:
    """What stands before `block`, and behind it."""
    written = f"```{block.language}\n{block.text}```\n"
    before, behind = text.split(written, 1)
    return re.sub(r"(?:<!-- [^\n]* -->\n)+\Z", "", before), behind


def _prose(text: str, name: str) -> list[Cell]:
    # A notebook lies one folder deeper than its page.
    source = re.sub(r"\]\((?!https?:|#)", "](../", text.strip())
    return (
        [{"cell_type": "markdown", "id": name, "metadata": {}, "source": source}] if source else []
    )


def _code(block: Block) -> str:
    text = block.text.rstrip("\n")
    match block.language:
        case "python":
            return text
        case "sh":
            return f"%%bash\n{text}"
        case "yaml":
            return f"%%writefile {block.marks['file']}\n{text}"
        case other:
            raise ValueError(f"no cell runs {other}: {block.name}")
