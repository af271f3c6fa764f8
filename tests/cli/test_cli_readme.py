from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from cli.cli_run import Run

from dpsql.cli.main import commands

README = (Path(__file__).parent.parent.parent / "README.md").read_text(encoding="utf-8")


def lines_of(command: click.Command, words: tuple[str, ...] = ()) -> list[list[str]]:
    """A command and those below it, as they are called."""
    below = command.commands.items() if isinstance(command, click.Group) else ()
    return [
        list(words),
        *(line for name, sub in below for line in lines_of(sub, (*words, name))),
    ]


def block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    return str(found)


@pytest.mark.parametrize("words", lines_of(commands), ids=" ".join)
def test_every_commands_help_is_in_the_readme_as_it_is(run: Run, words: list[str]) -> None:
    text = run(*words, "--help").out
    assert f"```text\n$ {' '.join(['dpsql', *words, '--help'])}\n{text}```" in README


def test_the_way_from_a_database_to_an_answer_is_as_written(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commands under "Your own data"; who edits the skeleton arrives at the YAML below it."""
    data = tmp_path / "data"
    data.mkdir()
    for name, columns in {
        "patients": {
            "patient_id": [1],
            "age": pa.array([30], pa.int32()),
            "sex": ["F"],
            "city": ["a"],
        },
        "visits": {
            "patient_id": [1],
            "doctor_id": [1],
            "cost": pa.array([5], pa.decimal128(10, 2)),
        },
        "doctors": {"doctor_id": [1]},
    }.items():
        pq.write_table(pa.table(columns), data / f"{name}.parquet")
    monkeypatch.chdir(tmp_path)
    path = Path("schema.yaml")
    section = README.split("## Your own data")[1].split("\n## ")[0]
    (commands_written,) = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
    for line in commands_written.splitlines():
        command, *words = shlex.split(line)
        if command == "$EDITOR":
            refused = run("check", *words)
            assert refused.code == 1
            assert "add unit: …, or public: true" in refused.err
            columns_of = yaml.safe_load(path.read_text())["tables"]
            path.write_text(block("yaml"))
            edited = yaml.safe_load(path.read_text())["tables"]
            for name in ("patients", "visits"):
                assert set(columns_of[name]["columns"]) == set(edited[name]["columns"])
        else:
            assert command == "dpsql"
            ended = run(*words)
            assert ended.code == 0, ended.err
    for sql in (
        "SELECT city, count(*) FROM patients GROUP BY city",
        "SELECT doctor_id, sum(cost) FROM visits GROUP BY doctor_id",
        "SELECT count(*) FROM doctors",
    ):
        ended = run("query", path, sql, "--analyst", "alice")
        assert ended.code == 0, ended.err


def test_the_python_in_the_readme_runs(
    fixtures: Path, tpch_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (fixtures / "tpch" / "schema.yaml").read_text()
    path = tmp_path / "schema.yaml"
    path.write_text(text.replace("source: data", f"source: {tpch_folder}"))
    exec(block("python").replace("fixtures/tpch/schema.yaml", str(path)), {})  # noqa: S102
    assert "AUTOMOBILE" in capsys.readouterr().out


def test_the_pictures_in_the_readme_are_there_and_small() -> None:
    pictures = re.findall(r"!\[[^]]+\]\((assets/[^)]+)\)", README)
    names = {"explain", "console", "budget", "superset", "superset_refused", "speed", "sweep"}
    assert {Path(name).stem for name in pictures} == names
    folder = Path(__file__).parent.parent.parent
    for name in pictures:
        assert (folder / name).stat().st_size < 100_000
