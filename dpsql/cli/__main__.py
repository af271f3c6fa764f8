"""The process of `dpsql` and of `python -m dpsql.cli`.

With its first array, pyarrow imports pandas where it is installed, to recognise data frames. No
command has data frames, and the import takes as long as a small query: so it is blocked here.
"""

from __future__ import annotations

import gc
import sys
from importlib.abc import MetaPathFinder

from dpsql.cli.main import main


class _WithoutPandas(MetaPathFinder):
    def find_spec(self, fullname: str, path: object, target: object = None) -> None:  # noqa: ARG002
        """Raise for pandas, and leave all other modules to the other finders."""
        if fullname == "pandas":
            raise ModuleNotFoundError("no command uses pandas", name=fullname)


def start() -> None:
    """Run the command that the process was started for."""
    sys.meta_path.insert(0, _WithoutPandas())
    gc.set_threshold(
        100_000
    )  # imported objects stay alive: to look through them takes a tenth of the start
    main()


if __name__ == "__main__":
    start()
