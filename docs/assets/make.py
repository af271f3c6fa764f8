"""Make pictures of the README and docs/: a console session, EXPLAIN PRIVACY, and the budget's page.

Run `PYTHONPATH=tests python docs/assets/make.py` with the test dependencies, and Chromium for the
page (Debian's chromium-headless-shell). Data are the demo's; noise differs from run to run.
"""
# ruff: noqa: INP001 - a script

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

from console.terminal import TAB, Terminal, console
from documentation.blocks import blocks
from documentation.pages import DOCS
from rich.console import Console
from rich.text import Text

from dpsql import connect
from dpsql.cli.demo.data import generate

HERE = Path(__file__).parent
QUERY = (
    "SELECT reason, sum(days) AS days FROM sick_leave JOIN staff"
    " ON sick_leave.person_id = staff.person_id WHERE born < 1980 GROUP BY reason"
)
SWEPT = (
    "SELECT department, count(*) AS people, sum(salary) AS paid, avg(salary) AS mean,"
    " median(salary) AS median FROM staff GROUP BY department"
)
BROWSERS = ("chromium", "chromium-headless-shell", "google-chrome")


def main() -> None:
    """Write console.svg, explain.svg, sweep.svg, sensitivity.svg and budget.png beside this."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["DPSQL_STATE"] = str(folder / "state")
        generate(folder / "data")
        schema = folder / "schema.yaml"
        text = files("dpsql.cli.demo").joinpath("schema.yaml").read_text(encoding="utf-8")
        schema.write_text(text, encoding="utf-8")
        dpsql("check", schema)
        picture_console(schema)
        picture_explain(schema)
        picture_sweep(schema)
        picture_sensitivity(folder / "school.yaml")
        picture_budget(schema, folder / "budget.html")


def picture_console(schema: Path) -> None:
    """A query that is completed, its noise and bars; a refusal and its fix; what is left."""
    with console(schema, rows=34, columns=92) as terminal:
        terminal.until("demo ε 3/3>")
        terminal.type(f"SELECT rea{TAB}")
        terminal.until("reason")
        terminal.ask(", count(*) AS leaves FROM sick_leave WHERE days > 8 GROUP BY 1;")
        terminal.until("cost:")
        terminal.until("demo ε 2.")
        terminal.ask("SELECT department, count(*), avg(salary) FROM staff GROUP BY 1;")
        terminal.until(lambda text: text.count("cost:") == 2)
        terminal.ask("SELECT salary FROM staff;")
        terminal.until("(Tab)")
        save(screen_of(terminal), HERE / "console.svg", "dpsql console", 92)


def picture_explain(schema: Path) -> None:
    """The proof and the price of a query over a join."""
    text = dpsql("explain", schema, QUERY)
    styled = Text(
        f'$ dpsql explain schema.yaml "{QUERY.split(" FROM", maxsplit=1)[0]} …"\n\n', style="bold"
    )
    for line in text.splitlines():
        head, remark, distance = line.partition("  -- ")
        is_title = bool(re.match(r"(release_\d|cost|odds|to get)", line)) or line in {
            "  limits",
            "  noise",
        }
        styled.append(head, style="bold cyan" if is_title or "sensitivity:" in line else "")
        styled.append(f"{remark}{distance}\n", style="green")
    save(styled, HERE / "explain.svg", "EXPLAIN PRIVACY", 104)


def picture_sweep(schema: Path) -> None:
    """Errors against epsilon, of a column of each kind."""
    with connect(schema) as connection:
        (HERE / "sweep.svg").write_text(connection.sweep(SWEPT).svg() + "\n", encoding="utf-8")


def picture_sensitivity(schema: Path) -> None:
    """What a mean and a sum change by, over the size of a database."""
    (block,) = (b for b in blocks(DOCS / "sensitivity.md") if b.marks.get("file") == schema.name)
    schema.write_text(block.text, encoding="utf-8")
    sql = "SELECT avg(school_year), sum(school_year) FROM pupils"
    universe = ("--universe", "school_year=1,2,2,2,5,5,7,8,9,9")
    size = ("--against", "size", "--most", 7, "--format", "svg")
    svg = dpsql("audit", "sensitivity", schema, sql, *universe, *size)
    (HERE / "sensitivity.svg").write_text(svg, encoding="utf-8")


def picture_budget(schema: Path, page: Path) -> None:
    """The page of a budget from which some analysts have spent."""
    for number, analyst in enumerate(("alice", "bob", "alice", "carol", "bob", "alice")):
        sql = f"SELECT department, count(*) FROM staff WHERE born > {1960 + number} GROUP BY 1"  # noqa: S608
        dpsql("query", schema, sql, "--analyst", analyst)
    dpsql("budget", schema, "--html", page)
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        sys.exit(f"budget.png needs one of {', '.join(BROWSERS)}")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    target = f"--screenshot={HERE / 'budget.png'}"
    subprocess.run(  # noqa: S603 - a browser on a page of our own
        [browser, *options, "--window-size=860,640", target, page.as_uri()],
        check=True,
        capture_output=True,
    )


def screen_of(terminal: Terminal) -> Text:
    """The screen with its colours."""
    found = Text()
    last = max(row for row, line in enumerate(terminal.lines) if line)
    for row in range(last + 1):
        for column in range(len(terminal.lines[row])):
            cell = terminal.cell(row, column)
            colour = {"default": "", "brown": "yellow", "brightblack": "bright_black"}.get(
                cell.fg, cell.fg
            )
            is_hex = re.fullmatch(r"[0-9a-f]{6}", colour)
            style = f"{'bold ' * cell.bold}{'#' + colour if is_hex else colour}"
            found.append(cell.data, style=style.strip())
        found.append("\n")
    return found


def save(text: Text, path: Path, title: str, width: int) -> None:
    """An SVG without the fonts that it would otherwise fetch."""
    recorder = Console(record=True, width=width, file=open(os.devnull, "w"))  # noqa: PTH123, SIM115
    recorder.print(text)
    svg = recorder.export_svg(title=title)
    path.write_text(re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL), encoding="utf-8")


def dpsql(*arguments: object) -> str:
    """What a command prints."""
    command = [sys.executable, "-m", "dpsql.cli", *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603


if __name__ == "__main__":
    main()
