"""One proof for all editions of the data: only the keys of its answers differ.

An edition is a version of the data and, where each analyst has answers of their own, the analyst. A
proof, the SQL and the noise follow from the text and its parameters, the schema, public facts,
options and kept ladders, all of which are in the key of a plan that is remembered.
"""

from __future__ import annotations

from dpsql.session.answer.consistent_totals import consistency
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.compile.generic.answer_keys import Keys, identified
from dpsql.session.digest.answer_identity import AnswerIdentity, releases_read
from dpsql.session.digest.canonical_digest import release_digest
from dpsql.structs import replace


def of_edition(compiled: CompiledStatement, edition: str) -> CompiledStatement:
    """`compiled` with the keys that its answers have in `edition`."""
    if compiled.version == edition:
        return compiled

    def identity(release: CompiledRelease, keys: Keys) -> AnswerIdentity:
        own = replace(release.identity, edition=edition)
        if releases_read(release.release):
            own = replace(own, meaning=release_digest(release.step.bounded, keys))
        return own

    releases = identified(compiled.releases, identity)
    return replace(
        compiled,
        releases=releases,
        version=edition,
        consistency=consistency(releases, compiled.options.answer),
    )
