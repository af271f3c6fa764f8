"""The commands of `dpsql audit`, and their options."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from dpsql.cli.audit.sensitivity import Form

_schema = click.argument("schema", type=click.Path(exists=True, dir_okay=False, path_type=Path))
_json = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="For people, or for programs.",
)
_neighbors = click.option(
    "--neighbors",
    type=click.Choice(["add_remove", "change_one"]),
    help="Which databases are neighbours.  [default: the schema's]",
)


@click.group()
def audit() -> None:
    """Try to break the promise, on synthetic databases.

    For owners and reviewers. No source is opened and no ledger is charged:
    databases are made of the domains that the schema declares.
    """


@audit.command()
@_schema
@click.argument("queries", nargs=-1, required=True, metavar="QUERY...")
@_neighbors
@click.option("--apart", default=1, show_default=True, help="How many units neighbours differ by.")
@click.option("--units", default=10, show_default=True, help="How many different units are tried.")
@click.option("--copies", default=1, show_default=True, help="How many there are of each.")
@click.option("--least", default=1, show_default=True, help="Units in the smallest database.")
@click.option("--most", default=3, show_default=True, help="Units in the largest one.")
@click.option("--declared", is_flag=True, help="Try no values outside the declared domains.")
@click.option("--seed", default=1, show_default=True, help="What the units are drawn with.")
@_json
def sensitivity(
    schema: Path,
    queries: tuple[str, ...],
    neighbors: str | None,
    form: Form,
    *,
    declared: bool,
    **size: int,
) -> None:
    """Enumerate small databases, and compare neighbours with what was derived.

    Prints what one unit changed at most in each statistic before noise, what
    was derived for it, and the two databases where it was seen. A bound that
    is passed is an error: please report it.
    """
    from dpsql.audit.universe import Size  # noqa: PLC0415 - opens engines
    from dpsql.cli.audit import sensitivity as run  # noqa: PLC0415

    run.sensitivity(schema, queries, neighbors, Size(**size, strict=declared), form)
