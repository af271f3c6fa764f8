"""What sqlglot warns of a statement, whose words it quotes, reaches no log."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from session.clinic import made

from dpsql.errors import Refused
from dpsql.pgwire.sql.translate import translated
from dpsql.schema.load.load import load_schema
from dpsql.session.session import Session

UNWRITABLE = "SELECT approx_top_k(age, 3) FROM patients"
"""sqlglot has no DuckDB for it, and says so when the refusal shows the call."""


def test_a_refused_call_is_told_by_its_error_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(Session(made(tmp_path))) as session, pytest.raises(Refused, match="approx_top_k"):
        session.compile(UNWRITABLE)
    assert not caplog.records


def test_a_call_that_is_translated_logs_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    translated(UNWRITABLE, load_schema(made(tmp_path)))
    assert not caplog.records
