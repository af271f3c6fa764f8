"""What is told of limits that ladders chose."""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.privacy.ladder.cap_choice import ChosenCap
from dpsql.session.ladders.stored_ladders import StoredLadders


def names_of(ladders: Sequence[StoredLadders]) -> str:
    """The names of ladders, each once."""
    return ", ".join(dict.fromkeys(each.name for each in ladders))


def limit_notes(
    named: Sequence[str], caps: Sequence[ChosenCap], ladders: Sequence[StoredLadders]
) -> tuple[str, ...]:
    """What the limits leave out of a group, as the ladders let expect."""
    notes = []
    for name, one in zip(named, caps, strict=True):
        notes.append(
            f"{name}: limits leave out about {one.bias:,.3g} of {one.total:,.6g} in a group"
            f" (90 %: {one.low:,.3g} to {one.high:,.3g}), as expected by {names_of(ladders)}"
        )
    if any(each.is_old for each in ladders):
        notes.append(f"{names_of(ladders)}: of an earlier version of the data; CALIBRATE again")
    return tuple(notes)
