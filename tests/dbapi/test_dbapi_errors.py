"""95 % errors beside values: in rows, frames, files and notebooks."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli.cli_run import Run, runner

from dpsql.dbapi.connection import Connection
from dpsql.errors import InterfaceError
from dpsql.report.error_columns import bias_rows, with_error_columns
from dpsql.report.html.answer import MAX_ROWS, answer_page
from dpsql.report.result.result import Result
from dpsql.schema.sql_type import BIGINT, HUGEINT, Varchar
from dpsql.session.answer.answer import ColumnBias, ColumnErrors

SQL = (
    "SELECT species, count(*) AS n, avg(body_mass_g) AS mean, sum(body_mass_g) AS mass"
    " FROM penguins GROUP BY ROLLUP (species) ORDER BY species"
)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(monkeypatch)


def test_each_row_has_the_error_of_its_own_level(connection: Connection) -> None:
    connection.execute("SET dpsql.consistent = on")
    cursor = connection.execute(SQL)
    widths = cursor.half_widths
    assert widths is not None
    assert widths[0] is None
    rows = cursor.fetchall()
    assert len(widths[1] or ()) == len(rows)
    proof = connection.explain(SQL).report
    expected = [release.noise[0].half_width for release in proof.releases]
    assert set(widths[1] or ()) == set(expected)


def test_columns_of_errors_stand_beside_their_values(connection: Connection) -> None:
    cursor = connection.execute(SQL)
    errors = cursor.with_errors()
    assert [column[0] for column in errors.description or ()] == [
        "species",
        "n",
        "n ±",
        "mean",
        "mean ±",
        "mass",
        "mass ±",
    ]
    plain, beside = cursor.fetchall(), errors.fetchall()
    widths = cursor.half_widths or []
    for number, (row, wide) in enumerate(zip(plain, beside, strict=True)):
        assert row == (*wide[:2], wide[3], wide[5])
        assert (wide[2], wide[4], wide[6]) == tuple((own or [])[number] for own in widths[1:])
    assert errors.privacy is cursor.privacy


def test_a_means_error_is_the_distance_to_the_farther_end_of_its_interval(
    connection: Connection,
) -> None:
    mean = "avg(body_mass_g)"
    cursor = connection.execute(
        f"SELECT species, {mean} AS mean, dp_interval_low({mean}), dp_interval_high({mean})"
        f" FROM penguins GROUP BY species HAVING {mean} > 0 ORDER BY 2 DESC LIMIT 2"
    )
    widths = (cursor.half_widths or [])[1] or []
    rows = cursor.fetch_arrow_table()
    values, lows, highs = (rows.column(n).to_numpy() for n in (1, 2, 3))
    assert rows.num_rows == 2
    assert widths == pytest.approx(np.maximum(values - lows, highs - values))


def test_what_is_told_beside_rows_needs_no_connection(connection: Connection) -> None:
    cursor, again = connection.execute(SQL), connection.execute(SQL)
    connection.close()
    assert cursor.half_widths == again.half_widths
    assert all(width for width in (cursor.half_widths or [])[1:])
    assert cursor.privacy is not None
    assert again.privacy is not None
    assert cursor.privacy.loss is not None
    assert again.privacy.loss is None
    assert again.privacy.notes == cursor.privacy.notes


def test_what_noise_decided_is_told(connection: Connection) -> None:
    connection.execute("SET dpsql.epsilon = 0.001")
    cursor = connection.execute("SELECT count(*), stddev(body_mass_g) AS s FROM penguins")
    ((_, deviation),) = cursor.fetchall()
    notes = " ".join(cursor.privacy.notes if cursor.privacy is not None else ())
    if deviation is None:
        assert "s: 1 of 1 are NULL, since their groups may be empty" in notes
    else:
        assert cursor.clamped[1] == ["s: 1 of 1 stand at an end of all" in notes]


def test_frames_and_tables_have_them_too(connection: Connection) -> None:
    cursor = connection.execute(SQL)
    table = cursor.with_errors().fetch_arrow_table()
    assert table.schema.field("n ±").type == pa.float64()
    frame = cursor.with_errors().fetch_df()
    assert list(frame.columns) == table.column_names
    assert cursor.with_errors().pl().columns == table.column_names


def test_what_has_no_noise_has_no_errors(connection: Connection) -> None:
    exact = connection.execute("SELECT 1 AS one")
    assert exact.with_errors().fetchall() == [(1,)]
    assert exact.half_widths == [None]
    told = connection.execute("SHOW dpsql.epsilon")
    assert told.with_errors().fetchall() == [("1",)]
    nothing = connection.execute("SET dpsql.epsilon = 1")
    assert nothing.half_widths is None
    with pytest.raises(InterfaceError):
        nothing.with_errors()


def test_a_missing_value_has_no_error_and_names_may_repeat() -> None:
    table = pa.table({"a": pa.array([1, None]), "b": pa.array([Decimal(2), Decimal(3)])})
    errors = ColumnErrors((5.0, pa.array([1.5, None])))
    found = with_error_columns(Result(("n", "n"), (BIGINT, HUGEINT), table, None, lambda: errors))
    assert found.names == ("n", "n ±", "n", "n ±")
    assert [column.to_pylist() for column in found.table.columns] == [
        [1, None],
        [5.0, None],
        [2, 3],
        [1.5, None],
    ]


def test_what_limits_leave_out_is_beside_errors_where_some_ladder_tells_it() -> None:
    table = pa.table({"a": pa.array([1, None, 5]), "b": pa.array([2, 3, 4]), "c": ["x", "y", "z"]})
    rows = pa.array([0.5, 0.5, None])
    biases = ColumnBias(2.0, 1.0, 4.0), ColumnBias(rows, rows, rows), None
    errors = ColumnErrors((5.0, 6.0, None), biases)
    result = Result(("a", "b", "c"), (BIGINT, BIGINT, Varchar()), table, None, lambda: errors)
    found = with_error_columns(result)
    shown = dict(zip(found.names, (c.to_pylist() for c in found.table.columns), strict=True))
    assert list(shown)[:6] == ["a", "a ±", "a bias", "a bias low", "a bias high", "b"]
    assert shown["a bias high"] == [4.0, None, 4.0]
    assert shown["b bias"] == [0.5, 0.5, None]
    assert list(shown)[-2:] == ["b bias high", "c"]
    assert bias_rows(result, 3) == [[(2.0, 1.0, 4.0)] * 3, [(0.5, 0.5, 0.5)] * 2 + [None], None]


def test_a_notebook_shows_values_errors_and_cost(connection: Connection) -> None:
    page = connection.execute(
        "SELECT species, count(*) AS n FROM penguins GROUP BY 1"
    )._repr_html_()
    assert page is not None
    assert page.count("<tr>") == 4
    assert page.count("± ") == 3
    assert "cost: epsilon = 1" in page
    # What it shows isn't taken from what is fetched.
    cursor = connection.execute("SELECT species, count(*) AS n FROM penguins GROUP BY 1")
    assert "answered before" in (cursor._repr_html_() or "")
    assert len(cursor.fetchall()) == 3
    assert connection.execute("SET dpsql.epsilon = 0.5")._repr_html_() is None


def test_nothing_in_a_page_acts_and_long_answers_are_cut() -> None:
    count = MAX_ROWS + 7
    table = pa.table({"a": ["<script>&" + "x" * 500] * count, "b": [3] * count})
    errors = ColumnErrors((None, 4.0))
    page = answer_page(Result(("<i>", "n"), (Varchar(), BIGINT), table, None, lambda: errors))
    assert "<script>" not in page
    assert "<i>" not in page
    assert "&lt;script&gt;&amp;" in page
    assert page.count("<tr>") == MAX_ROWS + 1
    assert "and 7 more rows" in page
    assert "x" * 300 not in page
    assert '<span class="noise">3</span> <small>± 4</small>' in page


def test_exports_have_columns_of_errors_on_request(
    run: Run, fixtures: Path, penguins_folder: Path, tmp_path: Path
) -> None:
    text = (fixtures / "penguins" / "schema.yaml").read_text()
    path = tmp_path / "schema.yaml"
    path.write_text(text.replace("source: data", f"source: {penguins_folder}"))
    sql = "SELECT species, count(*) AS n FROM penguins GROUP BY species"
    heads = {
        form: run("query", path, sql, "--errors", "--format", form).out.splitlines()[0]
        for form in ("csv", "markdown", "table")
    }
    assert heads == {
        "csv": "species,n,n ±",
        "markdown": "| species | n | n ± |",
        "table": heads["table"],
    }
    assert heads["table"].split() == ["species", "n", "n", "±"]
    rows = json.loads(run("query", path, sql, "--errors", "--format", "json").out)
    assert {"species", "n", "n ±"} == rows[0].keys()
    parquet = run("query", path, sql, "--errors", "--format", "parquet").raw
    held = pq.read_table(pa.BufferReader(parquet))
    assert held.column_names == ["species", "n", "n ±"]
    file = tmp_path / "answer.csv"
    script = f"\\errors on\n\\o {file}\n{sql};\n"
    assert run("console", path, stdin=script.encode()).code == 0
    assert file.read_text().splitlines()[0] == "species,n,n ±"
