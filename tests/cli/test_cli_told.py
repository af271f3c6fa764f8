"""What stands beside answers: the budget in a phrase, no parser's warning, what is missing."""

from __future__ import annotations

import logging
import sys
from importlib import metadata
from pathlib import Path

import pytest
from cli.cli_run import Run

import dpsql
from dpsql import installed_extra

COUNT = "SELECT count(*) FROM staff"
UNKNOWN = ("ALTER TABLE x FOO BAR", "SHOW foo bar", "CREATE OR REPLACE TABLE t USING x y z")


@pytest.mark.parametrize("statement", UNKNOWN)
def test_the_parsers_warnings_reach_nobody(
    run: Run, company: Path, statement: str, caplog: pytest.LogCaptureFixture
) -> None:
    told = run("query", company, statement).err
    assert told.startswith("error: ")
    with (
        caplog.at_level(logging.DEBUG),
        dpsql.connect(company) as connection,
        pytest.raises(dpsql.Error),
    ):
        connection.execute(statement)
    assert "unsupported syntax" not in told + caplog.text


def test_what_others_parse_is_logged_as_before(caplog: pytest.LogCaptureFixture) -> None:
    import sqlglot

    sqlglot.parse_one("ALTER TABLE x FOO BAR")
    assert "unsupported syntax" in caplog.text


def test_every_place_that_shows_spent_and_left_says_how_they_add_up(
    run: Run, company: Path
) -> None:
    ended = run("query", company, COUNT)
    assert ended.err.splitlines()[-1].endswith(" more at epsilon = 0.5")
    phrase = "losses add up as rho, so the epsilons above don't sum to the cap"
    assert phrase in run("budget", company).out
    assert phrase in run("console", company, stdin=b"\\budget").out
    page = company.with_name("budget.html")
    run("budget", company, "--html", page)
    assert "Losses add up as ρ" in page.read_text("utf-8")
    assert "Enough for " in page.read_text("utf-8")
    table = run("query", company, "SHOW dpsql.budget").out.splitlines()
    assert table[0].split()[-3:] == ["queries_left", "queries_with_delta_left", "adds_up_as"]
    assert table[2].split()[-1] == "rho"


def test_an_attack_without_scipy_ends_at_once(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    monkeypatch.setattr("dpsql.cli.audit.attack_text.attack", None)
    told = run("audit", "attack").err
    assert "solves a linear programme with scipy" in told
    assert "[audit]'" in told


@pytest.mark.parametrize(
    ("origin", "told"),
    [
        (None, "pip install 'dpsql[audit]'"),
        ('{"url": "https://x/dpsql.whl", "archive_info": {}}', "pip install 'dpsql[audit]'"),
        ('{"url": "file:///x", "dir_info": {}}', "pip install '.[audit]', in dpsql's clone"),
    ],
)
def test_an_extra_is_named_as_it_can_be_installed(
    monkeypatch: pytest.MonkeyPatch, origin: str | None, told: str
) -> None:
    class Installed:
        def read_text(self, _: str) -> str | None:
            return origin

    monkeypatch.setattr(metadata, "distribution", lambda _: Installed())
    installed_extra.is_clone.cache_clear()
    assert installed_extra.install_extra("audit") == told
    installed_extra.is_clone.cache_clear()
