"""The console as a person uses it, in a pseudo-terminal."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

from cli.cli_run import Run
from console.terminal import CTRL_C, CTRL_D, CTRL_R, ENTER, TAB, UP, Terminal, console
from data.database import attached

DEPARTMENTS = "SELECT department, count(*) AS people FROM staff GROUP BY 1 ORDER BY 1;"
NAMES = ["Design", "Legal", "Logistics", "Production", "Research", "Sales"]


def test_names_are_completed_and_a_query_of_several_lines_is_answered(company: Path) -> None:
    with console(company) as terminal:
        terminal.until("demo ε 3/3>")
        terminal.type(f"SELECT dep{TAB}")
        terminal.until("SELECT department")
        terminal.type(f", count(*) AS people{ENTER}FROM sta{TAB}")
        terminal.until("FROM staff")
        terminal.ask(" GROUP BY 1 ORDER BY 1;")
        text = terminal.until("cost: epsilon = 0.5; left: epsilon = 2.")
        for name in NAMES:
            assert name in text
        assert re.search("people +±", text)
        assert "█" in text
        terminal.until("demo ε 2.")


def test_all_completions_are_offered_with_their_meanings(company: Path) -> None:
    with console(company) as terminal:
        terminal.until("demo ε 3/3>")
        terminal.type(f"SELECT * FROM s{TAB}")
        text = terminal.until("sick_leave  private")
        assert "staff       private" in text


def test_a_refusal_underlines_the_place_and_offers_the_fix(company: Path, run: Run) -> None:
    with console(company) as terminal:
        terminal.until("demo ε 3/3>")
        terminal.ask("SELECT count(*) FROM staf;")
        terminal.until("did you mean staff?")
        terminal.until("SELECT count(*) FROM staff;  (Tab)")
        place = next(
            n for n, line in enumerate(terminal.lines) if "FROM staf" in line and "ε" not in line
        )
        assert terminal.lines[place + 1].strip() == "^^^^"
        assert terminal.lines[place + 1].index("^") == terminal.lines[place].index("staf")
        terminal.type(TAB)
        terminal.until(lambda text: "(Tab)" not in text)
        terminal.type(ENTER)
        terminal.until("cost: epsilon = 0.5")
        terminal.until("demo ε 2.")
        terminal.ask("SELECT salary FROM staff;")
        terminal.until("sqlstate: 42501")
    # The owner sees what was refused at the console, too.
    assert (
        "refused: 1, the latest: the answer would list rows of staff" in run("budget", company).out
    )


def test_ctrl_c_gives_up_a_line_and_ctrl_d_ends(company: Path) -> None:
    with console(company) as terminal:
        terminal.until("demo ε 3/3>")
        terminal.type("SELECT nonsense")
        terminal.until("nonsense")
        terminal.type(CTRL_C)
        terminal.until(lambda text: text.count("demo ε") == 2)
        terminal.ask("SELECT 41 + 1;")
        terminal.until("42")
        terminal.until(lambda text: text.count("demo ε") == 3)
        terminal.type(CTRL_D)
        assert terminal.ends() == 0


def test_what_is_prepared_in_the_background_is_told_before_a_prompt(
    company: Path,
) -> None:
    with console(company, "--prepare") as terminal:
        terminal.until("demo ε 3/3>")
        terminal.until(enters(terminal, "in the background: prepared staff"))


def enters(terminal: Terminal, awaited: str) -> Callable[[str], bool]:
    """Whether `awaited` is on the screen; if it isn't, a line is given up for the next prompt."""

    def is_told(text: str) -> bool:
        if awaited not in text.replace("\n", ""):
            terminal.type(ENTER)
            time.sleep(0.5)
            return False
        return True

    return is_told


def test_ctrl_c_stops_a_query_and_says_whether_it_was_paid(company: Path) -> None:
    with attached() as connection:
        rows = connection.sql("SELECT range AS n FROM range(100000)")
        rows.write_parquet(str(company.parent / "data" / "numbers.parquet"))
    text = company.read_text()
    company.write_text(text.replace("tables:", "tables:\n  numbers: {public: true}"))
    with console(company) as terminal:
        terminal.until("demo ε 3/3>")
        terminal.ask(
            "SELECT count(*) FROM staff JOIN numbers AS a ON true JOIN numbers AS b ON true"
            " JOIN numbers AS c ON true WHERE a.n + b.n + c.n + salary > 7;"
        )
        terminal.until("running on the data")
        terminal.type(CTRL_C)
        terminal.until("cancelled; its charge stands")
        terminal.until("demo ε 2.")


def test_what_takes_over_a_fifth_of_the_rest_is_asked_about(company: Path) -> None:
    text = company.read_text()
    company.write_text(
        text.replace(
            "epsilon: 3, delta: 1.0e-6}", "epsilon: 3, delta: 1.0e-6, accounting: approx}"
        ).replace("{epsilon: 0.5}", "{epsilon: 0.5, max_epsilon: 3}")
    )
    with console(company, "--epsilon", "1") as terminal:
        terminal.until("demo ε 3/3>")
        terminal.ask("SELECT count(*) FROM staff;")
        terminal.until("this query takes 33% of what is left of the budget; run it? [y/N]")
        terminal.ask("n")
        terminal.until("not run; nothing was charged")
        terminal.until(lambda text: text.count("demo ε 3/3>") == 2)
        terminal.ask("SELECT count(*) FROM staff;")
        terminal.until(lambda text: text.count("[y/N]") == 2)
        terminal.ask("y")
        terminal.until("left: epsilon = 2 of 3")
        terminal.until("demo ε 2/3>")
        # What was answered before takes nothing, and isn't asked about.
        terminal.ask("SELECT count(*) FROM staff;")
        terminal.until("cost: nothing to the dataset, answered before")


def test_history_is_searched_and_lasts(company: Path) -> None:
    with console(company) as terminal:
        terminal.until("demo ε 3/3>")
        terminal.ask("SELECT 'first one';")
        terminal.until(lambda text: text.count("demo ε") == 2)
        terminal.ask("\\q")
        assert terminal.ends() == 0
    with console(company) as terminal:
        terminal.until("demo ε 3/3>")
        terminal.type(f"{UP}{UP}")
        terminal.until("SELECT 'first one';")
        terminal.type(CTRL_C)
        # Between two prompts the terminal itself would echo what is typed.
        terminal.until(lambda text: text.count("demo ε") == 2)
        terminal.type(f"{CTRL_R}first")
        terminal.until("I-search backward: first")


def sent(terminal: Terminal, command: str, answer: str) -> None:
    before = terminal.text.count("demo ε")
    terminal.ask(command)
    terminal.until(answer)
    terminal.until(lambda text: text.count("demo ε") > before)


def test_commands_switch_what_is_shown(company: Path) -> None:
    with console(company, rows=60) as terminal:
        terminal.until("demo ε 3/3>")
        sent(terminal, "\\noise", "± is off")
        sent(terminal, "\\timing", "timing is on")
        terminal.ask(DEPARTMENTS)
        text = terminal.until("cost: epsilon")
        assert "±" not in text.split("ORDER BY 1;")[1]
        terminal.until(" s\n")
        sent(terminal, "\\noise on", "± is on")
        sent(terminal, "\\x", "expanded is on")
        terminal.ask(DEPARTMENTS)
        terminal.until("─[ 6 ]─")
