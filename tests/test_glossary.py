"""One vocabulary: the glossary's names are there, and no name is a word that names nothing."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "dpsql"
GLOSSARY = ROOT / "docs" / "glossary.md"

EMPTY_WORDS = frozenset(
    (
        *("found", "said", "told", "asked", "asking", "given", "handed", "made", "kept"),
        *("beside", "within", "apart", "place", "places", "most", "least", "stem", "unlike"),
        *("desk", "thing", "things"),
    )
)
"""Words that name nothing: a participle of any verb, a preposition, an index or a bound."""

LEFT = frozenset(
    {
        # SQL's own clause is WITHIN GROUP.
        "bind/aggregate/syntax.py:_within_group",
        "pgwire/sql/types/expression_types.py:Typing._within_group",
        # Keys of JSON: what stands on disk, and what EXPLAIN and the audit print.
        "ledger/chain/entry.py:Released.kept",
        "session/explain/report.py:Price.said",
        "audit/sensitivity/exhaustive_audit.py:SensitivityAudit.apart",
        # At most and at least are the relations themselves.
        "physical/sidecar_rows.py:at_most",
        "schema/load/file_format.py:TableSection.at_least",
        "privacy/mechanisms/mechanism.py:Mechanism.tail(at_least)",
        "privacy/mechanisms/noise/correlated.py:CorrelatedNoise.tail(at_least)",
        "privacy/mechanisms/noise/gaussian.py:DiscreteGaussian.tail(at_least)",
        "privacy/mechanisms/noise/laplace.py:DiscreteLaplace.tail(at_least)",
        "privacy/mechanisms/noise/k_norm.py:KNormNoise.tail(at_least)",
        "privacy/mechanisms/one_direction.py:OneDirectionNoise.tail(at_least)",
        "privacy/mechanisms/noise/rounded.py:RoundedNoise.tail(at_least)",
        "privacy/mechanisms/noise/rounded_gaussian.py:RoundedGaussian.tail(at_least)",
    }
)


def code_names() -> list[str]:
    table = [line for line in GLOSSARY.read_text(encoding="utf-8").splitlines() if "|" in line]
    return [name for line in table for name in re.findall(r"`(\w+(?:\.\w+)+)`", line)]


@pytest.mark.parametrize("name", code_names())
def test_the_glossarys_names_are_there(name: str) -> None:
    found: object = None
    attributes: list[str] = []
    parts = name.split(".")
    while found is None and parts:
        try:
            found = importlib.import_module(".".join(["dpsql", *parts]))
        except ModuleNotFoundError:
            attributes.insert(0, parts.pop())
    assert parts, f"{name} is in no module"
    for attribute in attributes:
        found = getattr(found, attribute)


def test_a_term_has_one_entry() -> None:
    rows = re.findall(r"^\| ([^|]+) \|", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE)
    terms = [row for row in rows if row not in {"term", "---"}]
    assert len(terms) == len(set(terms)) > 40


def words(name: str) -> set[str]:
    return {word.casefold() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}


def names_in(body: list[ast.stmt], within: str) -> Iterator[tuple[str, str]]:
    """Each name of a module, class or function with its path; parameters and local ones, too."""
    for node in body:
        match node:
            case ast.ClassDef(name=name):
                yield name, within + name
                yield from names_in(node.body, f"{within}{name}.")
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, within + name
                yield from ((own, f"{within}{name}({own})") for own in set(names_bound_in(node)))
            case ast.Assign() | ast.AnnAssign():
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for part in (part for target in targets for part in ast.walk(target)):
                    if isinstance(part, ast.Name):
                        yield part.id, within + part.id
            case _:
                pass


def names_bound_in(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """Parameters, local variables, captures, and attributes that `__init__` sets."""
    for part in ast.walk(function):
        match part:
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.ExceptHandler(name=str(name)):
                yield name
            case ast.Attribute(attr=name, ctx=ast.Store()) if function.name == "__init__":
                yield name
            case ast.FunctionDef(name=name) if part is not function:
                yield name
            case _:
                pass


def empty_names() -> set[str]:
    found = set()
    for file in PACKAGE.rglob("*.py"):
        path = file.relative_to(PACKAGE).as_posix()
        if words(file.stem) & EMPTY_WORDS:
            found.add(path)
        tree = ast.parse(file.read_text(encoding="utf-8"))
        names = names_in(tree.body, "")
        found |= {f"{path}:{where}" for name, where in names if words(name) & EMPTY_WORDS}
    return found


def test_no_name_is_a_word_that_names_nothing() -> None:
    assert empty_names() == LEFT, "name the thing, as docs/glossary.md does"
