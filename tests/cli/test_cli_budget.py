"""What `dpsql budget` tells: entries as text and data, the burn-down, the page, refusals."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path

import pytest
from cli.cli_run import Run
from narrowed import ledger_file

from dpsql.cli import budget
from dpsql.ledger.refusal import MAX_CHARACTERS, MAX_REFUSALS
from dpsql.report.budget_history import Point
from dpsql.report.burn_down_chart import HEIGHT, WIDTH, burn_down_chart, left_over_time
from dpsql.schema.load.load import load_schema
from dpsql.session.ledger_access import open_ledger

COUNT = "SELECT count(*) FROM penguins WHERE body_mass_g > {}"
LISTING = 'SELECT body_mass_g AS "<b>" FROM penguins -- <script>'
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def used(run: Run, penguins: Path) -> Path:
    for number, analyst in enumerate(["alice", "bob", "bob"]):
        assert run("query", penguins, COUNT.format(number), "--analyst", analyst).code == 0
    assert run("query", penguins, COUNT.format(0), "--analyst", "bob").code == 0
    for _ in range(3):
        assert run("query", penguins, LISTING, "--analyst", "eve").code == 1
    return penguins


def test_every_entry_comes_as_csv(run: Run, used: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(run("budget", used, "--format", "csv").out)))
    assert [row["outcome"] for row in rows] == ["ledger opened", *["answered"] * 3, "seen again"]
    assert [row["analyst"] for row in rows] == ["", "alice", "bob", "bob", "bob"]
    assert rows[1]["statement"] == COUNT.format(0)
    assert Fraction(rows[1]["amount"]) > 0 == Fraction(rows[4]["amount"])
    assert re.fullmatch("[0-9a-f]{64}", rows[1]["hash"])


def test_every_entry_comes_as_json(run: Run, used: Path) -> None:
    rows = json.loads(run("budget", used, "--format", "json").out)
    assert [row["entry"] for row in rows] == sorted(row["entry"] for row in rows)
    assert datetime.fromisoformat(rows[0]["at"]).tzinfo is not None


def test_history_is_every_entry(run: Run, used: Path) -> None:
    for number in range(3, 12):
        assert run("query", used, COUNT.format(number), "--epsilon", "0.01").code == 0
    assert COUNT.format(0) not in run("budget", used).out
    assert COUNT.format(0) in run("budget", used, "--history").out


def test_refusals_are_counted_and_cost_nothing(run: Run, used: Path) -> None:
    ended = run("budget", used)
    assert ended.out.splitlines()[-1].startswith("refused: 3, the latest: ")
    schema = load_schema(used)
    with open_ledger(schema) as ledger:
        (refusal,) = ledger.refusals()
        assert (refusal.analyst, refusal.sqlstate, refusal.query) == ("eve", "42501", LISTING)
        assert not ledger.balance("eve").spent.amount
        ledger.verify()


def test_a_spent_budget_is_a_refusal_too(run: Run, penguins: Path) -> None:
    text = re.sub(r"(?m)^budget:.*$", "budget: {epsilon: 0.1}", penguins.read_text())
    penguins.write_text(re.sub(r"(?m)^per_query:.*$", "per_query: {epsilon: 0.1}", text))
    assert [run("query", penguins, COUNT.format(number)).code for number in (1, 2)] == [0, 3]
    assert "refused: 1, the latest: not enough budget is left" in run("budget", penguins).out


def test_refusals_before_the_first_charge_make_no_ledger(run: Run, penguins: Path) -> None:
    assert run("query", penguins, LISTING).code == 1
    assert not ledger_file(load_schema(penguins)).exists()


def test_refusals_are_of_bounded_size(penguins: Path) -> None:
    with open_ledger(load_schema(penguins)) as ledger:
        for number in range(MAX_REFUSALS + 20):
            ledger.refuse("eve", "42501", f"{number} \ud800" + "x" * 10_000, "y" * 10_000)
        found = ledger.refusals()
        assert len(found) == MAX_REFUSALS
        assert found[-1].query.startswith(f"{MAX_REFUSALS + 19} ?x")
        assert max(len(refusal.query + refusal.message) for refusal in found) <= 2 * MAX_CHARACTERS
        assert len(list(ledger.history())) == 1


class Links(HTMLParser):
    """Tags, and what they would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.fetched += [str(value) for name, value in attrs if name in {"src", "href", "data"}]


def test_the_page_needs_nothing_else_and_runs_nothing(run: Run, used: Path, tmp_path: Path) -> None:
    target = tmp_path / "budget.html"
    ended = run("budget", used, "--html", target, "--analyst", "bob")
    assert (ended.code, ended.out) == (0, f"{target}\n")
    text = target.read_text(encoding="utf-8")
    links = Links()
    links.feed(text)
    assert links.fetched == []
    assert not links.tags & {"script", "link", "img", "iframe", "b"}
    assert not re.search(r"url\(|@import|https?:", text)
    for part in ("alice", "bob", "eve", "&lt;script&gt;", "42501", "Spent by query", "<svg"):
        assert part in text
    assert re.search(r'<td>bob</td><td class="n">2</td>', text)


def test_the_page_of_an_unused_dataset_says_so(run: Run, penguins: Path, tmp_path: Path) -> None:
    target = tmp_path / "budget.html"
    assert run("budget", penguins, "--html", target).code == 0
    assert "Nothing was charged yet." in target.read_text(encoding="utf-8")


def test_a_page_that_cant_be_written_is_an_error(run: Run, penguins: Path, tmp_path: Path) -> None:
    ended = run("budget", penguins, "--html", tmp_path / "nowhere" / "budget.html")
    assert ended.code == 1
    assert ended.err.startswith("error: ")


def points(*lefts: str) -> list[Point]:
    return [
        Point(NOON + timedelta(hours=number), Fraction(left)) for number, left in enumerate(lefts)
    ]


def test_what_is_left_is_followed_over_time() -> None:
    found = left_over_time(points("1", "3/4", "1/4", "1/4"), 6)
    assert found == [Fraction(n, 4) for n in (4, 3, 3, 1, 1, 1)]


def test_the_picture_falls_from_full_to_what_is_left() -> None:
    *rows, axis, dates = burn_down_chart(
        points("1", "1/2"), Point(NOON + timedelta(hours=2), Fraction(1, 2))
    )
    assert len(rows) == HEIGHT
    columns = list(zip(*(row.split("│")[1] for row in rows), strict=True))
    assert len(columns) == WIDTH
    assert columns[0] == ("█",) * HEIGHT
    assert columns[-1] == (" ",) * (HEIGHT // 2) + ("█",) * (HEIGHT // 2)
    assert axis.endswith("─" * WIDTH)
    assert "2026-01-01" in dates


def test_a_budget_of_one_moment_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    budget._draw(budget.Past((), tuple(points("1")), (), NOON))
    assert capsys.readouterr().out.count("█") == WIDTH * HEIGHT


def test_a_little_that_is_left_is_seen() -> None:
    (bottom,) = burn_down_chart(points("1/10000"), Point(NOON, Fraction(1, 10000)))[
        HEIGHT - 1 : HEIGHT
    ]
    assert bottom.endswith("▁" * WIDTH)


HOSTILE = """SELECT count(*) FROM penguins WHERE date_part('\x1b]0;\x07', DATE '2020-01-01') = 1"""


def test_a_refusal_does_not_act_on_the_terminal(run: Run, used: Path) -> None:
    assert run("query", used, HOSTILE, "--analyst", "eve").code == 1
    told = run("budget", used, "--history").out
    assert "refused: 4, the latest: " in told
    assert "\x07" not in told  # click strips some others where there is no terminal
