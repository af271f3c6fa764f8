"""docs/ builds into a site without a warning: no broken link, and no page that nothing leads to."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from documentation.pages import ROOT

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("mkdocs") is None, reason="the group docs isn't installed"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(
        words, cwd=ROOT, env=quiet, capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return folder


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        name = {"a": "href", "img": "src", "script": "src", "link": "href"}.get(tag)
        self.found += [value for key, value in attrs if key == name and value]


def test_every_link_of_the_site_leads_to_a_file_of_it(site: Path) -> None:
    for page in site.rglob("*.html"):
        if page.name == "404.html":
            continue
        links = _Links()
        links.feed(page.read_text(encoding="utf-8"))
        for link in links.found:
            if not re.match(r"https?:|mailto:|#|data:", link):
                target = (page.parent / link.split("#")[0].split("?")[0]).resolve()
                assert target.exists(), (page.relative_to(site), link)


def test_pages_load_nothing_from_other_hosts(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r'<(?:script|img|iframe)[^>]+src="?https?:', text), page.name
        assert not re.search(r'<link[^>]+rel="?stylesheet"?[^>]+href="?https?:', text), page.name


def test_blocks_lists_and_tables_are_shown_as_such(site: Path) -> None:
    for page in site.rglob("*.html"):
        article = page.read_text(encoding="utf-8").split("<article", 1)[-1].split("</article>")[0]
        article = re.sub(r"<(pre|code)[^>]*>.*?</\1>", "", article, flags=re.DOTALL)
        for paragraph in re.findall(r"<p>(.*?)</p>", article, re.DOTALL):
            raw = re.search(r"```|^\| .* \|$|^ *[-*] |^ *\d\. |\]\(", paragraph, re.MULTILINE)
            assert raw is None, (page.relative_to(site), paragraph[:200])


def test_the_notes_and_the_policies_are_pages(site: Path) -> None:
    for page in ("grammar_notes/where", "SECURITY", "CHANGELOG", "threats", "cli"):
        assert (site / page / "index.html").is_file()


def test_notes_show_the_sql_that_stands_beside_them(site: Path) -> None:
    text = (site / "grammar_notes" / "join" / "index.html").read_text(encoding="utf-8")
    assert "<summary>The SQL that runs</summary>" in text


def test_the_interface_is_told_by_its_docstrings(site: Path) -> None:
    text = (site / "api" / "index.html").read_text(encoding="utf-8")
    for name in ("dpsql.connect", "dpsql.Connection.execute", "dpsql.Cursor.fetchall"):
        assert f'id="{name}"' in text
