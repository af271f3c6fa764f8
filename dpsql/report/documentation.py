"""Where the page of grammar_notes/ is that argues a rule: what an error's note names, as a link.

The base is the project's URL of that label, as pyproject.toml declares it and the installed
distribution repeats it. Without one it is the folder that the wheel, or a clone, has.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

LABEL: Final = "Grammar notes"
"""Under [project.urls]; `<page>.md` is appended to it."""

_PACKAGE: Final = Path(__file__).parent.parent
_FOLDERS: Final = (_PACKAGE / "grammar_notes", _PACKAGE.parent / "grammar_notes")


def link(note: str) -> str:
    """The URL or the path of a page, or of its `page#section`; empty where neither is known."""
    name, _, section = note.partition("#")
    base = _base()
    if base:
        return f"{base.rstrip('/')}/{name}.md" + (f"#{section}" if section else "")
    pages = (folder / f"{name}.md" for folder in _FOLDERS)
    return next((str(page) for page in pages if page.is_file()), "")


def _base() -> str:
    from importlib import metadata  # noqa: PLC0415 - slow to import, and only a failure needs it

    try:
        urls = metadata.metadata("dpsql").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return ""
    found: dict[str, str] = dict(url.split(", ", 1) for url in urls)
    return found.get(LABEL, "")
