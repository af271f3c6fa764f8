"""Types of CSV columns, read off the first rows where the owner asks for that."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from cli.cli_run import Run

KINDS = """\
n,code,amount,day,moment,flag,mixed,nothing,small,zero
1,01234,1.5,2024-01-31,2024-01-31 12:00:00,true,1,,1e5,0
-2,00001,2,2023-02-28,2024-01-31T12:00:00,FALSE,a,,.5,-0
,,,,,,,,,
999999999999999999,1,-3.,0001-01-01,1999-12-31 23:59:59.5,true,,,-1E-3,
"""

TYPES = {
    "n": "bigint",
    "code": "varchar",
    "amount": "double",
    "day": "date",
    "moment": "timestamp",
    "flag": "boolean",
    "mixed": "varchar",
    "nothing": "varchar",
    "small": "double",
    "zero": "bigint",
}


def types_of(run: Run, folder: Path, table: str, *options: str) -> dict[str, str]:
    found = run("init", str(folder), "-o", "-", *options)
    assert found.code == 0, found.err
    columns = yaml.safe_load(found.out)["tables"][table]["columns"]
    return {name: column["type"] for name, column in columns.items()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "kinds.csv").write_text(KINDS, encoding="utf-8")
    return tmp_path


def test_a_type_is_that_of_all_values_that_are_there(run: Run, folder: Path) -> None:
    assert types_of(run, folder, "kinds", "--sample", "1000") == TYPES


def test_no_row_is_read_unless_it_is_asked_for(run: Run, folder: Path) -> None:
    assert set(types_of(run, folder, "kinds").values()) == {"varchar"}
    assert "No row was read." in run("init", str(folder), "-o", "-").out
    assert "No row was read." not in run("init", str(folder), "-o", "-", "--sample", "9").out


def test_what_others_write_for_no_value_hides_no_type(run: Run, folder: Path) -> None:
    (folder / "gaps.csv").write_text("n,t,none\n1,a,NA\nNA,NA,NA\n,NULL,\n2,b,NA\n", "utf-8")
    assert types_of(run, folder, "gaps", "--sample", "50") == {
        "n": "bigint",
        "t": "varchar",
        "none": "varchar",
    }


def test_rows_behind_the_sample_decide_nothing(run: Run, folder: Path) -> None:
    rows = ["n", *map(str, range(50)), "none at all"]
    (folder / "late.csv").write_text("\n".join(rows), encoding="utf-8")
    assert types_of(run, folder, "late", "--sample", "50") == {"n": "bigint"}
    assert types_of(run, folder, "late", "--sample", "51") == {"n": "varchar"}


@pytest.mark.parametrize(
    "text",
    [
        b"id,name\n1,M\xfcller\n2,x\n",
        b"\xef\xbb\xbfid,name\n1,a\n",
        b'id,name\r\n1,"a, b"\r\n',
        b'id,"na""me"\n1,a\n',
    ],
)
def test_any_encoding_and_quotes_are_read(run: Run, tmp_path: Path, text: bytes) -> None:
    (tmp_path / "t.csv").write_bytes(text)
    assert next(iter(types_of(run, tmp_path, "t", "--sample", "10").values())) == "bigint"


@pytest.mark.parametrize("text", [b"a,b\n1\n", b"a,b\n1,2,3\n", b'a,b\n1,"\n'])
def test_columns_of_a_file_that_cant_be_read_are_text(
    run: Run, tmp_path: Path, text: bytes
) -> None:
    (tmp_path / "t.csv").write_bytes(text)
    assert set(types_of(run, tmp_path, "t", "--sample", "10").values()) == {"varchar"}


@pytest.mark.parametrize("rows", ["0", "-1", "many", "1000001"])
def test_a_sample_is_a_number_of_rows(run: Run, folder: Path, rows: str) -> None:
    assert run("init", str(folder), "--sample", rows).code == 2
