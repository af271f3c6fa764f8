"""The process of `dpsql` and of `python -m dpsql.cli`.

pyarrow imports pandas, where it is installed, with the first array it makes, to recognise frames.
No command has any, and it takes as long as a small query: here pandas isn't there.
"""

from __future__ import annotations

import gc
import sys
from importlib.abc import MetaPathFinder

from dpsql.cli.main import main


class _WithoutPandas(MetaPathFinder):
    def find_spec(self, fullname: str, path: object, target: object = None) -> None:  # noqa: ARG002
        """None for what others may find."""
        if fullname == "pandas":
            raise ModuleNotFoundError("no command uses pandas", name=fullname)


def start() -> None:
    """Run the command that the process was started for."""
    sys.meta_path.insert(0, _WithoutPandas())
    gc.set_threshold(
        100_000
    )  # what is imported stays: looking through it takes a tenth of the start
    main()


if __name__ == "__main__":
    start()
