"""`dpsql explain`: a query's price and proof, or its errors at many epsilons."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from dpsql.cli.options import analyst_name, epsilon_of_query, schema_file, text

if TYPE_CHECKING:
    from dpsql.cli.query import Written


@click.command()
@schema_file
@click.argument("sql", required=False)
@epsilon_of_query
@analyst_name
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "html", "svg"]),
    default="text",
    show_default=True,
    help="How it is written; json and html have the SQL, too, svg is for --sweep.",
)
@click.option(
    "--sweep",
    is_flag=False,
    flag_value="",
    metavar="[FROM..TO]",
    help="Instead, tabulate and plot errors against epsilon. Stands last.",
)
@click.option(
    "--batch",
    type=click.File(encoding="utf-8"),
    metavar="FILE",
    help="Instead of SQL, the statements of a file, as dpsql query --batch plans them.",
)
@click.option("--sql", "with_sql", is_flag=True, help="Add the SQL that the engine would run.")
def explain(
    schema: Path,
    sql: str | None,
    epsilon: float | None,
    analyst: str,
    form: Written,
    sweep: str | None,
    batch: TextIO | None,
    *,
    with_sql: bool,
) -> None:
    """Show what a query would cost, and why. Free.

    Prints the chain of operators with their distances, the sensitivity of each
    aggregate, the noise, the price, and what would make the noise smaller. No
    private row is read. --sweep tells 95 % errors at many epsilons, and works
    without a source where all types are declared.
    """
    from dpsql.cli import query as run  # noqa: PLC0415 - opens engines

    if batch is not None:
        if sql is not None or sweep is not None or form not in {"text", "html"}:
            raise click.UsageError("a batch stands alone, and is explained as text or html")
        statements = batch.read()
        run.explain_batch(
            schema, statements, form, with_sql=with_sql, epsilon=epsilon, analyst=analyst
        )
        return
    if sql is None:
        raise click.UsageError("give either SQL or --batch FILE")
    if sweep is not None:
        run.sweep(schema, text(sql), form, sweep or None, analyst=analyst)
        return
    if form == "svg":
        raise click.UsageError("svg is for --sweep")
    run.explain(schema, text(sql), form, with_sql=with_sql, epsilon=epsilon, analyst=analyst)
