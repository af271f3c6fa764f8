"""The demo: schema, an attack, its failure, a proof, a refusal, a repetition, the budget."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import fill, indent
from typing import Final

import click
import duckdb

from dpsql.cli.check.command import report
from dpsql.cli.demo.data import generate
from dpsql.dbapi.connection import Connection
from dpsql.engine.opening import open_engine
from dpsql.errors import Error, InternalError
from dpsql.report.budget import budget_table
from dpsql.report.cost import cost
from dpsql.report.result.python_value import Row
from dpsql.report.terminal.error_message import describe
from dpsql.report.terminal.table import plain
from dpsql.schema.load.load import load_schema
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.schema.model import Schema
from dpsql.schema.source_location import Source
from dpsql.schema.verify import verify_keys
from dpsql.session.answer.answer import Privacy
from dpsql.session.session import Session
from dpsql.structs import replace

_EVERYBODY: Final = "SELECT sum(salary) FROM staff"
_ALL_BUT_ADA: Final = "SELECT sum(salary) FROM staff WHERE born >= 1950"
_SICK_LEAVE: Final = """\
SELECT reason, sum(days) AS days
FROM sick_leave JOIN staff ON sick_leave.person_id = staff.person_id
WHERE born < 1980 GROUP BY reason ORDER BY reason"""
_DEPARTMENTS: Final = """\
SELECT department, count(*) AS people, avg(salary) AS mean_salary
FROM staff GROUP BY department ORDER BY department"""
_REFUSED: Final = "SELECT person_id, sum(salary) FROM staff GROUP BY person_id"
_ALLOWED: Final = "SELECT count(*) FROM staff"


def run() -> None:
    """Run the demo in a temporary folder, with a ledger of its own."""
    with TemporaryDirectory(prefix="dpsql-demo-") as name, _quiet():
        schema = _prepare(Path(name))
        with _exact(schema) as exact, closing(Connection(Session(schema))) as private:
            salary = _attack(exact)
            _failing_attack(private, salary)
            _usefulness(private, exact)
            _proof(private)
            _refusal(private)
            _repetition(private)
            _balance(private)


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the ledger's log: the demo's ledger is removed with its folder."""
    log = logging.getLogger("dpsql.ledger")
    log.disabled = True
    try:
        yield
    finally:
        log.disabled = False


def _prepare(folder: Path) -> Schema:
    _title("The data and its schema")
    _say(
        "A company's staff: 20,000 people in three generated tables. The owner declares whose rows"
        " they are, how large values can be, and what may be spent on them. schema.yaml:"
    )
    generate(folder / "data")
    text = files("dpsql.cli.demo").joinpath("schema.yaml").read_text(encoding="utf-8")
    path = folder / "schema.yaml"
    path.write_text(text, encoding="utf-8")
    _show(text)
    # Each run has a new ledger, so that its anchor must not lie in the user's own folder.
    schema = replace(load_schema(path), anchor=folder / "ledger.anchor")
    _say("`dpsql check schema.yaml` looks at the source, too, and verifies the keys:")
    with open_engine(engine_source(schema)) as engine:
        _show(report(schema, verify_keys(schema, engine)))
    return schema


def _exact(schema: Schema) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(":memory:")
    assert isinstance(schema.source, Source)
    for table, file in schema.source.files.items():
        connection.read_parquet(str(file)).create_view(table)
    return connection


def _attack(exact: duckdb.DuckDBPyConnection) -> int:
    _title("An attack on plain DuckDB")
    _say(
        "Ada is the only one born before 1950. Nobody may list salaries, but everybody may ask for"
        " totals. Two totals are enough:"
    )
    totals = []
    for sql in (_EVERYBODY, _ALL_BUT_ADA):
        ((total,),) = exact.execute(sql).fetchall()
        totals.append(int(total))
        _show(f"duckdb> {sql}\n{total}")
    salary = totals[0] - totals[1]
    _say(f"The difference is Ada's salary, to the last digit: {salary}.")
    return salary


def _failing_attack(private: Connection, salary: int) -> None:
    _title("The same attack through dpsql")
    totals, half_widths = [], []
    for sql in (_EVERYBODY, _ALL_BUT_ADA):
        ((total,),), privacy = _ask(private, sql)
        totals.append(int(str(total)))
        half_widths.append(privacy.columns[0].half_width or 0.0)
    difference, width = totals[0] - totals[1], math.hypot(*half_widths)
    _say(
        f"The difference is {difference}, and can be off by {width:,.0f} (95 %): the noise hides"
        f" any salary up to the declared 150000, be it Ada's {salary}. Asking again doesn't average"
        " it out, as we will see."
    )


def _usefulness(private: Connection, exact: duckdb.DuckDBPyConnection) -> None:
    _title("What is true of many comes through")
    _ask(private, _DEPARTMENTS)
    _say("Without noise, which here only the owner could know:")
    rows = exact.execute(_DEPARTMENTS).fetchall()
    _show("\n".join(f"{name:<12}{people:>7}{mean:>14.2f}" for name, people, mean in rows))


def _proof(private: Connection) -> None:
    _title("What is proved, before anything is read or paid")
    _say("Days of sick leave by reason, over a join. EXPLAIN PRIVACY is free:")
    _show(f"dpsql> EXPLAIN PRIVACY\n{_SICK_LEAVE}\n\n{private.explain(_SICK_LEAVE)}")
    _ask(private, _SICK_LEAVE)


def _refusal(private: Connection) -> None:
    _title("A refusal")
    _say("What would show single people is refused. That costs nothing, and says what to do:")
    try:
        private.execute(_REFUSED)
    except Error as error:
        _show(f"dpsql> {_REFUSED}\n{describe(error, _REFUSED)}")
    _say("As the hint says:")
    _ask(private, _ALLOWED)


def _repetition(private: Connection) -> None:
    _title("The same query again")
    _say("Answers are kept. Whoever asks the same again gets the same again, and pays nothing:")
    _ask(private, _EVERYBODY)


def _balance(private: Connection) -> None:
    _title("The budget")
    result = budget_table(private.budget)
    rows = [tuple(row.values()) for row in result.table.to_pylist()]
    _show(f"dpsql> SHOW dpsql.budget\n{plain(result.description, rows)}")
    _say(
        f"It holds {private.budget.queries_left} more queries of this kind. When it is spent, only"
        " what was asked before is answered: that is the promise. The temporary folder is removed"
        " now. To go on with data of your own, write a schema as above and run"
        " `dpsql query schema.yaml 'SELECT …'`."
    )


def _ask(private: Connection, sql: str) -> tuple[list[Row], Privacy]:
    """Print a query, its answer and its cost."""
    cursor = private.execute(sql)
    rows, privacy = cursor.fetchall(), cursor.privacy
    if cursor.description is None or privacy is None:
        raise InternalError("a query of the demo has no answer")
    table = plain(cursor.description, rows)
    _show(f"dpsql> {sql}\n{table}\n{cost(privacy, private.budget)}")
    return rows, privacy


def _title(text: str) -> None:
    click.echo(click.style(f"\n{text}\n", bold=True) + "=" * len(text) + "\n")


def _say(text: str) -> None:
    click.echo(fill(text, 80) + "\n")


def _show(text: str) -> None:
    click.echo(indent(text.rstrip(), "    ") + "\n")
