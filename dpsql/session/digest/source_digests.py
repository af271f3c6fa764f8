"""What the columns of one source mean, and what is computed of them, however they are named."""

from __future__ import annotations

from dpsql.engine.digest import Digest
from dpsql.plan.expression import Expression
from dpsql.plan.operator import Plan
from dpsql.session.digest.canonical_digest import DigestBuilder


class SourceDigests:
    """The meanings of expressions over a source that reads no release."""

    def __init__(self, source: Plan) -> None:
        self._reader = DigestBuilder({})
        self._reader.read(source)

    def of(self, expression: Expression) -> Digest:
        """What `expression` means, which reads columns of the source."""
        return self._reader.read(expression)
