"""`dpsql calibrate`: ladders of what units contribute, all for one price that is told before."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from dpsql.cli.options import analyst_name, schema_file

if TYPE_CHECKING:
    from dpsql.dbapi.cursor import Cursor
    from dpsql.schema.model import Schema, Table

DEFAULT_EPSILON: Final = "0.5"

_OF_ROWS: Final = 4
"""Ladders of rows have so many times the loss of a measure's: all answers rest on them."""


@click.command()
@schema_file
@click.argument("table", required=False)
@click.option("--measure", metavar="SQL", help="What is summed, as amount * price.")
@click.option("--by", "keys", metavar="SQL", help="What is grouped by, as city, kind.")
@click.option("--along", metavar="TABLES", help="Tables that rows lead to, as orders, customers.")
@click.option(
    "--epsilon", default=DEFAULT_EPSILON, show_default=True, metavar="E", help="The price of all."
)
@analyst_name
@click.option("--yes", is_flag=True, help="Don't ask before it is charged.")
def calibrate(
    schema: Path,
    table: str | None,
    measure: str | None,
    keys: str | None,
    along: str | None,
    epsilon: str,
    analyst: str,
    *,
    yes: bool,
) -> None:
    """Learn what units contribute, so that nobody has to guess limits.

    Draws ladders of one TABLE, or of all tables that say `limits: calibrated`:
    of the rows of a unit, and of the sums of each numeric column that has no
    bounds. They are noisy, charged once, and kept; by them each query's limits
    are chosen, free. The price is told before anything is charged.
    """
    from dpsql.cli.exit_codes import reporting_errors  # noqa: PLC0415 - opens engines
    from dpsql.schema.load.load import load_schema  # noqa: PLC0415

    clauses = [
        f"{name} {text}"
        for name, text in (("MEASURE", measure), ("BY", keys), ("ALONG", along))
        if text
    ]
    if clauses and table is None:
        raise click.UsageError("name the TABLE that these are of")
    with reporting_errors():
        loaded = load_schema(schema)
        parts = (
            [" ".join([f"CALIBRATE {table}", *clauses])] if table else list(statements(loaded, {}))
        )
        if not parts:
            raise click.UsageError("no table says `limits: calibrated`: name a TABLE")
        draw(schema, loaded, parts, epsilon, analyst, yes=yes)


def draw(
    path: Path, schema: Schema, parts: Sequence[str], epsilon: str, analyst: str, *, yes: bool
) -> None:
    """Tell the price of the statements, ask unless `yes`, and draw their ladders."""
    from dpsql.cli.exit_codes import echo_err  # noqa: PLC0415 - opens engines
    from dpsql.cli.query import watched  # noqa: PLC0415

    each = prices(schema, epsilon, parts)
    priced = [f"{part} FOR {price}" for part, price in zip(parts, each, strict=True)]
    for statement in priced:
        click.echo(statement)
    echo_err(f"price: epsilon = {epsilon} in all, of {float(schema.budget.epsilon):g}")
    if not yes:
        if not sys.stdin.isatty():
            raise click.UsageError("nobody can be asked here: say --yes to pay that price")
        click.confirm("go on?", abort=True, err=True)
    connection, drawn = watched(
        path, None, analyst, lambda opened: [opened.execute(statement) for statement in priced]
    )
    with closing(connection):
        for statement, ladders in zip(parts, drawn, strict=True):
            click.echo(f"{statement}: {summary(ladders)}")


def statements(schema: Schema, keys: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The ladders of all tables whose limits are calibrated, as statements without a price.

    Of the rows of a unit in all, and in the groups of each of a table's `keys`; and of the sums of
    its numbers.
    """
    from dpsql.bind.scope import quoted_name  # noqa: PLC0415 - opens a parser

    for table in schema.tables.values():
        if table.limits.calibrated and table.visible:
            name = quoted_name(table.name)
            yield f"CALIBRATE {name}"
            yield from (f"CALIBRATE {name} BY {key}" for key in keys.get(table.name, ()))
            yield from (
                f"CALIBRATE {name} MEASURE {quoted_name(column)}" for column in _measures(table)
            )


def prices(schema: Schema, epsilon: str, parts: Sequence[str]) -> list[str]:
    """The ε of each statement, with six digits at most: together they cost no more than `epsilon`.

    What is shared is what the ledger adds up: under zcdp sixteen parts have a quarter of ε each.
    """
    from dpsql.session.compile.loss_conversion import (  # noqa: PLC0415
        epsilon_of,
        parse_epsilon,
        to_ledger_currency,
    )

    amount = to_ledger_currency(schema, parse_epsilon(epsilon))
    weights = [1 if " MEASURE " in statement else _OF_ROWS for statement in parts]
    epsilons = []
    for weight in weights:
        share = amount * weight / sum(weights)
        millionths = int(epsilon_of(schema, share) * 10**6)
        while millionths and to_ledger_currency(schema, Fraction(millionths, 10**6)) > share:
            millionths -= 1
        epsilons.append(f"{millionths // 10**6}.{millionths % 10**6:06}".rstrip("0"))
    return epsilons


def summary(ladders: Cursor) -> str:
    """What the ladders say in words: what half of all units, or of all their groups, have."""
    rows = [row for row in ladders.fetch_arrow_table().to_pylist() if row["up_to"] is not None]
    texts = []
    for part in dict.fromkeys(row["part"] for row in rows):
        rungs = [(row["up_to"], max(0, row["count"])) for row in rows if row["part"] == part]
        texts.append(f"{part}: half up to {_quantile(rungs, 0.5):,.6g}")
    return "; ".join(texts)


def _measures(table: Table) -> Iterator[str]:
    """The numeric columns that have no bounds, and are neither keys nor lead to other tables."""
    from dpsql.schema.model import EntityUnit  # noqa: PLC0415
    from dpsql.schema.sql_type import Decimal, Double, Integer  # noqa: PLC0415

    own = table.ownership
    identities = set(table.key or ())
    if isinstance(own, EntityUnit):
        identities |= set(own.first_hop_columns)
    for name, column in table.columns.items():
        is_open = column.bounds is None and column.values is None and column.references is None
        is_number = isinstance(column.type, Integer | Decimal | Double)
        if is_open and is_number and name not in identities:
            yield name


def _quantile(rungs: list[tuple[float, int]], part: float) -> float:
    total, seen = sum(count for _, count in rungs), 0
    for end, count in rungs:
        seen += count
        if seen >= part * total:
            return end
    return 0.0
