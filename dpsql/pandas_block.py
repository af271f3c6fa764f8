"""An importer without pandas, for processes that have no data frames.

With its first array, pyarrow imports pandas where it is installed, to recognise data frames. That
takes as long as a small query, in each process anew. pyspark can't do without it: where that is
imported, for a source on Spark, pandas may be, too.
"""

from __future__ import annotations

import sys


class _WithoutPandas:  # has no base class: importing that of finders takes a tenth of the help
    def find_spec(self, fullname: str, path: object, target: object = None) -> None:  # noqa: ARG002
        """Raise for pandas, unless for pyspark; all else is left to the other finders."""
        if fullname == "pandas" and "pyspark" not in sys.modules:
            raise ModuleNotFoundError("this process uses no pandas", name=fullname)


def block_pandas() -> None:
    """Have no module of this process but pyspark import pandas."""
    sys.meta_path.insert(0, _WithoutPandas())
