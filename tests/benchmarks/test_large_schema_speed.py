"""Seconds of processors and megabytes that large schemas take, beside what they should be.

The aim is 5 s and 500 MB for two thousand tables of fifty columns, and for a million listed values.
Run with `-m slow -s`; nothing is asserted of time, and of memory in tests/schema/test_large.py.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from large import many_tables, many_values, measured


def a_million_values(folder: Path) -> Path:
    return many_values(folder, 999_999)


@pytest.mark.slow
@pytest.mark.parametrize("made", [many_tables, a_million_values])
def test_large_schemas_are_checked_and_asked_soon(
    tmp_path: Path, made: Callable[[Path], Path]
) -> None:
    schema = made(tmp_path)
    for arguments in (("check", schema), ("query", schema, "SELECT count(*) FROM t0")):
        ended = measured(*arguments)
        assert ended.code == 0, ended.told
        told = f"{ended.seconds:.1f} s of processors, {ended.megabytes} MB"
        print(f"\ndpsql {arguments[0]}, {made.__name__}: {told}, to be 5 s and 500 MB")  # noqa: T201
