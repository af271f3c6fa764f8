from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import click
import pytest
from cli_run import Run

from dpsql.cli.main import commands

README = Path(__file__).parent.parent.parent / "README.md"


def test_help_imports_nothing_that_opens_engines() -> None:
    code = (
        "import sys; import dpsql.cli.main;"
        "print({'duckdb', 'pyarrow', 'sqlglot', 'numpy', 'rich', 'pandas'} & {*sys.modules})"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "set()\n"


def test_the_version_is_the_packages(run: Run) -> None:
    assert run("--version").out == f"dpsql {version('dpsql')}\n"


@pytest.mark.parametrize("name", [None, *commands.commands])
def test_every_commands_help_is_in_the_readme_as_it_is(run: Run, name: str | None) -> None:
    text = run(*([] if name is None else [name]), "--help").out
    assert f"```text\n$ dpsql {'' if name is None else name + ' '}--help\n{text}```" in (
        README.read_text(encoding="utf-8")
    )


@pytest.mark.parametrize("command", commands.commands.values(), ids=lambda c: c.name)
def test_every_command_and_option_says_what_it_does(command: click.Command) -> None:
    assert command.help
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help


def test_the_readme_has_every_exit_code(run: Run) -> None:
    codes = re.search(r"Exit codes: (.*)\.", run("--help").out.replace("\n  ", " "))
    assert codes
    assert [int(code) for code in re.findall(r"\d+", codes[1])] == [0, 1, 2, 3, 130]
