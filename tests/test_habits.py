"""Hooks, hosted CI and `.ci/run` can't drift apart."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from file_checks import faults

ROOT = Path(__file__).parent.parent
RUN = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
WORKFLOW = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
DECLARED: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PYTHONS = [
    found[1]
    for said in DECLARED["project"]["classifiers"]
    if (found := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", said))
]


def checks() -> list[str]:
    """The commands with which `.ci/run` begins, before it starts anything."""
    return RUN.split('export PATH="$PWD/.venv/bin:$PATH"\n')[1].split("\n\n")[0].splitlines()


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
