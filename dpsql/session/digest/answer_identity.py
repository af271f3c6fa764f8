"""What stored answers are known by."""

from __future__ import annotations

from dataclasses import dataclass, field

from dpsql.engine.digest import Digest, digest_of
from dpsql.plan.operator import Release
from dpsql.plan.traversal import operators


@dataclass(frozen=True, slots=True)
class AnswerIdentity:
    """What is asked for and how it is measured, of which data, and who sees it.

    `meaning` has the keys of the answers that are read for it, if there are any. `edition` is a
    version of the data and, where each analyst has answers of their own, the analyst. The answer
    is stored under the `key` that follows from these.
    """

    meaning: Digest
    measured: Digest
    policy_hash: str
    edition: str
    key: Digest = field(init=False)

    def __post_init__(self) -> None:
        parts = (self.meaning, self.measured, self.policy_hash, self.edition)
        # Computed once: a statement is looked up by it many times.
        object.__setattr__(self, "key", digest_of("key of an answer", *parts))


def releases_read(release: Release) -> tuple[Release, ...]:
    """The releases on whose answers `release` is computed, each once."""
    below = (part for part in operators(release.source) if isinstance(part, Release))
    return tuple(dict.fromkeys(below))
