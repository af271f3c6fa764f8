"""What limits leave out, in words for the owner."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from dpsql.cli.check.cuts_table import percent_of_rows
from dpsql.session.limited_rows import LimitedRows

_KEYS_SHOWN = 6


def left_out(cuts: Iterable[LimitedRows]) -> Iterator[str]:
    """A line for each table and limit that leaves rows out, and one on what can be done."""
    is_default = False
    for (table, limit), same in groupby(cuts_in_order(cuts), lambda cut: (cut.table, cut.limit)):
        each = list(same)
        default = limit not in table.limits.declared
        is_default |= default
        value = f"{limit}: {each[0].value}{' (default)' if default else ''}"
        first, *others = (f"by {cut.key}" if cut.key else "in total" for cut in each[:_KEYS_SHOWN])
        parts = [f"{percent_of_rows(each[0])} of its rows {first}"]
        parts += [f"{percent_of_rows(c)} {by}" for c, by in zip(each[1:], others, strict=False)]
        yield f"{table.name}: limit {value} leaves out {', '.join(parts)}"
    if is_default:
        yield (
            "answers are too small by what limits leave out, which no ± tells: declare limits: by"
            " what a unit has; higher ones make more noise"
        )


def cuts_in_order(cuts: Iterable[LimitedRows]) -> list[LimitedRows]:
    """The cuts that leave rows out, of each table by limit, those that cut most first."""
    order = ("rows", "rows_per_group", "groups")
    cuts = [cut for cut in cuts if cut.part]
    return sorted(cuts, key=lambda cut: (cut.table.name, order.index(cut.limit), -cut.part))
