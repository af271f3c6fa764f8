"""Words and commands that work at any prompt, and a pager, on a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from console.terminal import CTRL_C, ENTER, console

READY = "demo ε 3/3>"


def test_help_and_quit_work_without_a_semicolon(company: Path) -> None:
    with console(company) as terminal:
        terminal.until(READY)
        terminal.ask("help")
        terminal.until("what was spent and what is left")
        terminal.until(lambda text: text.count(READY) >= 1)
        terminal.ask("quit")
        assert terminal.ends() == 0


def test_a_command_on_a_later_line_leaves_what_was_typed(company: Path) -> None:
    with console(company, rows=60) as terminal:
        terminal.until(READY)
        terminal.ask("SELECT 41")
        terminal.until("..>")
        terminal.ask("\\?")
        terminal.until("what was spent and what is left")
        terminal.until(lambda text: text.rstrip().endswith("SELECT 41\n        ..>"))
        terminal.ask("+ 1 AS n;")
        terminal.until("42")
        terminal.until(lambda text: text.rstrip().endswith(READY))
        terminal.ask("\\q")
        assert terminal.ends() == 0


def test_quit_on_a_later_line_ends(company: Path) -> None:
    with console(company) as terminal:
        terminal.until(READY)
        terminal.ask("SELECT 41")
        terminal.until("..>")
        terminal.ask("exit")
        assert terminal.ends() == 0


def test_in_a_quote_such_a_word_is_text(company: Path) -> None:
    with console(company) as terminal:
        terminal.until(READY)
        terminal.type(f"SELECT 'a{ENTER}quit{ENTER}b' AS n;{ENTER}")
        terminal.until("cost: nothing")
        terminal.type(CTRL_C)


def test_a_long_answer_is_shown_by_a_pager(company: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGER", "sed s/^/paged:/")
    with console(company, rows=12) as terminal:
        terminal.until(READY)
        terminal.ask("SELECT 41 AS n;")
        terminal.until("41")
        assert "paged:" not in terminal.text
        terminal.ask("SELECT unnest(range(40)) AS n;")
        terminal.until("paged:39")
        terminal.ask("\\pager off")
        terminal.until("the pager is off")
        terminal.ask("SELECT unnest(range(40)) AS m;")
        terminal.until(lambda text: "39" in text.split("range(40)) AS m;")[-1])


def test_the_suggestion_goes_after_a_success(company: Path) -> None:
    with console(company) as terminal:
        terminal.until(READY)
        terminal.ask("selct 41 AS n;")
        terminal.until("SELECT 41 AS n;  (Tab)")
        terminal.ask("SELECT 42 AS n;")
        terminal.until(lambda text: text.count("demo ε") == 3 and "(Tab)" not in text)
