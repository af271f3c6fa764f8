from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import NoReturn

import pytest
from cli.cli_run import Run
from data.database import attached

from dpsql.errors import ExecutionFailed
from dpsql.report.terminal import progress as module
from dpsql.report.terminal.progress import Cancelled, Watch
from dpsql.session import interruptible
from dpsql.session.interruptible import is_done

CHARGED = "running on the data"


def press_ctrl_c(monkeypatch: pytest.MonkeyPatch, times: int = 1) -> None:
    """The first looks at whether the work is over are interrupted."""
    left = iter(range(times))

    def interrupted(outcome: Future[object]) -> bool:
        if next(left, None) is not None:
            raise KeyboardInterrupt
        return is_done(outcome)

    for looking in (module, interruptible):
        monkeypatch.setattr(looking, "is_done", interrupted)


def until(event: threading.Event) -> Callable[[], NoReturn]:
    def work() -> NoReturn:
        event.wait()
        raise ExecutionFailed

    return work


def test_work_returns_what_it_found() -> None:
    assert Watch().run(lambda: 7, lambda: None) == 7


def test_work_raises_what_it_raises() -> None:
    def fail() -> NoReturn:
        raise ExecutionFailed

    with pytest.raises(ExecutionFailed):
        Watch().run(fail, lambda: None)


def test_quick_work_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    Watch().run(lambda: 7, lambda: None)
    assert capsys.readouterr().err == ""


def test_slow_work_shows_its_steps(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "AFTER_SECONDS", 0)
    watch, seen = Watch(), threading.Event()

    def work() -> None:
        for name in ("first", "second"):
            watch.step(name)
            seen.wait(0.35)

    watch.run(work, lambda: None)
    assert capsys.readouterr().err == "first …\nsecond …\n"


@pytest.mark.parametrize("step", ["opening the source", CHARGED])
def test_ctrl_c_stops_the_work_and_tells_whether_it_was_paid(
    monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    press_ctrl_c(monkeypatch)
    watch, stopped = Watch(), threading.Event()
    watch.step(step)
    with pytest.raises(Cancelled) as caught:
        watch.run(until(stopped), stopped.set)
    assert caught.value.charged == (step == CHARGED)
    assert not caught.value.running


def test_no_further_step_begins_after_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    press_ctrl_c(monkeypatch)
    watch, stopped = Watch(), threading.Event()

    def work() -> None:
        stopped.wait()
        watch.step(CHARGED)
        pytest.fail("went on")

    with pytest.raises(Cancelled) as caught:
        watch.run(work, stopped.set)
    assert not caught.value.charged


def test_work_that_was_done_before_ctrl_c_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    press_ctrl_c(monkeypatch)
    assert Watch().run(lambda: 7, lambda: None) == 7


def test_a_second_ctrl_c_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    press_ctrl_c(monkeypatch, times=2)
    never = threading.Event()
    with pytest.raises(Cancelled) as caught:
        Watch().run(until(never), lambda: None)
    assert caught.value.running
    never.set()


# Pairs of rows of one table make this run for minutes, and it holds few rows at any time.
ENDLESS = """
    SELECT count(*) FROM penguins JOIN numbers AS a ON true JOIN numbers AS b ON true
    JOIN numbers AS c ON true WHERE a.n + b.n + c.n + body_mass_g > 7
"""


@pytest.fixture
def endless(penguins: Path, tmp_path: Path) -> Path:
    """A schema with a public table whose combinations no engine gets through."""
    folder = re.search("source: (.*)", penguins.read_text())
    assert folder
    data = tmp_path / "data"
    data.mkdir()
    (data / "penguins.parquet").symlink_to(Path(folder[1]) / "penguins.parquet")
    with attached() as connection:
        rows = connection.sql("SELECT range AS n FROM range(100000)")
        rows.write_parquet(str(data / "numbers.parquet"))
    text = penguins.read_text().replace(folder[0], f"source: {data}")
    penguins.write_text(text.replace("tables:", "tables:\n  numbers: {public: true}"))
    return penguins


def test_ctrl_c_in_a_running_query_says_that_its_charge_stands(endless: Path, run: Run) -> None:
    command = [sys.executable, "-m", "dpsql.cli", "query", str(endless), ENDLESS]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line == f"{CHARGED} …\n":
                break
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == "cancelled; its charge stands\n"
    assert process.returncode == 130
    history = run("budget", endless).out
    assert "failed" in history
    assert "epsilon 0.09999" in history or "epsilon 0.1 spent" in history


def test_a_terminal_gets_colours_and_a_pipe_gets_none(penguins: Path) -> None:
    command = [sys.executable, "-m", "dpsql.cli", "query", str(penguins), "SELECT x FROM penguins"]
    ours, theirs = pty.openpty()
    subprocess.run(command, stderr=theirs, check=False)
    os.close(theirs)
    assert b"\x1b[31m" in os.read(ours, 10_000)
    os.close(ours)
    assert b"\x1b" not in subprocess.run(command, capture_output=True, check=False).stderr
