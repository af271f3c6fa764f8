"""Tables that analysts keep: public ones, beside those that the schema declares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from dpsql.schema.model import Table


class SavedReleaseNames(Protocol):
    """What the analyst may read of what was kept; asked for names that the schema lacks."""

    def find(self, name: str) -> Table | None:
        """The table kept as `name`, in whatever case; None if there is none to be read."""

    def names(self) -> Sequence[str]:
        """Every name that `find` finds."""


class _None:
    def find(self, name: str) -> Table | None:  # noqa: ARG002
        return None

    def names(self) -> Sequence[str]:
        return ()


NO_RELEASES: Final = _None()
"""Nothing is kept."""
