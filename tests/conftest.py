"""Data that several tests read, generated once a session."""

from __future__ import annotations

import atexit
import compileall
import fcntl
import gc
import inspect
import itertools
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import memory_folder
import pytest
from data import clickbench, penguins, ssb, tpcds, tpch
from neighbor_search import share

ROOT = Path(__file__).parent.parent
FIXTURES = ROOT / "fixtures"
WAITING = ("engine", "documentation", "mcp", "contrib", "pgwire")
"""Folders whose tests wait for servers and other processes, those that wait longest first."""
_NUMBERS = itertools.count()
_WRITES_NO_BYTECODE = sys.dont_write_bytecode


def pytest_configure(config: pytest.Config) -> None:
    """Compile the package once: hundreds of tests start processes, which may not write bytecode."""
    if not hasattr(config, "workerinput"):
        compileall.compile_dir(ROOT / "dpsql", quiet=2)
        # Long batteries write more.
        if "not slow" in config.option.markexpr and memory_folder.has_room():
            os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(memory_folder.FOLDER))
    # Twenty thousand cases that would be deselected take each worker 4 s to collect.
    share.collects_all = "not in_turn" not in config.option.markexpr


def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, obj: object
) -> list[pytest.Item] | None:
    """Nor are those of a battery made: seven thousand of them take each worker 2 s.

    Whoever names a test is told that it is deselected.
    """
    if not inspect.isfunction(obj) or any("::" in named for named in collector.config.args):
        return None
    expression = collector.config.option.markexpr
    # Of others, as "slow or not soak", a mark alone doesn't tell.
    if not re.fullmatch(r"not \w+( and not \w+)*", expression):
        return None
    left_out = re.findall(r"not (\w+)", expression)
    marks = getattr(obj, "pytestmark", ())
    return [] if any(mark.name in left_out for mark in marks) else None


def pytest_collection() -> None:
    """Nothing of the million objects that are collected is garbage: looking for it takes 5 s.

    Modules whose assertions pytest rewrites are written as bytecode, those of hypothesis too, where
    PYTHONDONTWRITEBYTECODE has each worker of each run rewrite all of them.
    """
    gc.disable()
    sys.dont_write_bytecode = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What waits comes first: of pytest-xdist's workers, one has most of it, and none has it last.

    While two of three workers wait, one of two cores does nothing. Otherwise the order is a random
    one, as before.
    """
    places = {folder: place for place, folder in enumerate(WAITING)}
    items.sort(key=lambda item: places.get(item.nodeid.split("/", 2)[1], len(places)))


def pytest_collection_finish() -> None:
    """Nor is it looked for among them later, until the process ends.

    Then all are let go, or extension modules tell what is left of them; not before, since pytest
    looks for garbage ten times at the end of a session, in 3 s. What tests import is written as
    bytecode only where it would be without this file.
    """
    sys.dont_write_bytecode = _WRITES_NO_BYTECODE
    gc.freeze()
    # To look through all that tests made and keep takes 0.1 to 0.4 s, and would be done every other
    # second. What was made since the last time is looked through as often as ever.
    gc.set_threshold(700, 10, 100)
    gc.enable()
    atexit.register(gc.unfreeze)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, exitstatus: pytest.ExitCode
) -> None:
    """A run that fails says which of the cases that take turns it tried."""
    if exitstatus == pytest.ExitCode.TESTS_FAILED and share.TURN:
        terminalreporter.write_line(f"the same cases are tried with DPSQL_TURN={share.TURN}")


@pytest.fixture(scope="session")
def fixtures() -> Path:
    """The folder of the annotated schemas."""
    return FIXTURES


@pytest.fixture(scope="session")
def tpch_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """TPC-H at scale 0.01 as Parquet files: 1,500 customers, 15,000 orders, 60,175 lines."""
    return _once(tmp_path_factory, "tpch", tpch.generate)


@pytest.fixture(scope="session")
def tpcds_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """TPC-DS as Parquet files: 300 customers, 20,000 sales in stores."""
    return _once(tmp_path_factory, "tpcds", tpcds.generate)


@pytest.fixture(scope="session")
def ssb_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Star Schema Benchmark as Parquet files: 400 customers, 16,000 lines."""
    return _once(tmp_path_factory, "ssb", ssb.generate)


@pytest.fixture(scope="session")
def clickbench_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """ClickBench as Parquet files: 400 users, 8,000 hits."""
    return _once(tmp_path_factory, "clickbench", clickbench.generate)


@pytest.fixture
def tpch_schema(tpch_folder: Path, tmp_path: Path) -> Path:
    """The annotated schema of TPC-H over `tpch_folder`, in a folder of the test's own."""
    text = (FIXTURES / "tpch" / "schema.yaml").read_text(encoding="utf-8")
    path = tmp_path / "schema.yaml"
    path.write_text(text.replace("source: data", f"source: {tpch_folder}"), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def penguins_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """penguins.parquet: 333 rows."""
    return _once(tmp_path_factory, "penguins", penguins.generate)


@pytest.fixture(scope="session", autouse=True)
def worker_state_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """So do those of what several tests share, which is made before any test's own folder is."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("DPSQL_STATE", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session")
def tests_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where each test has a folder."""
    return tmp_path_factory.mktemp("t", numbered=False)


@pytest.fixture
def tmp_path(tests_folder: Path, request: pytest.FixtureRequest) -> Path:
    """pytest's own looks for the next number among all folders: 5 ms a test, after thousands."""
    name = re.sub(r"\W", "_", request.node.name)[:25]
    folder = tests_folder / f"{name}-{next(_NUMBERS)}"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture(autouse=True)
def state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Ledgers and anchors of a test lie in its own folder, never in the user's."""
    folder = tmp_path / "state"
    monkeypatch.setenv("DPSQL_STATE", str(folder))
    return folder


def _once(factory: pytest.TempPathFactory, name: str, generate: Callable[[Path], Path]) -> Path:
    """Generate into a folder that the workers of pytest-xdist share; the first one does it."""
    base = factory.getbasetemp()
    shared = base.parent if base.name.startswith("popen-") else base
    folder = shared / f"data-{name}"
    with (shared / f"data-{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            unfinished = shared / f"unfinished-{name}"
            unfinished.mkdir(exist_ok=True)
            generate(unfinished).rename(folder)
    return folder


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-notes",
        action="store_true",
        help="rewrite what grammar_notes/ claim; a changed distance is then a reviewed diff",
    )
    parser.addoption(
        "--update-docs",
        action="store_true",
        help="rewrite what tests make of README.md and docs/",
    )
    parser.addoption(
        "--update-benchmarks",
        action="store_true",
        help="rewrite tests/differential/BENCHMARKS.md",
    )
