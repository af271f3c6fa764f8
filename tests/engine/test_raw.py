from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import pyarrow as pa
import pytest

from dpsql.engine.raw import Raw, Rows

ROWS = pa.table({"secret-name": ["secret"] * 31, "n": list(range(31))})
FEW = {"secret-name": (31, 31, 31), "n": (0, None, 2**70)}


@pytest.mark.parametrize("rows", [ROWS, FEW], ids=["table", "integers"])
@pytest.mark.parametrize("show", [repr, str, format, "{!r:>40}".format, "%s".__mod__])
def test_shown_it_tells_the_number_of_columns_only(
    show: Callable[[object], str], rows: Rows
) -> None:
    assert show(Raw(rows)).strip() == "Raw(2 columns)"


@pytest.mark.parametrize(
    "use",
    [iter, len, list, bool, hash, pickle.dumps, copy.copy, copy.deepcopy, vars],
    ids=lambda use: use.__name__,
)
def test_it_does_nothing_by_accident(use: Callable[[object], object]) -> None:
    with pytest.raises(TypeError) as refused:
        use(Raw(ROWS))
    assert "secret" not in str(refused.value)
    assert "31" not in str(refused.value)


@pytest.mark.parametrize("other", [Raw(ROWS), ROWS, None])
def test_it_is_not_compared(other: object) -> None:
    with pytest.raises(TypeError):
        _ = Raw(ROWS) == other
    with pytest.raises(TypeError):
        _ = Raw(ROWS) != other


def test_the_table_is_there_for_who_asks() -> None:
    assert Raw(ROWS).table is ROWS


def test_few_integers_are_there_as_they_came_and_as_a_table() -> None:
    raw = Raw(FEW)
    assert raw.rows is FEW
    assert raw.table.column("secret-name").to_pylist() == [31, 31, 31]
    assert raw.table.column("n").to_pylist() == [0, None, 2**70]
