"""The known name that is most like one that isn't known: what was probably meant."""

from __future__ import annotations

from collections.abc import Iterable

_LIKENESS = 0.6


def near_name(name: str, known: Iterable[str], likeness: float = _LIKENESS) -> str:
    """The one of `known` that is most like `name`, whatever their case; empty where none is.

    `likeness`, between 0 and 1, is what `difflib` measures at least: of cuont and count it is 0.8,
    of random and round 0.55.
    """
    # Most statements are without a mistake, and a command's start doesn't wait for it.
    from difflib import get_close_matches  # noqa: PLC0415

    by_folded = {one.casefold(): one for one in known}
    near = get_close_matches(name.casefold(), by_folded, n=1, cutoff=likeness)
    return by_folded[near[0]] if near else ""
