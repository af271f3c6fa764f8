"""Links to pages of grammar_notes/: an error's note names the page that explains its rule.

The base of a link is the project URL labelled `LABEL`, as pyproject.toml declares it and the
installed distribution repeats it; without such a URL, the folder in the wheel or in the clone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

LABEL: Final = "Grammar notes"
"""The label under [project.urls] of the URL to which `<page>.md` is appended."""

_PACKAGE: Final = Path(__file__).parent.parent
_FOLDERS: Final = (_PACKAGE / "grammar_notes", _PACKAGE.parent / "grammar_notes")


def link(note: str) -> str:
    """The URL or path of the page that `note` names, as `page` or `page#section`; "" if unknown."""
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
    by_label: dict[str, str] = dict(url.split(", ", 1) for url in urls)
    return by_label.get(LABEL, "")
