from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import click
import pytest
from cli.cli_run import Run, commands_below

from dpsql.cli.exit_codes import ExitCode
from dpsql.cli.main import commands


def every(command: click.Command) -> list[click.Command]:
    return [command, *(each for _, sub in commands_below(command) for each in every(sub))]


def test_help_imports_nothing_that_opens_engines() -> None:
    code = (
        "import sys; import dpsql.cli.main;"
        "print({'duckdb', 'pyarrow', 'sqlglot', 'numpy', 'rich', 'pandas', 'jinja2'}"
        " & {*sys.modules})"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "set()\n"


def test_the_version_is_the_packages(run: Run) -> None:
    assert run("--version").out == f"dpsql {version('dpsql')}\n"


@pytest.mark.parametrize("command", every(commands), ids=lambda c: c.name)
def test_every_command_and_option_says_what_it_does(command: click.Command) -> None:
    assert command.help
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help


def test_help_has_every_exit_code(run: Run) -> None:
    codes = re.search(r"Exit codes: (.*)\.", run("--help").out.replace("\n  ", " "))
    assert codes
    assert [int(code) for code in re.findall(r"\d+", codes[1])] == list(ExitCode)


# pyarrow imports pandas where it is installed, and its own functions take a tenth of the start.
SLOW = [
    *["pandas", "polars", "scipy", "pyarrow.compute", "pyarrow.parquet", "numpy.ma"],
    *["jinja2", "prompt_toolkit", "rich.console", "psycopg", "pyspark", "mcp"],
    *["asyncio", "multiprocessing", "ssl", "subprocess", "zoneinfo"],
    *["dpsql.engine.postgres.engine", "dpsql.engine.spark.engine", "dpsql.physical.push_down"],
    *["dpsql.engine.sandbox.process", "dpsql.session.preparing", "dpsql.report.error_curve"],
    *["dpsql.cli.audit", "dpsql.cli.calibrate", "dpsql.cli.demo", "dpsql.cli.explain"],
    *["dpsql.cli.init", "dpsql.cli.mcp", "dpsql.cli.prepare", "dpsql.cli.serve", "dpsql.cli.user"],
]

QUERY = """
import runpy, sys, duckdb
SLOW = set(sys.argv.pop().split())
connect, opened = duckdb.connect, []
duckdb.connect = lambda *words, **named: opened.append(words) or connect(*words, **named)
try: runpy.run_module("dpsql.cli", run_name="__main__", alter_sys=True)
finally: print({*sys.modules} & SLOW, len(opened))
"""


def test_a_query_waits_for_nothing_that_it_does_not_need(company: Path) -> None:
    sql = "SELECT department, count(*) FROM staff GROUP BY department"
    found = subprocess.run(
        [sys.executable, "-c", QUERY, "query", company, sql, " ".join(SLOW)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Production" in found.stdout
    assert found.stdout.endswith("set() 1\n"), "it imports that, or opens several databases"


def test_preparing_waits_for_nothing_that_proves_and_charges(company: Path) -> None:
    slow = "dpsql.bind dpsql.physical.choose dpsql.session.run pandas prompt_toolkit pyspark"
    found = subprocess.run(
        [sys.executable, "-c", QUERY, "prepare", company, slow],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "prepared staff" in found.stdout
    assert re.search(r"^set\(\) ", found.stdout, re.MULTILINE), "it imports that"


def test_libraries_are_imported_where_the_stack_is_low() -> None:
    ended = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", "import dpsql.cli.query"],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = re.findall(r"^import time: .*\|( +)(\S+)$", ended.stderr, re.MULTILINE)
    levels = {name: len(indent) for indent, name in lines}
    libraries = ("duckdb", "numpy", "platformdirs", "sqlglot.generators.duckdb")
    assert {levels[name] - levels["dpsql.cli.query"] for name in libraries} == {2}


ENDING = """
import atexit, logging, sys, threading, time
from logging.handlers import MemoryHandler
from dpsql.cli import __main__ as process, main as commands

def main():
    atexit.register(print, "what was registered")
    threading.Thread(target=lambda: (time.sleep(0.05), print("a thread"))).start()
    logging.getLogger().addHandler(MemoryHandler(9, target=logging.StreamHandler(sys.stdout)))
    logging.warning("a log")
    print("an answer")
    sys.exit(3)

commands.main = main
process.start()
"""


def test_a_process_that_ends_at_once_leaves_nothing_undone() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", ENDING], capture_output=True, text=True, check=False
    )
    assert ended.stdout == "an answer\na thread\nwhat was registered\na log\n"
    assert ended.returncode == 3


def test_what_cannot_be_written_at_the_end_is_a_failure() -> None:
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        ended = subprocess.run(
            [sys.executable, "-c", ENDING], stdout=full, env=buffered, check=False
        )
    assert ended.returncode == 120  # Python's own code for it
