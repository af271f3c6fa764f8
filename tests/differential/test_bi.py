"""What BI tools send is answered or refused as recorded; no private text is ever seen."""

from __future__ import annotations

import logging
import shutil
import traceback
from pathlib import Path

import pytest
from data.database import attached
from differential.canary import CANARY, canary_rows
from differential.classes import classes
from differential.statement import FIXTURES, analytic
from neighbor_search.public_rows import create_tables
from neighbor_search.share import values_in_turn
from notes.compiler import schema_of
from privacy.seeded import SeededRandomness

from dpsql.errors import Error
from dpsql.session.answer.answer import Answer
from dpsql.session.session import Session


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("bi")
    shutil.copy(FIXTURES / "bi" / "schema.yaml", found)
    with attached(found / "bi.duckdb") as connection:
        schema = schema_of("bi")
        create_tables(connection, schema, canary_rows(schema))
    return found


def test_every_statement_has_a_class_with_its_defence() -> None:
    assert analytic().keys() == classes().keys()
    assert len(analytic()) == 60
    for found in classes().values():
        assert found.sqlstate or found.name in ("answered", "empty")
        assert found.defence


@pytest.mark.parametrize("number", values_in_turn(analytic(), 3))
def test_statement_gets_its_class_and_shows_no_private_text(
    number: int, folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    # A key of one unit alone appears with a probability of at most 1e-6; the seed is fixed anyway.
    caplog.set_level(logging.DEBUG)
    session = Session(folder / "schema.yaml", randomness=SeededRandomness(f"bi {number}"))
    sql = analytic()[number].sql
    shown: list[str] = []
    try:
        answer = session.query(sql)
        found = _class(answer)
        shown += [repr(answer), str(answer.table.to_pylist())]
    except Error as error:
        found = f"refused {error.sqlstate}"
        shown += [repr(error), *traceback.format_exception(error), error.hint, error.detail]
    session.close()
    assert found == classes()[number].name
    kept = [p.read_bytes() for p in (tmp_path / "state").rglob("*") if p.is_file()]
    for text in (*shown, caplog.text, *(data.decode("latin-1") for data in kept)):
        assert not CANARY.search(text)


def _class(answer: Answer) -> str:
    empty = answer.table.num_rows == 0 and answer.privacy.loss is None
    return "empty" if empty else "answered"
