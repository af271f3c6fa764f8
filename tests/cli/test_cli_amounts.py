"""NaN, infinite, negative, zero, huge and tiny amounts are refused wherever one can be said.

The ledger's own calls are tried in tests/ledger/test_ledger_amount.py.
"""

from __future__ import annotations

import decimal
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from cli.cli_run import Run

import dpsql
from dpsql.errors import BadParameter, SchemaFault
from dpsql.session.compile.loss_conversion import parse_epsilon
from dpsql.session.options import QueryOptions
from dpsql.session.session import Session

SQL = "SELECT count(*) FROM penguins"

NUMBERS = [
    "nan",
    "-nan",
    "inf",
    "-inf",
    "Infinity",
    "-1",
    "-0.1",
    "0",
    "-0.0",
    "1e-7",
    "1e-400",
    "65",
    "1e308",
    "1e400",
    "1e99999",
    "1e999999999",
    "1e-999999999",
    "9" * 5000,
]
FLOATS = [
    *(float(text) for text in NUMBERS if len(text) < 100),
    True,
    False,
    b"0.1",
    "1/0",
    "0x1",
    "",
    "ε",
    [0.1],
    {},
    1j,
    np.float64("nan"),
    decimal.Decimal("NaN"),
    decimal.Decimal("sNaN"),
    decimal.Decimal("Infinity"),
    Fraction(0),
    Fraction(10**6),
    Fraction(1, 10**30),
]


def untouched(schema: Path) -> None:
    assert not list(schema.parent.rglob("ledger.db"))


@pytest.mark.parametrize("bad", [*NUMBERS, *FLOATS], ids=lambda bad: repr(bad)[:20])
def test_a_connection_refuses_a_bad_epsilon(penguins: Path, bad: object) -> None:
    with pytest.raises(BadParameter):
        dpsql.connect(penguins, epsilon=bad)  # type: ignore[arg-type]
    untouched(penguins)


@pytest.mark.parametrize("bad", [*NUMBERS, *FLOATS], ids=lambda bad: repr(bad)[:20])
def test_a_query_refuses_a_bad_epsilon(penguins: Path, bad: object) -> None:
    session = Session(penguins)
    with pytest.raises(BadParameter):
        session.query(SQL, QueryOptions(parse_epsilon(bad)))
    with pytest.raises(BadParameter):
        session.explain(SQL, QueryOptions(parse_epsilon(bad)))
    session.close()
    untouched(penguins)


@pytest.mark.parametrize("bad", NUMBERS, ids=lambda bad: bad[:20])
@pytest.mark.parametrize("quoted", [False, True])
def test_set_refuses_a_bad_epsilon(penguins: Path, bad: str, *, quoted: bool) -> None:
    with dpsql.connect(penguins) as connection:
        before = connection.epsilon
        with pytest.raises(dpsql.Error):
            connection.execute(f"SET dpsql.epsilon = {chr(39) * quoted}{bad}{chr(39) * quoted}")
        assert connection.epsilon == before
    untouched(penguins)


@pytest.mark.parametrize("bad", NUMBERS, ids=lambda bad: bad[:20])
@pytest.mark.parametrize("command", ["query", "explain"])
def test_the_command_line_refuses_a_bad_epsilon(
    run: Run, penguins: Path, command: str, bad: str
) -> None:
    ended = run(command, penguins, SQL, f"--epsilon={bad}")
    assert ended.code in {1, 2}
    assert ended.out == ""
    assert "XX000" not in ended.err
    untouched(penguins)


YAML = [
    "1e999999999",
    ".nan",
    ".inf",
    "-.inf",
    "-1",
    "0",
    "1e-30",
    "1e30",
    "1e308",
    "1e400",
    "'1'",
    "true",
    "[1]",
]
PLACES = {
    "budget.epsilon": "budget: {epsilon: BAD, delta: 1e-6}",
    "budget.delta": "budget: {epsilon: 1, delta: BAD, accounting: zcdp}",
    "per_query.epsilon": "budget: {epsilon: 1}\nper_query: {epsilon: BAD}",
    "per_query.max_epsilon": "budget: {epsilon: 1}\nper_query: {epsilon: 0.1, max_epsilon: BAD}",
    "per_query.delta": "budget: {epsilon: 1, delta: 1e-6}\nper_query: {epsilon: 0.1, delta: BAD}",
    "analysts.epsilon": "budget: {epsilon: 1}\nanalysts: {al: {epsilon: BAD}}",
}


@pytest.mark.parametrize("bad", YAML)
@pytest.mark.parametrize("place", PLACES)
def test_a_schema_refuses_a_bad_amount(penguins: Path, place: str, bad: str) -> None:
    text = re.sub(r"(?m)^(budget|per_query|analysts):.*\n", "", penguins.read_text())
    penguins.write_text(text + PLACES[place].replace("BAD", bad) + "\n")
    with pytest.raises((SchemaFault, BadParameter)):
        Session(penguins)._context.ledger.open()
    untouched(penguins)
