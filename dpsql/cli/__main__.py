"""The process of `dpsql` and of `python -m dpsql.cli`; no command has data frames."""

from __future__ import annotations

import atexit
import gc
import logging
import os
import sys

from dpsql.pandas_block import block_pandas

_OBJECTS = 200_000
"""How many new objects are looked through for garbage at once: more than are made of imports.

All of these stay alive, and to look through them takes a twentieth of the start.
"""


def start() -> None:
    """Run the command that the process was started for."""
    gc.set_threshold(_OBJECTS)
    block_pandas()
    # Waiting threads of numpy's linear algebra spin at first; commands multiply no large matrices.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from dpsql.cli.main import main  # noqa: PLC0415 - once its objects aren't looked through

    codes: list[int] = []
    atexit.register(_end, codes)  # before what the command registers, so that it is called after it
    try:
        main()
    except SystemExit as ended:
        codes.append(int(ended.code or 0))
        raise


def _end(codes: list[int]) -> None:
    """End the process with the command's code, if it has one, as Python would, but at once.

    Threads were waited for, what else was registered has run, and what is written is flushed here.
    Left out is to free each object of the interpreter, which takes as long as a small query.
    """
    if not codes:
        return
    logging.shutdown()  # was registered before, when it was imported
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            try:
                stream.flush()
            except (OSError, ValueError):
                return  # Python complains of it, and has a code for it
    os._exit(codes[0])


if __name__ == "__main__":
    start()
