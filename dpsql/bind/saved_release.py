"""Saved releases: public tables that analysts made, in addition to those of the schema."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from dpsql.schema.model import Table


class SavedReleaseNames(Protocol):
    """The saved releases that an analyst may read, by names that the schema lacks."""

    def find(self, name: str) -> Table | None:
        """The release that was saved as `name`, in whatever case; None if there is none."""

    def names(self) -> Sequence[str]:
        """The names of all of these releases."""


class _None:
    def find(self, name: str) -> Table | None:  # noqa: ARG002
        return None

    def names(self) -> Sequence[str]:
        return ()


NO_RELEASES: Final = _None()
"""Without saved releases."""
