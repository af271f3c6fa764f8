"""Each idea of the texts has a page with a statement, and a figure and tests, by a list."""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import Any

import pytest
import yaml
from documentation.notebook import LEARN
from documentation.pages import ROOT, check_table

IDEAS: list[dict[str, Any]] = yaml.safe_load((LEARN / "ideas.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("idea", IDEAS, ids=lambda idea: idea["idea"])
def test_the_page_of_an_idea_has_its_statement(idea: dict[str, Any]) -> None:
    name, anchor = idea["page"].split("#")
    page = (LEARN / name).read_text(encoding="utf-8")
    assert anchor in {_anchor(title) for title in re.findall(r"^#+ (.+)$", page, re.MULTILINE)}
    code = "\n".join(re.findall(r"^```\w+\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    assert idea["statement"] in code


def _anchor(title: str) -> str:
    kept = re.sub(r"[^\w\s-]", "", title.lower())
    return re.sub(r"\s+", "-", kept.strip())


@pytest.mark.parametrize("idea", IDEAS, ids=lambda idea: idea["idea"])
def test_the_tests_of_an_idea_are_there_and_run(idea: dict[str, Any]) -> None:
    assert idea["tests"]
    for test in idea["tests"]:
        file, name = test.split("::")
        found = _functions(file)
        assert name in found, test
        marks = {ast.unparse(mark) for mark in found[name].decorator_list}
        assert not [m for m in marks if re.search(r"mark\.(slow|skip|in_turn|xfail)", m)], test


@cache
def _functions(file: str) -> dict[str, ast.FunctionDef]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {part.name: part for part in tree.body if isinstance(part, ast.FunctionDef)}


def test_the_page_lists_all_ideas(request: pytest.FixtureRequest) -> None:
    lines = ["| idea | statement | figure | tests |", "| --- | --- | --- | --- |"]
    for idea in IDEAS:
        tests = "<br>".join(
            f"[{name}](../../{file})" for file, name in (test.split("::") for test in idea["tests"])
        )
        linked = f"[{idea['idea']}]({idea['page']})"
        lines.append(f"| {linked} | `{idea['statement']}` | {idea['figure']} | {tests} |")
    check_table(request, "ideas-table", "\n".join(lines) + "\n")
