"""OPTIONS (…) at the end of a statement: what SET does, for that statement alone."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpsql.dbapi.connection import Connection
from dpsql.dbapi.statements.options import OPTIONS, split_options
from dpsql.errors import BadParameter, Error, OverTarget, Refused, SyntaxFault

LONG = f"{1:012}{9:05000}"

COUNT = "SELECT species, count(*) AS n FROM penguins GROUP BY species"


def epsilon(connection: Connection, sql: str) -> float:
    privacy = connection.execute(sql).privacy
    assert privacy is not None
    return float(privacy.epsilon)


def settings(connection: Connection) -> list[object]:
    return [connection.execute(f"SHOW dpsql.{name}").fetchone() for name in OPTIONS]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("epsilon", "0.25"),
        ("groups", "1"),
        ("rows_per_group", "1"),
        ("rows", "1"),
        ("unit_sum", "2500"),
        ("over_groups", "scale"),
        ("min_units", "100000"),
        ("nonnegative", "on"),
        ("weighted_keys", "on"),
        ("reuse", "TRUE"),
        ("consistent", "on"),
        ("clamped", "off"),
        ("max_error", "40"),
        ("max_cost", "0.5"),
        ("epsilon", "DEFAULT"),
    ],
)
def test_an_option_is_what_set_is_and_ends_with_the_statement(
    connection: Connection, option: str, value: str
) -> None:
    before = settings(connection)
    asked = f"{COUNT} OPTIONS ({option} = {value})"
    explained = str(connection.explain(asked)), str(connection.explain(COUNT))
    assert settings(connection) == before
    connection.execute(f"SET dpsql.{option} = {value}")
    assert str(connection.explain(COUNT)) == explained[0]
    connection.execute(f"SET dpsql.{option} = DEFAULT")
    assert str(connection.explain(COUNT)) == explained[1]


def test_several_hold_together_and_for_one_statement(connection: Connection) -> None:
    asked = f"{COUNT} OPTIONS (epsilon = 0.25, min_units = 100000, max_cost = 0.3);"
    found = connection.execute(asked)
    assert found.fetchall() == []
    assert found.privacy is not None
    assert 0.2 < float(found.privacy.epsilon) <= 0.25
    assert 0.9 < epsilon(connection, COUNT) <= 1
    assert connection.execute("SHOW dpsql.epsilon").fetchone() == ("1",)


def test_a_stored_answer_is_known_by_its_options(connection: Connection) -> None:
    asked = f"{COUNT} OPTIONS (epsilon = 0.25)"
    first = connection.execute(asked).fetchall()
    assert epsilon(connection, COUNT) > 0.9
    again = connection.execute(asked)
    assert again.fetchall() == first
    assert again.privacy is not None
    assert again.privacy.stored
    # Set beforehand, it is the same statement.
    connection.execute("SET dpsql.epsilon = 0.25")
    assert connection.execute(COUNT).fetchall() == first


def test_they_are_told_with_the_statement_in_the_ledger(connection: Connection) -> None:
    asked = f"{COUNT} OPTIONS (epsilon = 0.25)"
    connection.execute(asked)
    (told,) = connection.execute("SHOW dpsql.queries").fetchall()
    assert told[-1] == asked


def test_own_statements_take_them(connection: Connection) -> None:
    kept = "CREATE RELEASE by_species AS " + COUNT + " OPTIONS (epsilon = 0.125)"
    asked, usual = (str(connection.explain(sql)) for sql in (kept, kept.partition(" OPTIONS")[0]))
    told = connection.execute(f"EXPLAIN PRIVACY {kept}").fetchall()
    assert "\n".join(str(line) for (line,) in told) == asked != usual
    assert epsilon(connection, kept) <= 0.125
    made = "CREATE SYNOPSIS s ON SELECT species, sex FROM penguins"
    with pytest.raises(OverTarget):
        connection.execute(f"{made} WITH (epsilon = 0.5, max_cost = 0.25)")
    assert epsilon(connection, f"{made} WITH (epsilon = 0.5, rounds = 2, max_cost = 0.5)") <= 0.5


def test_an_epsilon_of_its_own_is_spent_whatever_error_was_set(connection: Connection) -> None:
    connection.execute("SET dpsql.max_error = 1000")
    assert 0.2 < epsilon(connection, f"{COUNT} OPTIONS (epsilon = 0.25)") <= 0.25
    assert epsilon(connection, f"{COUNT} OPTIONS (epsilon = 0.25, max_error = 2000)") < 0.1


@pytest.mark.parametrize(
    ("options", "error", "at", "hint"),
    [
        ("()", SyntaxFault, None, "OPTIONS (epsilon = 0.1)"),
        ("(epsilon)", SyntaxFault, "epsilon", "OPTIONS (epsilon = 0.1)"),
        ("(epsilon = )", SyntaxFault, "epsilon =", "OPTIONS (epsilon = 0.1)"),
        ("(epsilon = 0.1, )", SyntaxFault, "epsilon = 0.1 ,", "OPTIONS (epsilon = 0.1)"),
        ("(epsilon = $1)", SyntaxFault, "epsilon = $1", "OPTIONS (epsilon = 0.1)"),
        ("(epsilon = ?)", SyntaxFault, "epsilon = ?", "OPTIONS (epsilon = 0.1)"),
        ("(epsilon = 1/2)", SyntaxFault, "epsilon = 1/", "OPTIONS (epsilon = 0.1)"),
        ("(epsilon 0.1)", SyntaxFault, "epsilon 0.1", "OPTIONS (epsilon = 0.1)"),
        ("(epsilom = 0.1)", BadParameter, "epsilom", "did you mean epsilon?"),
        ("(budget = 1)", BadParameter, "budget", "they are epsilon, groups,"),
        ("(epsilon = 1, EPSILON = 2)", BadParameter, "EPSILON", "write it once"),
        ("(epsilon = -1)", BadParameter, "-1", "ask for an epsilon from"),
        ("(epsilon = 1000)", BadParameter, "1000", "ask for an epsilon from"),
        ("(epsilon = 'much')", BadParameter, "'much'", "write epsilon = 0.1"),
        ("(epsilon = 1e-300)", BadParameter, "1e-300", "write epsilon = 0.1"),
        ("(max_error = -5)", BadParameter, "-5", "OPTIONS (max_error = 0.5)"),
        ("(max_cost = 0)", BadParameter, "0", "OPTIONS (max_cost = 0.5)"),
        ("(groups = 1.5)", BadParameter, "1.5", "OPTIONS (groups = 4)"),
        (f"(rows = {LONG})", BadParameter, LONG, "OPTIONS (rows = 4)"),
        ("(nonnegative = perhaps)", BadParameter, "perhaps", "OPTIONS (nonnegative = on)"),
    ],
)
def test_what_is_no_option_is_refused_at_its_place(
    connection: Connection, options: str, error: type[Error], at: str | None, hint: str
) -> None:
    sql = f"{COUNT} OPTIONS {options}"
    for asked in (sql, f"EXPLAIN PRIVACY {sql}", f"CREATE RELEASE r AS {sql}"):
        with pytest.raises(error) as caught:
            connection.execute(asked)
        place = caught.value.at
        if at is not None:
            assert place is not None
            assert asked[place.start : place.end].replace(" ", "") == at.replace(" ", "")
        assert hint in caught.value.hint
    assert settings(connection)[0] == ("1",)


def test_hints_name_what_helps(connection: Connection) -> None:
    with pytest.raises(OverTarget) as dear:
        connection.execute(f"{COUNT} OPTIONS (max_cost = 0.25)")
    assert dear.value.hint == "SET dpsql.epsilon = 0.25, or OPTIONS (max_cost = DEFAULT)"
    with pytest.raises(Refused) as unknown:
        connection.execute("SELECT avg(body_mass_g) FROM penguins OPTIONS (max_error = 5)")
    assert "OPTIONS (max_error = DEFAULT)" in unknown.value.hint
    connection.execute("SELECT avg(body_mass_g) FROM penguins OPTIONS (max_error = DEFAULT)")


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT sum(n) FROM ({COUNT} OPTIONS (epsilon = 0.1))",
        f"{COUNT} OPTIONS (epsilon = 0.1) OPTIONS (groups = 2)",
        f"{COUNT} OPTIONS (epsilon = 0.1) ORDER BY 1",
        f"{COUNT} OPTIONS (epsilon = (0.1))",
        f"{COUNT} OPTIONS (epsilon = 0.1",
    ],
)
def test_they_stand_at_the_end_of_the_whole_statement(connection: Connection, sql: str) -> None:
    with pytest.raises(SyntaxFault):
        connection.execute(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT options.sex FROM penguins AS options(epsilon, sex)",
        "SELECT count(*) FROM penguins options",
        "SELECT count(*) FROM penguins options(a, b)",
        "WITH options(epsilon) AS (SELECT 1) SELECT epsilon FROM options",
        "SELECT 'OPTIONS (epsilon = 1)', count(*) FROM penguins",
        'SELECT count(*) AS "OPTIONS (epsilon = 1)" FROM penguins',
        "SELECT count(*) FROM penguins -- OPTIONS (epsilon = 1)",
        "SELECT options FROM penguins WHERE options IN (1)",
    ],
)
def test_tables_and_columns_may_be_called_so(sql: str) -> None:
    assert split_options(sql) == (sql, ())


def test_only_the_query_reaches_the_session() -> None:
    sql, options = split_options("SELECT 1 /* a */ Options\n( groups=2,\n reuse = 'on' ) ; -- b")
    assert sql == "SELECT 1 /* a */ "
    assert [(o.setting.value, o.value) for o in options] == [("groups", "2"), ("reuse", "on")]


def test_a_clause_with_an_epsilon_of_its_own_is_refused(connection: Connection) -> None:
    with pytest.raises(Refused) as refused:
        connection.execute(
            "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.5, delta = 1e-6,"
            " privacy_unit_column = id) species, count(*) FROM penguins GROUP BY species"
        )
    assert "OPTIONS (epsilon = 0.5)" in refused.value.hint


def test_errors_are_swept_under_the_options(connection: Connection) -> None:
    wide = connection.sweep("SELECT count(*) FROM penguins")
    assert connection.sweep("SELECT count(*) FROM penguins OPTIONS (epsilon = 0.1)").json() == (
        wide.json()
    )


def test_what_would_be_taken_of_the_budget_depends_on_them(connection: Connection) -> None:
    one, other = (connection.share(f"{COUNT} OPTIONS (epsilon = {e})") for e in ("0.1", "0.5"))
    assert Fraction(0) < one < other


def test_a_batch_has_one_epsilon(connection: Connection) -> None:
    with pytest.raises(BadParameter, match="without OPTIONS"):
        connection.batch([f"{COUNT} OPTIONS (epsilon = 0.1)"])
