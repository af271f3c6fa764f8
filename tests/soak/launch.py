"""`dpsql serve` whose ledger's clock can be set ahead or back: seconds in the file SOAK_CLOCK.

The machine's own clock belongs to others, too; all else of the process is as users start it.
"""

from __future__ import annotations

import datetime as dt
import os
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Final

from dpsql.cli.__main__ import start
from dpsql.ledger.chain import hash_chain

CLOCK: Final = "SOAK_CLOCK"


def _now(zone: dt.tzinfo) -> dt.datetime:
    off = 0.0
    with suppress(OSError, ValueError):
        off = float(Path(os.environ[CLOCK]).read_text())
    return dt.datetime.now(zone) + dt.timedelta(seconds=off)


if __name__ == "__main__":
    vars(hash_chain)["datetime"] = SimpleNamespace(now=_now)
    start()
