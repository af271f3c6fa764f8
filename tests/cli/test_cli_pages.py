from __future__ import annotations

import shlex
from pathlib import Path

import click
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from cli.cli_run import Run, commands_below
from documentation.blocks import blocks
from documentation.pages import DOCS, check_table

from dpsql.cli.main import commands

TUTORIAL = blocks(DOCS / "tutorial.md")


def lines_of(command: click.Command, words: tuple[str, ...] = ()) -> list[list[str]]:
    """A command and those below it, as they are called."""
    return [
        list(words),
        *(line for name, sub in commands_below(command) for line in lines_of(sub, (*words, name))),
    ]


def test_every_commands_help_is_in_the_page_as_it_is(
    run: Run, request: pytest.FixtureRequest
) -> None:
    called = [["dpsql", *words] for words in lines_of(commands)]
    helps = [(" ".join(words), run(*words[1:], "--help").out) for words in called]
    made = [f"\n## {name}\n\n```text\n$ {name} --help\n{text}```\n" for name, text in helps]
    check_table(request, "command-help", "".join(made) + "\n")


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
    (commands_written,) = (b.text for b in TUTORIAL if "dpsql init" in b.text)
    (schema,) = (b.text for b in TUTORIAL if b.marks.get("file") == "schema.yaml")
    for line in commands_written.splitlines():
        command, *words = shlex.split(line)
        if command == "$EDITOR":
            refused = run("check", *words)
            assert refused.code == 1
            assert "add unit: …, or public: true" in refused.err
            columns_of = yaml.safe_load(path.read_text())["tables"]
            path.write_text(schema)
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
