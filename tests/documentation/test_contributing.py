"""CONTRIBUTING.md names every file that has to know of a new operator, aggregate, engine …"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from documentation.pages import ROOT
from sqlglot.expressions import Cbrt

from dpsql.engine.source import DuckDBSource
from dpsql.physical.strategy.count_units_first import CountUnitsFirst
from dpsql.plan.aggregate import AggregateFunction
from dpsql.plan.bounded_release.statistic import DistinctSum
from dpsql.plan.operator import SetOperation
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.selection.permute_and_flip import PermuteAndFlip
from dpsql.schema.load.table_section.column_types import engine_source

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PACKAGE = ROOT / "dpsql"
CLOSED = "assert_never("


def files_with(*words: str) -> set[str]:
    """The modules that have all of `words`, class heads apart, as CONTRIBUTING.md has them."""
    return {
        str(file.relative_to(PACKAGE))
        for file in PACKAGE.rglob("*.py")
        if all(
            re.search(rf"(?<!class )\b{re.escape(word)}", file.read_text(encoding="utf-8"))
            for word in words
        )
    }


def section(title: str) -> str:
    return PAGE.split(f"## {title}\n")[1].split("\n## ")[0]


def named(title: str) -> set[str]:
    return set(re.findall(r"`([\w/]+\.py)`", section(title)))


def is_named(file: str, title: str) -> bool:
    """Whether the section names `file`, or the folder that it lies in."""
    folders = re.findall(r"`([\w/]+/)`", section(title))
    return file in named(title) or file.startswith(tuple(folders))


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("Add an operator", (SetOperation.__name__, CLOSED)),
        ("Add an aggregate", (f"{AggregateFunction.__name__}.REGR_R2", CLOSED)),
        ("Add an aggregate", (DistinctSum.__name__, CLOSED)),
        ("Add an aggregate", (str(AggregateFunction.SUM),)),
        ("Add a scalar function", (f"exp.{Cbrt.__name__}",)),
        ("Add a mechanism", (f"{DiscreteGaussian.__name__}(",)),
        ("Add a mechanism", (f"{DiscreteGaussian.__name__})",)),
        ("Add a mechanism", (DiscreteGaussian.__name__, CLOSED)),
        ("Add a mechanism", (f"{PermuteAndFlip.__name__}(",)),
        ("Add a strategy", (f"{CountUnitsFirst.__name__},",)),
        ("Add an engine", (f"{engine_source.__name__}(",)),
        ("Add an engine", (f": {DuckDBSource.__name__}",)),
    ],
    ids=str,
)
def test_a_file_that_has_a_case_of_each_kind_is_named(title: str, words: tuple[str, ...]) -> None:
    files = files_with(*words)
    assert files
    assert {file for file in files if not is_named(file, title)} == set()


@pytest.mark.parametrize("title", re.findall(r"^## (Add .+)$", PAGE, re.MULTILINE))
def test_files_that_a_checklist_names_are_there(title: str) -> None:
    for file in named(title):
        assert (PACKAGE / file).is_file() or (ROOT / file).is_file(), file


def test_what_strangers_add_has_a_checklist() -> None:
    wanted = "operator", "aggregate", "scalar function", "mechanism", "strategy", "engine"
    titles = re.findall(r"^## Add an? (.+)$", PAGE, re.MULTILINE)
    assert tuple(titles) == wanted


def test_folders_that_are_named_are_there() -> None:
    for folder in re.findall(r"`([\w/]+)/`", PAGE):
        assert (PACKAGE / folder).is_dir() or Path(ROOT / folder).is_dir(), folder
