"""SET and SHOW of what an analyst may tighten."""

from __future__ import annotations

import pytest
from narrowed import integer

import dpsql
from dpsql.dbapi.connection import Connection
from dpsql.report.cost import cost

SETTINGS = [
    ("groups", "2"),
    ("rows_per_group", "1"),
    ("rows", "3"),
    ("unit_sum", "1234567.5"),
    ("over_groups", "scale"),
    ("min_units", "20"),
    ("nonnegative", "on"),
    ("weighted_keys", "on"),
    ("reuse", "on"),
    ("max_error", "2.5"),
    ("max_cost", "0.25"),
]

COUNTS = "SELECT species, count(*) AS n FROM penguins WHERE year = 2007 GROUP BY species"


@pytest.mark.parametrize(("name", "value"), SETTINGS)
def test_a_setting_is_shown_as_it_was_set(connection: Connection, name: str, value: str) -> None:
    usual = connection.execute(f"SHOW dpsql.{name}").fetchone()
    connection.execute(f"SET dpsql.{name} = {value}")
    assert connection.execute(f"SHOW dpsql.{name}").fetchone() == (value,)
    connection.execute(f"SET dpsql.{name} = DEFAULT")
    assert connection.execute(f"SHOW dpsql.{name}").fetchone() == usual


@pytest.mark.parametrize("sql", ["SET epsilon = 0.2", "set EPSILON to 0.2", "SHOW epsilon"])
def test_a_setting_without_its_prefix_is_told_its_name(connection: Connection, sql: str) -> None:
    with pytest.raises(dpsql.ProgrammingError, match="no setting epsilon") as told:
        connection.execute(sql)
    assert told.value.hint == f"write {sql.split(maxsplit=1)[0]} dpsql.epsilon"
    corrected = sql.replace(sql.split()[1], told.value.fix)
    connection.execute(corrected)


@pytest.mark.parametrize("value", ["0", "-1", "1.5", "nan", "'many'", "99999999999999999999"])
@pytest.mark.parametrize("name", [name for name, value in SETTINGS if value.isdigit()])
def test_a_limit_is_a_whole_number(connection: Connection, name: str, value: str) -> None:
    with pytest.raises(dpsql.ProgrammingError, match="whole number"):
        connection.execute(f"SET dpsql.{name} = {value}")


@pytest.mark.parametrize("name", ["nonnegative", "reuse"])
def test_a_switch_is_on_or_off(connection: Connection, name: str) -> None:
    with pytest.raises(dpsql.ProgrammingError, match="on or off"):
        connection.execute(f"SET dpsql.{name} = perhaps")


def test_a_reused_answer_says_what_it_is_summed_from(connection: Connection) -> None:
    connection.execute("SET dpsql.reuse = on")
    fine = connection.execute("SELECT species, sex, count(*) FROM penguins GROUP BY 1, 2")
    assert fine.privacy is not None
    counts: dict[object, int] = {}
    for species, _, count in fine.fetchall():
        assert isinstance(count, int)
        counts[species] = counts.get(species, 0) + count
    coarse = connection.execute("SELECT species, count(*) FROM penguins GROUP BY 1")
    assert {species: integer(count) for species, count in coarse.fetchall()} == counts
    assert coarse.privacy is not None
    assert coarse.privacy.loss is None
    assert "summed from a stored answer" in cost(coarse.privacy, connection.budget)


def test_few_units_leave_their_group_out(connection: Connection) -> None:
    connection.execute("SET dpsql.min_units = 100000")
    assert connection.execute(COUNTS).fetchall() == []


def test_counts_are_not_shown_below_zero(connection: Connection) -> None:
    # 30 values of which about half were negative: none is with a probability of 2^-30.
    nobody = ", ".join(f"count(*) FILTER (WHERE year = {2100 + n})" for n in range(30))
    noisy = connection.execute(f"SELECT {nobody} FROM penguins").fetchone()
    assert noisy is not None
    assert min(map(integer, noisy)) < 0
    connection.execute("SET dpsql.nonnegative = on")
    shown = connection.execute(f"SELECT {nobody} FROM penguins").fetchone()
    assert shown is not None
    assert min(map(integer, shown)) == 0
