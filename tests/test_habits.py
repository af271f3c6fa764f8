"""Hooks, hosted CI and `.ci/run` can't drift apart, and what is locked is what is declared."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from file_checks import faults
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
RUN = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
WORKFLOW = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
LOCKED = (ROOT / ".ci" / "locked.txt").read_text(encoding="utf-8")
DECLARED: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PYTHONS = [
    found[1]
    for said in DECLARED["project"]["classifiers"]
    if (found := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", said))
]


def checks() -> list[str]:
    """The commands that `.ci/run` runs itself, while servers start, before any test."""
    return RUN.split("trap stop_all EXIT\n\n")[1].split("\n\n")[0].splitlines()


def hooks() -> list[dict[str, Any]]:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    (local,) = config["repos"]
    assert local["repo"] == "local"
    found: list[dict[str, Any]] = local["hooks"]
    return found


def command_of(hook: dict[str, Any]) -> str:
    """What a hook runs: pre-commit has no shell, so that one for `*` is written."""
    match shlex.split(hook["entry"]):
        case ["bash", "-c", command]:
            return command
        case words:
            return shlex.join(words)


def group(name: str) -> list[Requirement]:
    listed: list[str | dict[str, str]] = DECLARED["dependency-groups"][name]
    found: list[Requirement] = []
    for one in listed:
        found += [Requirement(one)] if isinstance(one, str) else group(one["include-group"])
    return found


def locked() -> dict[str, str]:
    lines = [line.split("==") for line in LOCKED.splitlines() if not line.startswith("#")]
    return {canonicalize_name(name): version for name, version in lines}


def test_hooks_are_the_checks_of_ci() -> None:
    assert len(checks()) >= 5
    assert [
        command_of(hook) for hook in hooks() if not hook.get("pass_filenames", True)
    ] == checks()


def test_hooks_run_what_the_test_group_installed() -> None:
    assert {hook["language"] for hook in hooks()} == {"system"}
    of_files = [hook["entry"] for hook in hooks() if hook.get("pass_filenames", True)]
    assert of_files == ["python tests/file_checks.py"]


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("a.yaml", "a: [1\n", "it can't be parsed"),
        ("a.toml", "a = \n", "it can't be parsed"),
        ("a.json", "{]\n", "it can't be parsed"),
        ("run", "#!/usr/bin/env bash\nif true\n", "it can't be parsed"),
        ("a.md", "<<<<<<< ours\n", "it has marks of a merge"),
        ("a.md", "a", "it doesn't end in one line break"),
        ("a.md", "a\n\n", "it doesn't end in one line break"),
    ],
)
def test_a_faulty_file_is_told(tmp_path: Path, name: str, text: str, fault: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    (found,) = faults(tmp_path / name)
    assert found.startswith(fault)


def test_files_of_the_project_have_no_faults() -> None:
    files = [ROOT / name for name in ("pyproject.toml", "mkdocs.yml", ".pre-commit-config.yaml")]
    files += [path for folder in (".ci", ".github") for path in (ROOT / folder).rglob("*")]
    assert not [path for path in files if path.is_file() and faults(path)]


def test_hosted_ci_runs_all_on_the_lowest_and_the_highest_python() -> None:
    (job,) = yaml.safe_load(WORKFLOW)["jobs"].values()
    assert job["strategy"]["matrix"] == {"python": [PYTHONS[0], PYTHONS[-1]]}
    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/run"]


def test_hosted_ci_pins_its_actions_and_knows_no_secrets() -> None:
    used = re.findall(r"uses: (.+)", WORKFLOW)
    assert used
    assert all(re.fullmatch(r"actions/[\w-]+@v\d+", action) for action in used)
    assert "secrets" not in WORKFLOW


def test_what_is_locked_has_names_and_versions_and_nothing_else() -> None:
    head, *lines = LOCKED.splitlines()
    assert head.startswith("# ")
    assert "`.ci/lock`" in head
    assert all(re.fullmatch(r"[\w.-]+==[\w.!+]+", line) for line in lines)
    assert lines == sorted(lines, key=str.casefold)
    assert len(locked()) == len(lines)


def test_what_is_locked_is_what_is_declared() -> None:
    direct = [Requirement(text) for text in DECLARED["project"]["dependencies"]] + group("test")
    assert not [
        str(one)
        for one in direct
        if not one.specifier.contains(locked().get(canonicalize_name(one.name), "0"))
    ]


def test_ci_installs_what_is_locked_on_the_python_that_it_was_locked_on() -> None:
    installs = re.findall(r"^\.venv/bin/pip install .+$", RUN, re.MULTILINE)
    assert installs
    assert all('"${locked[@]}"' in line for line in installs)
    assert "locked=(-c .ci/locked.txt)" in RUN
    assert LOCKED.startswith(f"# What .ci/run installs on Python {PYTHONS[0]},")
