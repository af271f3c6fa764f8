from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

import pytest

pytest.importorskip("harlequin")

from harlequin.exception import HarlequinConnectionError, HarlequinQueryError

from dpsql.console.harlequin import DpsqlAdapter, DpsqlConnection


@pytest.fixture
def connection(company: Path) -> Iterator[DpsqlConnection]:
    connection = DpsqlAdapter((str(company),), analyst="alice", epsilon=None, more=1).connect()
    yield connection
    connection.close()


def test_harlequin_finds_the_adapter() -> None:
    (found,) = entry_points(group="harlequin.adapter", name="dpsql")
    assert found.load() is DpsqlAdapter


def test_a_query_is_answered_within_a_limit(connection: DpsqlConnection) -> None:
    cursor = connection.execute("SELECT department, count(*) AS n FROM staff GROUP BY 1")
    assert cursor is not None
    assert cursor.columns() == [("department", "s"), ("n", "##")]
    found = cursor.set_limit(4).fetchall()
    assert found is not None
    assert found.num_rows == 4


def test_own_statements_and_empty_answers_work(connection: DpsqlConnection) -> None:
    assert connection.execute("SET dpsql.epsilon = 0.25") is None
    cursor = connection.execute("SELECT * FROM staff LIMIT 0")
    assert cursor is not None
    assert cursor.fetchall() is None


def test_a_refusal_has_its_place_and_its_hint(connection: DpsqlConnection) -> None:
    with pytest.raises(HarlequinQueryError) as caught:
        connection.execute("SELECT count(*) FROM staf")
    assert "^^^^" in caught.value.msg
    assert "did you mean staff?" in caught.value.msg
    assert caught.value.title == "42P01"


def test_the_catalogue_is_the_schemas(connection: DpsqlConnection) -> None:
    catalog = connection.get_catalog()
    assert [item.label for item in catalog.items] == ["staff", "sick_leave", "departments"]
    staff = catalog.items[0]
    assert staff.type_name == "rows of person"
    assert [(c.label, c.type_label) for c in staff.children][1:] == [
        ("born", "#"),
        ("department", "s"),
        ("salary", "#"),
    ]
    assert "date_trunc(" in [found.label for found in connection.get_completions()]


def test_the_budget_is_said_at_the_start(connection: DpsqlConnection) -> None:
    assert connection.init_message.startswith("epsilon = 3 is left")


@pytest.mark.parametrize("names", [(), ("/nowhere/schema.yaml",)])
def test_what_is_no_schema_is_no_connection(names: tuple[str, ...]) -> None:
    with pytest.raises(HarlequinConnectionError, match="schema"):
        DpsqlAdapter(names).connect()
