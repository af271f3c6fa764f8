from __future__ import annotations

from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent, Completion
from prompt_toolkit.document import Document

from dpsql.console.completion import SchemaCompleter
from dpsql.dbapi.statements.assignment import Setting
from dpsql.schema.load.load import load_schema
from dpsql.session.dataset import load_dataset


def complete(company: Path, text: str) -> list[Completion]:
    """What is offered where | stands."""
    before, _, after = text.partition("|")
    completer = SchemaCompleter(
        lambda: load_schema(company), {"\\dt": "tables", "\\d": "one table"}
    )
    document = Document(before + after, len(before))
    return list(completer.get_completions(document, CompleteEvent()))


def texts(company: Path, text: str) -> list[str]:
    return [found.text for found in complete(company, text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("SELECT dep|", ["department"]),
        ("SELECT DEP|", ["department"]),
        ("sel|", ["select"]),
        ("SEL|", ["SELECT"]),
        ("SELECT * FROM |", ["staff", "sick_leave", "departments"]),
        ("SELECT * FROM staff, si|", ["sick_leave"]),
        ("SELECT * FROM staff JOIN dep|", ["departments"]),
        ("SELECT s.sa| FROM staff AS s", ["salary"]),
        ("SELECT staff.b| FROM staff", ["born"]),
        ("SELECT nothing.b| FROM staff", []),
        ("SELECT da| FROM sick_leave", ["days", "date_add(", "date_diff("]),
        ("SELECT stddev_s| FROM staff", ["stddev_samp("]),
        ("SELECT medi| FROM staff", ["median("]),
        ("SELECT geom| FROM staff", ["geomean(", "geometric_mean("]),
        ("\\d|", ["\\dt"]),
        ("\\d st|", ["staff"]),
        ("SHOW |", [f"dpsql.{setting.value}" for setting in Setting]),
        ("SHOW dpsql.e|", ["dpsql.epsilon"]),
        ("SELECT count(*) FROM staff OPT|", ["OPTIONS"]),
        ("SELECT count(*) FROM staff OPTIONS (|", ["epsilon", "groups", "rows_per_group"]),
        ("SELECT count(*) FROM staff OPTIONS (groups = 2, max_|", ["max_error", "max_cost"]),
        ("SELECT dp_i|", ["dp_interval_low(", "dp_interval_high("]),
        ("SELECT count(*) FROM sick_leave WHERE reason = |", ["'accident'"]),
        ("SELECT count(*) FROM sick_leave WHERE reason = s|", ["'stress'"]),
        ("SELECT count(*) FROM sick_leave WHERE reason = 's|", ["stress'"]),
        ("SELECT count(*) FROM sick_leave s WHERE s.reason IN ('flu', 'o|", ["other'"]),
        ("SELECT count(*) FROM sick_leave WHERE reason <> 'x|", []),
        ("SELECT count(*) FROM staff WHERE born = '|", []),
        ("SELECT |", []),
    ],
)
def test_what_fits_is_offered(company: Path, text: str, found: list[str]) -> None:
    offered = texts(company, text)
    assert offered[: len(found)] == found
    assert bool(offered) == bool(found)


def test_columns_of_the_tables_that_are_read_come_first(company: Path) -> None:
    assert "reason" in texts(company, "SELECT r| FROM sick_leave")
    assert "reason" not in texts(company, "SELECT r| FROM staff")


def test_a_column_says_its_type_and_domain(company: Path) -> None:
    (salary,) = complete(company, "SELECT sala|")
    assert salary.display_meta_text == "integer in [0, 150000]"
    (reason,) = complete(company, "SELECT reas|")
    assert reason.display_meta_text == "varchar, one of 4 values"
    assert (salary.start_position, salary.text) == (-4, "salary")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("SELECT * FROM pl|", ["plant.shifts", "plant.sites"]),
        ("SELECT * FROM plant.s|", ["shifts", "sites"]),
        ("SELECT * FROM public.|", ["breaks", "sites", "hours"]),
        ("SELECT p.a| FROM staff.people p", ["age"]),
        ("SELECT staff.people.a| FROM staff.people", ["age"]),
        ("SELECT people.a| FROM staff.people", ["age"]),
    ],
)
def test_tables_of_schemas_are_offered_with_theirs(
    fixtures: Path, text: str, found: list[str]
) -> None:
    before, _, after = text.partition("|")
    schema = load_dataset(fixtures / "works" / "schema.yaml")
    document = Document(before + after, len(before))
    offered = SchemaCompleter(lambda: schema, {}).get_completions(document, CompleteEvent())
    assert [word.text for word in offered] == found
