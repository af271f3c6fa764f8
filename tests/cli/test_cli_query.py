from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from cli.cli_run import Run

SPECIES = "SELECT species, count(*) AS birds FROM penguins GROUP BY species ORDER BY species"
COUNT = "SELECT count(*) FROM penguins"


def test_a_query_is_answered_on_stdout_and_its_cost_said_on_stderr(
    run: Run, penguins: Path
) -> None:
    ended = run("query", penguins, SPECIES, "--epsilon", "1")
    assert ended.code == 0
    head, rule, *rows = ended.out.splitlines()
    assert head.split() == ["species", "birds"]
    assert set(rule) == {"-", " "}
    assert [row.split()[0] for row in rows] == ["Adelie", "Chinstrap", "Gentoo"]
    assert ended.err.startswith("cost: epsilon = 1; left: epsilon = 2.")
    assert ended.err.count("\n") == 1


def test_the_same_query_again_is_the_same_and_free(run: Run, penguins: Path) -> None:
    first, again = (run("query", penguins, SPECIES) for _ in range(2))
    assert again.out == first.out
    assert again.err.startswith("cost: nothing to the dataset, answered before; left: epsilon = ")


def test_sql_may_come_from_stdin(run: Run, penguins: Path) -> None:
    ended = run("query", penguins, "-", "--format", "csv", stdin=f"{COUNT};\n".encode())
    assert ended.code == 0
    assert ended.out.splitlines()[0] == "count_star()"


def test_csv_json_markdown_and_parquet_hold_the_same_answer(
    run: Run, penguins: Path, tmp_path: Path
) -> None:
    table, csv, text, markdown, parquet = (
        run("query", penguins, SPECIES, "--format", form)
        for form in ("table", "csv", "json", "markdown", "parquet")
    )
    rows = [line.split() for line in table.out.splitlines()[2:]]
    assert [line.split(",") for line in csv.out.splitlines()[1:]] == rows
    assert [[row["species"], str(row["birds"])] for row in json.loads(text.out)] == rows
    assert [line.strip("| ").split(" | ") for line in markdown.out.splitlines()[2:]] == rows
    file = tmp_path / "answer.parquet"
    file.write_bytes(parquet.raw)
    found = pq.read_table(file).to_pydict()
    assert [[s, str(n)] for s, n in zip(found["species"], found["birds"], strict=True)] == rows


def test_explain_costs_nothing(run: Run, penguins: Path, state_folder: Path) -> None:
    ended = run("explain", penguins, COUNT, "--epsilon", "0.5")
    assert ended.code == 0
    assert "cost: epsilon = 0.49999" in ended.out
    assert ended.err == ""
    assert not state_folder.exists()


def test_own_statements_work_and_a_set_prints_nothing(run: Run, penguins: Path) -> None:
    assert run("query", penguins, "SHOW dpsql.epsilon", "--format", "csv").out == (
        "dpsql.epsilon\n0.1\n"
    )
    ended = run("query", penguins, "SET dpsql.epsilon = 0.2")
    assert (ended.code, ended.out, ended.err) == (0, "", "")
    assert "cost:" in run("query", penguins, f"EXPLAIN PRIVACY {COUNT}").out


def test_a_refusal_is_one_message_with_its_place(run: Run, penguins: Path) -> None:
    ended = run("query", penguins, "SELECT *\nFROM penguin")
    assert ended.code == 1
    assert ended.out == ""
    assert ended.err == (
        "error: there is no table penguin\n"
        "  line 2: FROM penguin\n"
        "               ^^^^^^^\n"
        "hint: did you mean penguins?\n"
        "sqlstate: 42P01\n"
    )


def test_a_spent_budget_has_an_exit_code_of_its_own(run: Run, penguins: Path) -> None:
    text = penguins.read_text()
    penguins.write_text(text.replace("epsilon: 3, ", "epsilon: 1, "))
    assert run("query", penguins, COUNT, "--epsilon", "1").code == 0
    ended = run("query", penguins, f"{COUNT} WHERE year = 2008", "--epsilon", "1")
    assert ended.code == 3
    assert ended.err.startswith("error: not enough budget is left")
    assert "sqlstate: 53400" in ended.err


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nothing"],
        ["query"],
        ["query", "{schema}"],
        ["query", "{schema}.missing", COUNT],
        ["query", "{schema}", COUNT, "--epsilon", "much"],
        ["query", "{schema}", COUNT, "--format", "xml"],
    ],
)
def test_wrong_usage_ends_with_2(run: Run, penguins: Path, arguments: list[str]) -> None:
    ended = run(*(each.format(schema=penguins) for each in arguments))
    assert ended.code == 2
    assert "Usage: dpsql" in ended.err + ended.out


STRANGE = [
    "",
    ";",
    "/* nothing",
    "'",
    "(" * 3000,
    "SELECT " + "-" * 500 + "1",
    "\0",
    "SELECT \udcff FROM penguins",
    "SELECT '\udcff' FROM penguins",
    "SELECT \x1b[31m FROM penguins",
    "SELECT count(*) FROM penguins; SELECT 1",
    "DROP TABLE penguins",
    "COPY penguins TO '/tmp/x'",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT count(*) FROM '/etc/passwd'",
    "SELECT 1e999999999",
    f"SELECT count(*) FROM penguins WHERE year = {'9' * 5000}",
    "SELECT count(*) FROM penguins LIMIT -1",
    "EXPLAIN PRIVACY",
    "SHOW dpsql.",
    "𝓢𝓔𝓛𝓔𝓒𝓣",
    "SELECT " + ", ".join(["count(*)"] * 3000) + " FROM penguins",
]


@pytest.mark.parametrize("sql", STRANGE, ids=range(len(STRANGE)))
@pytest.mark.parametrize("command", ["query", "explain"])
def test_no_statement_ends_in_a_traceback(run: Run, penguins: Path, command: str, sql: str) -> None:
    ended = run(command, penguins, sql)
    assert ended.code == 1
    assert ended.err.startswith("error: ")
    assert "fault of its own" not in ended.err
    assert "Traceback" not in ended.err
    assert "\x1b" not in ended.err


@pytest.mark.parametrize("analyst", ["", "a\x1bb", "x" * 999])
def test_no_analyst_ends_in_a_traceback(run: Run, penguins: Path, analyst: str) -> None:
    ended = run("query", penguins, COUNT, "--analyst", analyst)
    assert ended.code == 1
    assert ended.err.startswith("error: analyst")


SCHEMAS = [b"", b"\xff\xfe", b"[1]", b"dataset: 7", b"a: &a [*a]", b"\0", b"dataset: x\nsource: y"]


@pytest.mark.parametrize("content", SCHEMAS, ids=range(len(SCHEMAS)))
@pytest.mark.parametrize("command", ["query", "explain", "check", "budget"])
def test_no_schema_ends_in_a_traceback(
    run: Run, tmp_path: Path, command: str, content: bytes
) -> None:
    path = tmp_path / "schema.yaml"
    path.write_bytes(content)
    ended = run(command, path, *([COUNT] if command in {"query", "explain"} else []))
    assert ended.code == 1
    assert ended.err.startswith("error: ")
    assert "sqlstate: F0000" in ended.err


def test_stdin_that_is_no_text_is_wrong_usage(run: Run, penguins: Path) -> None:
    assert run("query", penguins, "-", stdin=b"\xff").code == 2


def test_a_fault_of_our_own_shows_its_kind_and_nothing_else(
    run: Run, penguins: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise KeyError("a private value")

    monkeypatch.setattr("dpsql.session.compile.compile.compile_bound", fail)
    ended = run("query", penguins, COUNT)
    assert ended.code == 1
    assert "KeyError" in ended.err
    assert "a private value" not in ended.err


def test_a_reader_that_goes_away_gets_no_traceback(penguins: Path) -> None:
    command = f"{sys.executable} -m dpsql.cli query {penguins} '{SPECIES}' | true"
    ended = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in ended.stderr
    assert "Exception" not in ended.stderr


def test_a_batch_is_answered_together_at_one_cost(run: Run, penguins: Path, tmp_path: Path) -> None:
    text = penguins.read_text()
    penguins.write_text(text.replace("accounting: zcdp", "accounting: approx"))
    file = tmp_path / "batch.sql"
    file.write_text("".join(f"{COUNT} WHERE year > {n}; -- {n}\n" for n in range(2000, 2012)))
    ended = run("query", penguins, "--batch", file, "--epsilon", "0.01", "--format", "csv")
    assert ended.code == 0, ended.err
    assert ended.out.count("count_star()") == 12
    assert "for all, one by one epsilon = 0.12" in ended.err
    again = run("query", penguins, "--batch", file, "--epsilon", "0.01", "--format", "csv")
    assert again.out == ended.out
    assert again.err.startswith("cost: nothing to the dataset")


def test_what_a_batch_is_planned_as_is_explained(run: Run, penguins: Path, tmp_path: Path) -> None:
    file = tmp_path / "batch.sql"
    file.write_text(
        "".join(
            f"SELECT {key}, count(*) FROM penguins GROUP BY 1;" for key in ("species", "island")
        )
    )
    explained = run("explain", penguins, "--batch", file)
    assert explained.code == 0, explained.err
    answered = run("query", penguins, "--batch", file)
    (told,) = [line for line in answered.err.splitlines() if "2 statements are planned as" in line]
    assert told in explained.out
    assert run("explain", penguins, COUNT, "--batch", file).code == 2
    assert run("explain", penguins).code == 2


@pytest.mark.parametrize("arguments", [(), (COUNT, "--batch", "-"), ("--batch", "nowhere.sql")])
def test_a_batch_is_instead_of_one_query(
    run: Run, penguins: Path, arguments: tuple[str, ...]
) -> None:
    assert run("query", penguins, *arguments).code == 2
