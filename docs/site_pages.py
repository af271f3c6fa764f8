"""Pages of the site that lie outside of docs/, and links that lead out of it.

README.md, CHANGELOG.md, CONTRIBUTING.md, SECURITY.md and grammar_notes/ are shown as they are.
Links between files of the repository are written as they work in the repository; those to files
that are no pages, such as tests, become text.
"""
# ruff: noqa: INP001 - mkdocs loads it by its path

from __future__ import annotations

import os.path
import re
from pathlib import Path
from textwrap import indent

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
OUTSIDE = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
NOTES = sorted(path.name for path in (ROOT / "grammar_notes").glob("*.md"))

_LINK = re.compile(r"(?P<text>!?\[(?:[^]\n]|\][^(])*\])\((?P<target>[^)\s]+)\)")
_SQL = re.compile(r"^\[The SQL that runs\]\((?P<file>rewritten/\w+\.sql)\)$", re.MULTILINE)
_CLAIM = re.compile(r"^```(?P<kind>\w+)(?: (?P<about>[^\n]*))?$", re.MULTILINE)
_LANGUAGES = frozenset({"sql", "sh", "python", "yaml", "json", "text"})
_FENCED = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """List the notes and the decisions, so that no new one is forgotten."""
    notes = ["grammar_notes/README.md", *(f"grammar_notes/{n}" for n in NOTES if n != "README.md")]
    decisions = sorted(path.name for path in (ROOT / "docs" / "adr").glob("0*.md"))
    assert config.nav is not None
    config.nav.append({"Grammar notes": notes})
    config.nav.append({"Decisions": ["adr/README.md", *(f"adr/{name}" for name in decisions)]})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from outside of docs/."""
    for name in (*OUTSIDE, *(f"grammar_notes/{note}" for note in NOTES)):
        files.append(
            File(name, str(ROOT), config.site_dir, use_directory_urls=config.use_directory_urls)
        )
    return files


def on_page_markdown(markdown: str, page: Page, files: Files, **_: object) -> str:
    """Turn links between files of the repository into links between pages."""
    assert page.file.abs_src_path is not None
    here = Path(page.file.abs_src_path)

    def linked(link: re.Match[str]) -> str:
        target, hash_, anchor = link["target"].partition("#")
        if not target or "://" in target or target.startswith("mailto:"):
            return link[0]
        file = Path(os.path.normpath(here.parent / target))
        source = _page_of(file)
        if files.get_file_from_path(source) is None:
            return link["text"][1:-1]
        away = os.path.relpath(source, Path(page.file.src_uri).parent)
        return f"{link['text']}({away}{hash_}{anchor})"

    def shown(link: re.Match[str]) -> str:
        sql = (ROOT / "grammar_notes" / link["file"]).read_text(encoding="utf-8")
        return '??? quote "The SQL that runs"\n\n' + indent(f"```sql\n{sql}```\n", "    ")

    markdown = _CLAIM.sub(_titled, _SQL.sub(shown, markdown))
    parts = _FENCED.split(markdown)
    return "".join(p if n % 2 else _LINK.sub(linked, p) for n, p in enumerate(parts))


def _titled(fence: re.Match[str]) -> str:
    """A title for what a block says of its query, or for the schema that it is about."""
    kind, about = fence["kind"], fence["about"]
    if kind in _LANGUAGES:
        return f'```{kind} title="{about}"' if about else fence[0]
    return f'```{"sql" if kind == "rewritten" else "text"} title="{kind}"'


def _page_of(file: Path) -> str:
    """How the site calls a file of the repository."""
    inside = file.relative_to(ROOT)
    return str(inside.relative_to("docs")) if inside.parts[0] == "docs" else str(inside)
