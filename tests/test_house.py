"""The house keeps its own rules: tables of modules, notes that show every operator, small files."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import get_args

import grimp
import pytest
from notes.blocks import NOTES

from dpsql.plan.aggregate import AggregateFunction
from dpsql.plan.bounded_release.bounded_release import GroupLimit
from dpsql.plan.bounded_release.statistic import Term
from dpsql.plan.operator import Plan, SetKind

PACKAGE = Path(__file__).parent.parent / "dpsql"
PACKAGES = sorted(p.parent for p in PACKAGE.rglob("__init__.py") if p.parent != PACKAGE)
FILES = sorted(PACKAGE.rglob("*.py"))

PRIVATE_ONLY = {AggregateFunction.MIN, AggregateFunction.MAX}
"""Refused of private rows; notes show them over released ones."""


def notes() -> str:
    return "\n".join(note.read_text(encoding="utf-8") for note in NOTES.glob("*.md"))


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_a_package_lists_its_modules(package: Path) -> None:
    head = (package / "__init__.py").read_text(encoding="utf-8")
    listed = [name for name in re.findall(r"^\| (\w+) +\|", head, re.MULTILINE) if name != "module"]
    modules = {p.stem for p in package.glob("*.py") if not p.stem.startswith("__")}
    packages = {p.parent.name for p in package.glob("*/__init__.py")}
    assert sorted(listed) == sorted(modules | packages)


@pytest.mark.parametrize("package", [PACKAGE, *PACKAGES], ids=lambda package: package.name)
def test_a_package_has_at_most_fourteen_modules(package: Path) -> None:
    modules = [p.stem for p in package.glob("*.py") if p.stem != "__init__"]
    assert len(modules) <= 14, f"{package.name} has {len(modules)} modules: part them by concept"


def test_no_file_of_structs_has_the_fields_of_dataclasses() -> None:
    # A struct would take such a field for a default value.
    both = [
        file.relative_to(PACKAGE)
        for file in FILES
        for text in [file.read_text(encoding="utf-8")]
        if re.search(r"^from dataclasses import .*\bfield\b", text, re.MULTILINE)
        for _, body in re.findall(
            r"^class \w+\((.*Struct.*)\):\n((?:[ \n].*\n?)*)", text, re.MULTILINE
        )
        if re.search(r"= field\(", body)
    ]
    assert not both


def test_contributing_names_files_that_are_there() -> None:
    page = (PACKAGE.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w/]+\.py)`", page)
    assert named
    for file in named:
        assert (PACKAGE / file).is_file() or (PACKAGE.parent / file).is_file(), file


@pytest.mark.parametrize("operator", get_args(Plan), ids=lambda operator: operator.__name__)
def test_a_note_shows_every_operator(operator: type) -> None:
    assert re.search(rf"^ *{operator.__name__}\(", notes(), re.MULTILINE)


@pytest.mark.parametrize("function", list(AggregateFunction), ids=lambda function: function.value)
def test_a_note_shows_every_aggregate(function: AggregateFunction) -> None:
    assert f"{function.value}(" in notes()


@pytest.mark.parametrize("kind", list(SetKind), ids=lambda kind: kind.value)
def test_a_note_shows_every_set_operation(kind: SetKind) -> None:
    assert f"SetOperation({kind.value})" in notes() or f" {kind.value} SELECT" in notes()


def test_notes_show_every_limit_and_term() -> None:
    shown = {
        "ByHash": "by keyed hash",
        "ByRank": "by keyed rank",
        "ByDomain": "all there are",
        "ByUnit": "determines the keys",
        "ByNorm": "scaled to their L2 norm",
    }
    # Ranks are stored in a sidecar, which no note has: tests/physical shows it.
    assert {limit.__name__ for limit in get_args(GroupLimit)} == {*shown, "ByStoredRank"}
    terms = {"RowCount": "rows = ", "NonNullCount": "rows with ", "Sum": " less "}
    terms |= {
        "UnitCount": "units = ",
        "UnitWeight": "weights, √(4/n) of one in n groups = ",
        "UnitsOverLimit": "units with too many rows",
        "Square": "square of (",
        "Product": ") * (",
        "PairwiseDeviations": "squared differences of ",
        "BoundedMean": " in all rows, 9 at least",
        "CappedSum": " of a unit at most = ",
    }
    terms |= {"DistinctValues": "distinct doctor_id = ", "DistinctSum": "sum of distinct "}
    assert {term.__name__ for term in get_args(Term)} == set(terms)
    for text in (*shown.values(), *terms.values()):
        assert text in notes()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_is_one_concept(file: Path) -> None:
    lines = file.read_text(encoding="utf-8").count("\n")
    assert lines <= 300, f"{file.name} has {lines} lines: cut it where the concept ends"


def import_cycle(imports: Mapping[str, Collection[str]]) -> str | None:
    """The modules of one import cycle, "a → b → a"; None if there is none."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        # What is imported comes first in it.
        return " → ".join(reversed(error.args[1]))
    return None


def test_a_cycle_is_named_in_the_direction_of_imports() -> None:
    assert import_cycle({"a": ["b"], "b": ["c"], "c": []}) is None
    assert import_cycle({"a": ["b"], "b": ["c"], "c": ["b"]}) in ("b → c → b", "c → b → c")
    assert import_cycle({"a": ["b"], "b": ["c"], "c": ["a"]}) in (
        "a → b → c → a",
        "b → c → a → b",
        "c → a → b → c",
    )


def test_no_module_imports_itself_through_others() -> None:
    # Imports in functions and under TYPE_CHECKING count too. Without a cache: grimp takes the one
    # of a graph with other imports for its own.
    graph = grimp.build_graph("dpsql", cache_dir=None)
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    cycle = import_cycle(imports)
    assert cycle is None, f"modules import each other: {cycle}"
