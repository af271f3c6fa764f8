"""Statements and commands from a pipe: the same loop without a terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.cli_run import Run

from dpsql.console.backslash_commands import COMMANDS

COUNT = "SELECT count(*) AS n FROM staff;"


def test_answers_go_to_stdout_and_costs_to_stderr(run: Run, company: Path) -> None:
    ended = run("console", company, stdin=f"{COUNT}\nSELECT 1 AS one;".encode())
    assert ended.code == 0
    assert ended.out.splitlines()[0].strip() == "n"
    assert ended.out.splitlines()[-1].strip() == "1"
    assert ended.err.count("cost: ") == 2
    assert "\x1b" not in ended.out


def test_the_first_failure_ends_it(run: Run, company: Path) -> None:
    ended = run("console", company, stdin=b"SELECT 1 AS a;\nSELECT x FROM staff;\nSELECT 2 AS b;")
    assert ended.code == 1
    assert "b" not in ended.out
    assert "error: there is no column x" in ended.err
    assert "^" in ended.err


def test_a_spent_budget_has_its_exit_code(run: Run, company: Path) -> None:
    text = company.read_text()
    company.write_text(text.replace("{epsilon: 3, ", "{epsilon: 0.5, "))
    queries = "".join(f"SELECT count(*) FROM staff WHERE salary > {n};" for n in range(2))
    assert run("console", company, stdin=queries.encode()).code == 3


@pytest.mark.parametrize(
    ("command", "seen"),
    [
        ("\\dt", "departments  nobody (public)"),
        ("\\d", "staff        person"),
        ("\\d staff", "salary      integer in [0, 150000]"),
        ("\\d STAFF;", "rows of: person"),
        ("\\l", "budget      epsilon 3, delta 1e-06 (zcdp)"),
        ("\\budget", "epsilon_left"),
        (f"\\explain {COUNT}", "cost: epsilon = "),
        (f"{COUNT}\n\\explain", "Scan(staff, unit=person_id)"),
        (f"\\dry\n{COUNT}", "cost: epsilon = "),
        ("\\noise", "± is off"),
        ("\\timing on", "timing is on"),
        ("\\?", "\\budget"),
        ("\\q\nSELECT nonsense;", ""),
        ("quit\nSELECT nonsense;", ""),
        ("EXIT;\nSELECT nonsense;", ""),
        ("help", "\\budget"),
        ("\\h release", "CREATE RELEASE name AS SELECT"),
        ("\\df dp_*", "dp_interval_low(avg(x))"),
        ("\\df", "stddev_samp(x)"),
        (f"{COUNT}\n\\r", "SELECT count(*) AS n FROM staff"),
        ("SELECT 41 AS n; SELECT 7 AS m;\n\\r 2", "41"),
        ("\\ns two SELECT 2 AS two\n\\n", "two   SELECT 2 AS two"),
        ("SELECT 2 AS two;\n\\ns two\n\\n two", "two is kept; \\n two runs it"),
        ("\\ns two SELECT 2\n\\nd two\n\\n", "two is forgotten"),
        ("\\pager off", "the pager is off"),
    ],
)
def test_a_command_does_what_its_help_says(
    run: Run, company: Path, command: str, seen: str
) -> None:
    ended = run("console", company, stdin=command.encode())
    assert ended.code == 0, ended.err
    assert seen in ended.out


def test_dry_charges_nothing(run: Run, company: Path) -> None:
    run("console", company, stdin=f"\\dry\n{COUNT}".encode())
    assert "nothing was charged yet" in run("budget", company).out


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        ("\\nothing", "\\? lists the commands"),
        ("\\d nothing", "\\dt lists the tables"),
        ("\\i", "\\i queries.sql"),
        ("\\o answers.xlsx", "name a .csv, .json, .md or .txt file"),
        ("\\o answers.parquet", "name a .csv, .json, .md or .txt file"),
        ("\\n nothing", "\\n lists them"),
        ("\\nd nothing", "\\n lists them"),
        ("\\ns", "\\ns NAME SELECT"),
        ("\\r 1", "\\r lists"),
        ("\\!", "\\! ls"),
        ("\\h nonsense", "\\h lists"),
        ("\\df nonsense", "\\df lists"),
        ("\\i nowhere.sql", "name a text file"),
        ("\\explain", "ask one first"),
        ("\\noise loud", "write on or off"),
        ("\\o /nowhere/at/all.csv\nSELECT 1;", "name a file in a folder that is there"),
    ],
)
def test_a_command_that_can_not_be_run_says_what_to_write(
    run: Run, company: Path, command: str, hint: str
) -> None:
    ended = run("console", company, stdin=command.encode())
    assert ended.code == 1
    assert ended.err.startswith("error: ")
    assert hint in ended.err


def test_the_help_lists_every_command(run: Run, company: Path) -> None:
    text = run("console", company, stdin=b"\\?").out
    assert all(f"{name} " in text or f"{name}\n" in text for name in COMMANDS)


def test_named_queries_are_kept_for_the_next_time(run: Run, company: Path, tmp_path: Path) -> None:
    run("console", company, stdin=b"\\ns lonely SELECT 77 AS n")
    assert "77" in run("console", company, stdin=b"\\n lonely").out
    (file,) = tmp_path.rglob("console_queries.json")
    assert file.stat().st_mode & 0o077 == 0


def test_the_shell_runs_a_command(
    run: Run, company: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run("console", company, stdin=b"\\! echo $((41 + 1))").code == 0
    assert capfd.readouterr().out == "42\n"


def test_a_misspelt_first_word_is_marked(run: Run, company: Path) -> None:
    for statement in ("selct 1", "selct count(*) from staff", "selct"):
        told = run("console", company, stdin=f"{statement};".encode()).err.splitlines()
        assert told[:3] == [
            "error: syntax error at or near 'selct'",
            f"  {statement}",
            "  ^^^^^",
        ]
        assert "hint: write SELECT" in told
    assert "  ^^^^^" in run("query", company, "wiht a as (select 1) select 1").err.replace(
        "^^^^", "^^^^^"
    )


def test_a_file_of_statements_is_run(run: Run, company: Path, tmp_path: Path) -> None:
    file = tmp_path / "queries.sql"
    file.write_text("\\timing\nSELECT 1 AS first;\nSELECT 2 AS second;")
    ended = run("console", company, stdin=f"\\i {file}\nSELECT 3 AS third;".encode())
    assert [ended.out.index(name) for name in ("first", "second", "third")] == sorted(
        ended.out.index(name) for name in ("first", "second", "third")
    )


@pytest.mark.parametrize("name", ["answer.csv", "answer.json", "answer.md", "answer.txt"])
def test_answers_can_go_to_a_file(run: Run, company: Path, tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    ended = run(
        "console", company, stdin=f"\\o {file}\nSELECT 7 AS n;\n\\o\nSELECT 8 AS m;".encode()
    )
    assert ended.code == 0, ended.err
    text = file.read_text()
    assert "7" in text
    assert "8" not in text
    assert "8" in ended.out
    if name.endswith(".json"):
        assert json.loads(text) == [{"n": 7}]


def test_the_editor_gets_the_last_query_and_its_text_is_not_run(
    run: Run, company: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is put into the next prompt, where there is one."""
    editor = tmp_path / "editor"
    editor.write_text(f"#!/bin/sh\ncp $1 {tmp_path}/seen\necho 'SELECT edited;' > $1\n")
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    monkeypatch.setenv("VISUAL", str(editor))
    ended = run("console", company, stdin=f"{COUNT}\n\\e".encode())
    assert ended.code == 0
    assert (tmp_path / "seen").read_text().strip() == COUNT
    assert "edited" not in ended.out


def test_an_explanation_is_text_in_which_nothing_acts(run: Run, company: Path) -> None:
    sql = "SELECT count(*) AS \"\x1b[2J\" FROM staff WHERE department = '\x1b[2J';"
    for ended in (
        run("console", company, stdin=f"\\explain {sql}".encode()),
        run("console", company, stdin=f"\\dry\n{sql}".encode()),
        run("explain", company, sql.rstrip(";")),
    ):
        assert ended.code == 0, ended.err
        assert "explain_privacy" not in ended.out
        assert "\x1b" not in ended.out
        assert "Scan(staff, unit=person_id)" in ended.out
