"""The process of `dpsql` and of `python -m dpsql.cli`; no command has data frames."""

from __future__ import annotations

import gc

from dpsql.cli.main import main
from dpsql.pandas_block import block_pandas


def start() -> None:
    """Run the command that the process was started for."""
    block_pandas()
    gc.set_threshold(
        100_000
    )  # imported objects stay alive: to look through them takes a tenth of the start
    main()


if __name__ == "__main__":
    start()
