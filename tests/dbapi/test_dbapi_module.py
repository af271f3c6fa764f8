from __future__ import annotations

import datetime as dt
import inspect
import subprocess
import sys
import time
from pathlib import Path

import pytest

import dpsql
from dpsql.report.result.type_objects import TypeObject
from dpsql.schema.sql_type import Boolean, Date, Decimal, Double, Integer, Timestamp, Uuid, Varchar

SCHEMA = Path(__file__).parent.parent.parent / "fixtures" / "penguins" / "schema.yaml"


def test_the_module_says_what_pep_249_asks_for() -> None:
    assert (dpsql.apilevel, dpsql.paramstyle, dpsql.threadsafety) == ("2.0", "qmark", 2)


@pytest.mark.parametrize("name", dpsql.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(dpsql, name) is not None
    assert name in dir(dpsql)


def test_other_names_are_not_there() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        dpsql.nothing  # noqa: B018


def test_importing_the_module_opens_no_engine() -> None:
    code = (
        "import sys, dpsql;"
        "print({'duckdb', 'pyarrow', 'sqlglot', 'numpy', 'jinja2'} & {*sys.modules})"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "set()\n"


def test_a_process_that_has_asked_ends_without_a_word(penguins_folder: Path) -> None:
    # DuckDB complains of all that is left of it then, as by a type that a module has computed.
    code = (
        "import dpsql, sys; from dpsql.schema.load.load import load_schema;"
        "from dpsql.session.session import Session; from dpsql.dbapi.connection import Connection;"
        "from pathlib import Path;"
        f"schema = load_schema(Path({str(SCHEMA)!r}), source=Path({str(penguins_folder)!r}));"
        "connection = Connection(Session(schema, epsilon=1));"
        "connection.execute('SELECT island, count(*) FROM penguins GROUP BY island').fetchall()"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "nanobind" not in found.stderr


@pytest.mark.parametrize(
    ("child", "parent"),
    [
        (dpsql.Error, Exception),
        (dpsql.InterfaceError, dpsql.Error),
        (dpsql.DatabaseError, dpsql.Error),
        (dpsql.DataError, dpsql.DatabaseError),
        (dpsql.OperationalError, dpsql.DatabaseError),
        (dpsql.IntegrityError, dpsql.DatabaseError),
        (dpsql.InternalError, dpsql.DatabaseError),
        (dpsql.ProgrammingError, dpsql.DatabaseError),
        (dpsql.NotSupportedError, dpsql.DatabaseError),
        (dpsql.Warning, Exception),
    ],
)
def test_errors_inherit_as_pep_249_says(child: type, parent: type) -> None:
    assert issubclass(child, parent)
    if child is not dpsql.Warning:
        assert getattr(dpsql.Connection, child.__name__) is child


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        (Integer(64), dpsql.NUMBER),
        (Integer(128), dpsql.NUMBER),
        (Integer(8, signed=False), dpsql.NUMBER),
        (Decimal(15, 2), dpsql.NUMBER),
        (Double(), dpsql.NUMBER),
        (Double(32), dpsql.NUMBER),
        (Boolean(), dpsql.NUMBER),
        (Varchar(), dpsql.STRING),
        (Uuid(), dpsql.STRING),
        (Date(), dpsql.DATETIME),
        (Timestamp(), dpsql.DATETIME),
    ],
)
def test_a_type_code_equals_one_type_object(kind: object, found: TypeObject) -> None:
    objects = (dpsql.STRING, dpsql.BINARY, dpsql.NUMBER, dpsql.DATETIME, dpsql.ROWID)
    assert [each for each in objects if each == str(kind)] == [found]


def test_type_objects_differ_and_can_be_keys() -> None:
    assert dpsql.STRING != dpsql.NUMBER
    assert dpsql.STRING != 7
    assert {dpsql.STRING: 1}[dpsql.STRING] == 1
    assert repr(dpsql.STRING) == "dpsql.STRING"


def test_constructors_make_pythons_own_values() -> None:
    noon = time.mktime((2024, 2, 29, 12, 30, 15, 0, 0, -1))
    assert dpsql.DateFromTicks(noon) == dpsql.Date(2024, 2, 29) == dt.date(2024, 2, 29)
    assert dpsql.TimeFromTicks(noon) == dpsql.Time(12, 30, 15)
    assert dpsql.TimestampFromTicks(noon) == dpsql.Timestamp(2024, 2, 29, 12, 30, 15)
    assert dpsql.Binary(b"x") == b"x"


def test_what_a_connection_has_is_documented() -> None:
    for kind in (dpsql.Connection, dpsql.Cursor):
        public = {name: each for name, each in vars(kind).items() if not name.startswith("_")}
        functions = [each for each in public.values() if inspect.isfunction(each)]
        assert functions
        assert all(each.__doc__ for each in functions)
