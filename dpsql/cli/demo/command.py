"""`dpsql demo`: the tour, or a dataset to go on with."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option(
    "--data",
    "dataset",
    type=click.Choice(["businesses", "diamonds"]),
    help="Instead, write this dataset and its schema.yaml into a new FOLDER.",
)
@click.option("--seed", default=1, show_default=True, help="What that dataset is drawn with.")
def demo(folder: Path | None, dataset: str | None, seed: int) -> None:
    """Show what dpsql does, on generated data.

    Takes a few seconds. Data, schema and ledger lie in a temporary folder.
    With --data it writes data of a course and a schema, ready to be queried,
    and shows nothing: 100,413 small businesses of Texas and Vermont, or 53,940
    diamonds.
    """
    if dataset is None:
        if folder is not None:
            raise click.UsageError("a FOLDER is for --data")
        from dpsql.cli.demo.tour import run  # noqa: PLC0415 - opens engines

        run()
        return
    if folder is None:
        raise click.UsageError(f"--data {dataset} needs a FOLDER")
    from dpsql.cli.demo.datasets import Dataset, write  # noqa: PLC0415 - slow to import
    from dpsql.cli.exit_codes import reporting_errors  # noqa: PLC0415

    with reporting_errors():
        write(Dataset(dataset), folder, seed)
    click.echo(f"wrote {folder / 'schema.yaml'}; now run: dpsql check {folder / 'schema.yaml'}")
