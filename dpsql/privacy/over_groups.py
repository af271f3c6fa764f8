"""What becomes of a unit in more groups than limits let it be in."""

from __future__ import annotations

from enum import Enum


class OverGroups(Enum):
    """How a unit that is in too many groups is kept to its limits.

    `SAMPLE`: it counts in as many of them, drawn at random. `SCALE`: it counts in all, and less in
    each, where all groups are listed and nothing but rows is summed. A sensitivity is the same
    either way.
    """

    SAMPLE = "sample"
    SCALE = "scale"
