"""CSV files as other programs write them: delimiters, encodings, byte order marks, names."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.cli_run import Run
from data.database import attached

LINES = ["Tail Number;Op.Carrier;city;delay", "N1;AA;Zürich;5", "N2;B6;Málaga;-3", "N3;AA;Köln;"]
SCHEMA = """\
dataset: flights
source: data
neighbors: change_one
tables:
  flights:
    unit: row
    rows: 3
    {form}
    columns:
      Op_Carrier: {{type: varchar, source_name: "Op.Carrier", values: [AA, B6]}}
      city: {{type: varchar, values: [Zürich, Málaga, Köln]}}
      delay: {{type: bigint, bounds: [-60, 600]}}
budget: {{epsilon: 60}}
per_query: {{epsilon: 20}}
"""
FORMS = [
    (";", "utf-8", b""),
    (";", "utf-8", b"\xef\xbb\xbf"),
    ("\t", "windows-1252", b""),
    ("|", "utf-16", b""),
    (",", "latin-1", b""),
]


def write(folder: Path, delimiter: str, encoding: str, mark: bytes = b"") -> None:
    (folder / "data").mkdir()
    text = "\r\n".join(LINES).replace(";", delimiter) + "\r\n"
    (folder / "data" / "flights.csv").write_bytes(mark + text.encode(encoding))


@pytest.mark.parametrize(("delimiter", "encoding", "mark"), FORMS)
def test_a_file_is_read_as_the_schema_says_it_is_written(
    run: Run, tmp_path: Path, delimiter: str, encoding: str, mark: bytes
) -> None:
    write(tmp_path, delimiter, encoding, mark)
    shown = "\\t" if delimiter == "\t" else delimiter
    schema = tmp_path / "schema.yaml"
    schema.write_text(
        SCHEMA.format(form=f'csv: {{delimiter: "{shown}", encoding: {encoding}}}'), "utf-8"
    )
    assert run("check", schema).err == ""
    sql = "SELECT city, count(*), count(delay) FROM flights GROUP BY city"
    ended = run("query", schema, sql, "--format", "csv")
    assert ended.code == 0
    _, *rows = ended.out.splitlines()
    assert {city: int(n) for city, n, _ in (row.split(",") for row in rows) if city} == {
        "Zürich": pytest.approx(1, abs=3),
        "Málaga": pytest.approx(1, abs=3),
        "Köln": pytest.approx(1, abs=3),
    }


@pytest.mark.parametrize(
    ("delimiter", "encoding"), [(form[0], form[1]) for form in FORMS if not form[2]]
)
def test_check_counts_values_that_are_not_of_their_declared_type(
    run: Run, tmp_path: Path, delimiter: str, encoding: str
) -> None:
    """They are NULL in every answer: a date in a column of numbers fails no statement."""
    write(tmp_path, delimiter, encoding)
    shown = "\\t" if delimiter == "\t" else delimiter
    schema = tmp_path / "schema.yaml"
    text = SCHEMA.format(form=f'csv: {{delimiter: "{shown}", encoding: {encoding}}}')
    assert "isn't of type" not in _checked(run, schema, text)
    dated = text.replace("{type: bigint, bounds: [-60, 600]}", "{type: date}")
    told = "flights: in 2 of 3 rows delay isn't of type date, and is NULL in every answer"
    assert told in _checked(run, schema, dated)


def test_check_counts_them_where_a_database_has_another_type(run: Run, tmp_path: Path) -> None:
    with attached(tmp_path / "flights.duckdb") as source:
        source.execute(
            "CREATE TABLE flights AS FROM (VALUES (7), (3_000_000_000), (NULL)) t(delay)"
        )
    schema = tmp_path / "schema.yaml"
    schema.write_text(
        "dataset: flights\nsource: flights.duckdb\ntables:\n  flights:\n    unit: row\n"
        "    columns: {delay: {type: integer, bounds: [-60, 600]}}\nbudget: {epsilon: 60}\n"
    )
    told = "flights: in 1 of 3 rows delay isn't of type integer"
    assert told in run("check", schema).out


def _checked(run: Run, schema: Path, text: str) -> str:
    schema.write_text(text, "utf-8")
    ended = run("check", schema)
    assert ended.code == 0, ended.err
    return ended.out


@pytest.mark.parametrize(("delimiter", "encoding", "mark"), FORMS)
def test_init_drafts_delimiter_encoding_and_names(
    run: Run, tmp_path: Path, delimiter: str, encoding: str, mark: bytes
) -> None:
    write(tmp_path, delimiter, encoding, mark)
    schema = tmp_path / "schema.yaml"
    assert run("init", tmp_path / "data", "--sample", 100, "-o", schema).code == 0
    text = schema.read_text("utf-8")
    assert 'Tail_Number: {type: varchar, source_name: "Tail Number"}' in text
    assert 'Op_Carrier: {type: varchar, source_name: "Op.Carrier"}' in text
    assert "delay: {type: bigint}" in text
    drafted = "windows-1252" if encoding == "latin-1" else encoding
    shown = "\\t" if delimiter == "\t" else delimiter
    line = f'csv: {{delimiter: "{shown}", encoding: {drafted}}}'
    assert (line in text) is ((delimiter, drafted) != (",", "utf-8"))


def test_without_a_sample_only_the_line_of_names_is_looked_at(run: Run, tmp_path: Path) -> None:
    write(tmp_path, ";", "latin-1")
    schema = tmp_path / "schema.yaml"
    run("init", tmp_path / "data", "-o", schema)
    assert 'csv: {delimiter: ";", encoding: utf-8}' in schema.read_text("utf-8")


def test_check_tells_the_owner_of_bytes_that_are_no_text(run: Run, tmp_path: Path) -> None:
    write(tmp_path, ";", "latin-1")
    schema = tmp_path / "schema.yaml"
    schema.write_text(SCHEMA.format(form='csv: {delimiter: ";"}'), "utf-8")
    told = run("check", schema).err
    assert "has bytes that are no utf-8, and are read as ?" in told
    assert "csv: {encoding: windows-1252}" in told


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ('csv: {delimiter: ";;"}', "is one ASCII character"),
        ("csv: {delimiter: '\"'}", "is one ASCII character"),
        ("csv: {encoding: klingon}", "names no encoding"),
        ("csv: {encoding: base64}", "names no encoding"),
        ('csv: {separator: ";"}', "unknown key"),
    ],
)
def test_what_names_no_form_is_refused(run: Run, tmp_path: Path, form: str, told: str) -> None:
    write(tmp_path, ",", "utf-8")
    schema = tmp_path / "schema.yaml"
    schema.write_text(SCHEMA.format(form=form), "utf-8")
    assert told in run("check", schema).err


def test_another_encoding_is_another_version_of_the_data(run: Run, tmp_path: Path) -> None:
    write(tmp_path, ";", "latin-1")
    schema, sql = tmp_path / "schema.yaml", "SELECT avg(delay) FROM flights"
    for encoding, told in (("latin-1", "epsilon = 20"), ("utf-8", "epsilon = 20")):
        schema.write_text(
            SCHEMA.format(form=f'csv: {{delimiter: ";", encoding: {encoding}}}'), "utf-8"
        )
        assert f"cost: {told}" in run("query", schema, sql).err
