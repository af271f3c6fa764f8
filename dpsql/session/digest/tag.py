"""A class in digests: its tag, and its fields that count."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field


class Tagged(Struct, frozen=True):
    """A class in digests; `excluded` says of each other compared field why it is in none."""

    tag: str
    fields: tuple[str, ...] = ()
    excluded: Mapping[str, str] = field(default_factory=dict)
