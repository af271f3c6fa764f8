"""Releases under other keys, where what they read has other keys, too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from dpsql.plan.operator import Release
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.digest.answer_identity import AnswerIdentity
from dpsql.structs import replace

Keys: TypeAlias = Mapping[Release, str]
"""What the answers of releases are stored under."""


def identified(
    releases: Sequence[CompiledRelease],
    identity: Callable[[CompiledRelease, Keys], AnswerIdentity],
) -> tuple[CompiledRelease, ...]:
    """`releases` with the `identity` of each, given the keys of those before it, which it may read.

    A statement's releases stand behind those that they are computed on.
    """
    keys: dict[Release, str] = {}
    renewed: list[CompiledRelease] = []
    for release in releases:
        own = identity(release, keys)
        keys[release.release] = own.key
        renewed.append(replace(release, identity=own))
    return tuple(renewed)
