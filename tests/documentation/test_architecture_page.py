"""docs/architecture.md tells what is so: what a SELECT calls, and what imports what."""

from __future__ import annotations

import ast
import re
import sys
import threading
import tomllib
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from types import CodeType, FrameType

import pytest
import yaml
from documentation.pages import DOCS, ROOT, check_table
from documentation.worlds import clinic

from dpsql import connect
from dpsql.session.compile import deep_recursion

WALK: list[dict[str, str]] = yaml.safe_load((DOCS / "walk.yaml").read_text(encoding="utf-8"))
STOPS = [row["stop"] for row in WALK]
SQL = (
    "SELECT sex, sum(cost) AS cost FROM visits JOIN patients"
    " ON visits.patient_id = patients.patient_id WHERE age < 60 GROUP BY sex"
)


def code_of(stop: str) -> CodeType:
    module, _, name = stop.partition(":")
    code: CodeType = attrgetter(name)(import_module(module)).__code__
    return code


def test_the_walk_of_one_select_has_at_most_fifteen_stops() -> None:
    assert len(STOPS) == len(set(STOPS)) <= 15


@pytest.mark.parametrize("stop", STOPS)
def test_a_stop_is_a_function_that_exists(stop: str) -> None:
    assert code_of(stop).co_qualname == stop.partition(":")[2]


def test_a_select_comes_by_every_stop_in_this_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clinic(tmp_path, tmp_path)
    known = {code_of(stop): stop for stop in STOPS}
    passed: dict[str, None] = {}

    def watch(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and (stop := known.get(frame.f_code)):
            passed.setdefault(stop)

    with connect(tmp_path / "schema.yaml") as connection:
        # A thread that waits for work was started without the profile.
        monkeypatch.setattr(deep_recursion, "_threads", deep_recursion._DeepThreads())
        before = sys.getprofile()
        # Statements run in a thread of their own, so that they can be interrupted.
        threading.setprofile(watch)
        sys.setprofile(watch)
        try:
            connection.execute(SQL)
        finally:
            sys.setprofile(before)
            threading.setprofile(None)
    assert list(passed) == STOPS


def test_the_page_tells_the_walk(request: pytest.FixtureRequest) -> None:
    told = (f"{n}. `{row['stop']}` — {row['does']}\n" for n, row in enumerate(WALK, start=1))
    check_table(request, "walk", "\n" + "".join(told) + "\n")


def test_the_page_has_the_layers_that_are_held(request: pytest.FixtureRequest) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = (
        one for one in project["tool"]["importlinter"]["contracts"] if one["type"] == "layers"
    )
    rows = [_row(layer) for layer in contract["layers"]]
    check_table(request, "layers", "| layer | |\n| --- | --- |\n" + "".join(rows))


def _row(layer: str) -> str:
    modules = [name.strip() for name in re.split(r"[|:]", layer)]
    names = (" \\| " if "|" in layer else ", ").join(
        f"`{name.removeprefix('dpsql.')}`" for name in modules
    )
    return f"| {names} | {'<br>'.join(map(_summary, modules))} |\n"


def _summary(name: str) -> str:
    path = ROOT / Path(*name.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split()).replace("|", "\\|")
