"""The commands of `dpsql audit`, and their options."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from dpsql.cli.audit.output_format import OutputFormat

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

    For owners and reviewers. No private row is read and no ledger is charged:
    databases are made of the domains that the schema declares.
    """


@audit.command()
@_schema
@click.argument("queries", nargs=-1, required=True, metavar="QUERY...")
@_neighbors
@click.option(
    "--apart", "distance", default=1, show_default=True, help="How many units neighbours differ by."
)
@click.option("--units", default=10, show_default=True, help="How many different units are tried.")
@click.option("--copies", default=1, show_default=True, help="How many there are of each.")
@click.option(
    "--least", "min_units", default=1, show_default=True, help="Units in the smallest database."
)
@click.option("--most", "max_units", default=3, show_default=True, help="Units in the largest one.")
@click.option(
    "--exactly", "around", type=int, metavar="N", help="Instead, one of two neighbours has N units."
)
@click.option(
    "--universe",
    metavar="COLUMN=V,V,…",
    help="Try these values as units, each as often as it is listed.",
)
@click.option("--declared", is_flag=True, help="Try no values outside the declared domains.")
@click.option("--seed", default=1, show_default=True, help="What the units are drawn with.")
@click.option(
    "--against",
    type=click.Choice(["distance", "size"]),
    help="Tabulate and plot changes against distances of 1 to --apart, or sizes of --least to"
    " --most; of both relations, unless --neighbors names one.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "html", "svg"]),
    default="text",
    show_default=True,
    help="How it is written; html and svg are for --against.",
)
def sensitivity(
    schema: Path,
    queries: tuple[str, ...],
    neighbors: str | None,
    *,
    universe: str | None,
    declared: bool,
    **rest: Any,
) -> None:
    """Enumerate small databases, and compare neighbours with what was derived.

    Prints what one unit changed at most in each statistic before noise, what
    was derived for it, and the two databases where it was seen. A bound that
    is passed is an error: please report it.
    """
    from dpsql.audit.databases.search_space import Size  # noqa: PLC0415 - opens engines
    from dpsql.cli.audit import sensitivity_curves, sensitivity_text  # noqa: PLC0415

    against, form = rest.pop("against"), rest.pop("form")
    size = Size(**rest, strict=declared, universe=sensitivity_text.universe(universe))
    if against is not None:
        sensitivity_curves.curves(schema, queries, neighbors, against, size, form)
        return
    if form in ("html", "svg"):
        raise click.UsageError(f"{form} is for --against")
    sensitivity_text.sensitivity(schema, queries, neighbors, size, form)


@audit.command()
@_schema
@click.argument("query")
@click.option("--epsilon", "budget", type=float, metavar="E", help="What it would spend.")
@click.option("--draws", default=10_000, show_default=True, help="Answers of each database.")
@click.option("--alpha", default=0.05, show_default=True, help="How often the bound may be wrong.")
@_json
def epsilon(
    schema: Path, query: str, budget: float | None, draws: int, alpha: float, form: OutputFormat
) -> None:
    """Bound the loss of a query from below, by telling two databases apart.

    Draws thousands of answers of two neighbouring databases, with the noise
    that analysts get. A bound above what is charged is an error: please report
    it. One below proves nothing.
    """
    from dpsql.cli.audit import epsilon_text as run  # noqa: PLC0415 - opens engines

    run.epsilon(schema, query, budget, draws, alpha, form)


@audit.command()
@click.option("--epsilon", default=1.0, show_default=True, help="What one attack may spend.")
@click.option("--trials", default=100, show_default=True, help="Guesses of each attack.")
@click.option("--people", default=64, show_default=True, help="Whose secrets are reconstructed.")
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the report as one HTML page.",
)
def attack(epsilon: float, trials: int, people: int, html: Path | None) -> None:
    """Attack plain DuckDB and dpsql, and compare.

    Differencing, averaging, membership, group presence, linkage with a public
    register, where k-anonymous tables are attacked too, and reconstruction by
    linear programming, on made-up people (in dpsql's clone: pip install
    '.[audit]').
    """
    from dpsql.cli.audit import attack_text as run  # noqa: PLC0415 - opens engines

    run.run_attacks(epsilon, trials, people, html)


@audit.command("sampled-sensitivity")
@click.argument(
    "schema", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.argument("query", required=False)
@click.option("--gamma", default=0.05, show_default=True, help="What part of pairs may be missed.")
@click.option("--pairs", type=int, metavar="M", help="Instead, how many pairs are drawn.")
@click.option("--seed", default=1, show_default=True, help="What the pairs are drawn with.")
@_neighbors
@click.option("--units", default=10, show_default=True, help="Units of a database.")
@click.option(
    "--like", "table", metavar="TABLE", help="Draw rows of this public table, not the domains."
)
@click.option(
    "--one",
    nargs=2,
    default=(178.0, 7.0),
    show_default=True,
    metavar="MEAN SD",
    help="Without a query: the first half of the people.",
)
@click.option(
    "--other",
    nargs=2,
    default=(162.0, 6.5),
    show_default=True,
    metavar="MEAN SD",
    help="The other half.",
)
@_json
def sampled_sensitivity(
    schema: Path | None, query: str | None, *, form: OutputFormat, **law: Any
) -> None:
    """Sample changes of made-up values: a diagnostic, not privacy.

    NOT DIFFERENTIALLY PRIVATE: random DP at best, never used for noise.
    Draws pairs of neighbouring databases by the domains that the schema
    declares, or of rows of a public table, and tells what the query changes by,
    as plain SQL. No private row is read. Without a query, pairs are of two
    normal laws, heights in cm unless others are given, and it tells how few of
    them a typical change covers.
    """
    from dpsql.cli.audit import sampling_text as run  # noqa: PLC0415 - slow to import

    size = run.plan_of(law.pop("gamma"), law.pop("pairs"))
    seed, one, other = law.pop("seed"), law.pop("one"), law.pop("other")
    if schema is None:
        run.sampled(size, seed, one, other, form)
    elif query is None:
        raise click.UsageError("a schema needs a query to sample")
    else:
        run.sampled_query(schema, query, run.Law(**law), size, seed, form)
