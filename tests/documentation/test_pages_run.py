"""What README.md and docs/ say to run is run, block after block, in a folder of the page's own."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
from cli.cli_run import commands_below
from documentation.blocks import MARKS, RUN, Block, blocks, inline
from documentation.pages import README, ROOT, pages
from documentation.worlds import WORLDS
from neighbor_search.share import in_turn

from dpsql import Connection, Error, connect
from dpsql.cli.main import commands
from dpsql.dbapi.statements.options import split_options
from dpsql.dbapi.statements.parse import read_statement
from dpsql.sqltext.split import split

PASSWORD = "correct horse battery staple"  # noqa: S105 - of a server that the test starts
REPLACED = {
    "tpchgen-cli parquet -s 1 ": "tpchgen-cli parquet -s 0.01 ",
    "audit sensitivity ": "audit sensitivity --units 4 --most 2 ",
    "--pairs 100 ": "--pairs 10 ",
    "audit epsilon ": "audit epsilon --draws 500 ",
    "audit attack ": "audit attack --trials 4 --people 16 ",
}
"""What a test makes smaller."""

SHARE = 4
"""Of pages with something to run, each run tries the README and one in four of the others."""

_SERVE = re.compile(r"^(\S*dpsql serve .*)$", re.MULTILINE)
_ANY = [block for page in pages() for block in blocks(page)]


@dataclass
class Place:
    """Where blocks run, and what is open there."""

    folder: Path
    connection: Connection | None = None

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()


@pytest.mark.parametrize("block", _ANY, ids=lambda block: block.name)
def test_a_block_is_run_or_says_why_not(block: Block) -> None:
    assert block.language in {*RUN, "text"}
    assert set(block.marks) <= MARKS
    assert block.marks.get("world", "clinic") in WORLDS
    if "not run" in block.marks:
        assert len(block.marks["not run"].split()) > 2


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(README, id=README.name),
        *in_turn(
            (
                (str(page.relative_to(ROOT)), (page,))
                for page in pages()
                if page != README
                and any(b.language in RUN and "not run" not in b.marks for b in blocks(page))
            ),
            SHARE,
        ),
    ],
)
def test_what_a_page_says_to_run_runs(page: Path, tmp_path: Path, tpch_folder: Path) -> None:
    name, place = "clinic", None
    found = blocks(page)
    for number, block in enumerate(found):
        name = block.marks.get("world", name)
        if block.language not in RUN or "not run" in block.marks:
            continue
        if (program := block.marks.get("needs")) and shutil.which(program) is None:
            continue
        if place is None or "world" in block.marks:
            if place is not None:
                place.close()
            place = Place(tmp_path / f"world-{number}")
            place.folder.mkdir()
            WORLDS[name](place.folder, tpch_folder)
        edited = [b for b in found[number:] if "file" in b.marks]
        if "file" in block.marks:
            (place.folder / block.marks["file"]).write_text(block.text, encoding="utf-8")
        match block.language:
            case "sql":
                run_sql(block, place)
            case "python":
                script = place.folder / "block.py"
                script.write_text(block.text, encoding="utf-8")
                run_process(block, [sys.executable, str(script)], place.folder)
            case "sh":
                run_shell(block, place.folder, edited[0].text if edited else "")
            case "json":
                json.loads(block.text)
            case _:
                assert "file" in block.marks, "another block reads it, or it says why it isn't run"
    if place is not None:
        place.close()


def run_sql(block: Block, place: Place) -> None:
    """All statements are answered; the last one isn't, if the block says so."""
    if place.connection is None:
        place.connection = connect(place.folder / "schema.yaml", analyst="alice")
    *first, last = (piece.sql for piece in split(block.text))
    for sql in first:
        place.connection.execute(sql)
    if "refused" in block.marks:
        with pytest.raises(Error):
            place.connection.execute(last)
    else:
        place.connection.execute(last)


def run_shell(block: Block, folder: Path, edited: str) -> None:
    """A server runs beside what follows it, at a port of its own; an editor writes `edited`."""
    (folder / ".edited").write_text(edited, encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    text = block.text.replace("5433", port)
    for written, smaller in REPLACED.items():
        text = text.replace(written, smaller)
    waits = f"until (exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null; do sleep 0.1; done"
    text = _SERVE.sub(rf"\1 & trap 'kill $!; wait' EXIT\n{waits}", text)
    script = f"set -eu\n{text}"
    run_process(block, ["bash", "-c", script], folder)


def run_process(block: Block, words: list[str], folder: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    others = {"EDITOR": "cp .edited", "PGPASSWORD": PASSWORD, "PATH": path}
    ended = subprocess.run(
        words,
        cwd=folder,
        env={**os.environ, **others},
        input=f"{PASSWORD}\n" * 2,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, f"{block.name}\n{ended.stdout}\n{ended.stderr}"


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_within_lines_are_there(page: Path) -> None:
    for code in inline(page):
        if re.match(r"dpsql [a-z]", code):
            command: click.Command = commands
            words = shlex.split(code)[1:]
            while isinstance(command, click.Group) and words and not words[0].startswith("-"):
                below = dict(commands_below(command))
                assert words[0] in below, code
                command = below[words.pop(0)]
            known = {o for p in command.params for o in p.opts}
            options = {word.split("=")[0] for word in words if word.startswith("--")}
            assert options <= {*known, "--help"}, code
        elif re.match(r"(SET|SHOW|DROP RELEASE|DROP SYNOPSIS|CREATE \w+) \w", code):
            read_statement(code)
        elif re.search(r"\bOPTIONS \([^…]+\)$", code):
            split_options(code)


def test_the_readme_is_short() -> None:
    assert (ROOT / "README.md").stat().st_size <= 10_000


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_and_pictures_of_a_page_are_there_and_small(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        file = page.parent / target
        assert file.exists(), target
        if file.suffix in {".png", ".svg"}:
            assert file.stat().st_size < 100_000, target
    picture = {file for p in pages() for file in re.findall(r"assets/([\w.]+)\)", p.read_text())}
    assert picture == {f.name for f in (ROOT / "docs" / "assets").iterdir() if f.suffix != ".py"}
