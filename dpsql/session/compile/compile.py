"""One statement, to be proved at some ε: everything that is decided before the charge."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpsql.bind.saved_release import SavedReleaseNames
from dpsql.bind.statements.create_synopsis import bind_synopsis
from dpsql.bind.syntax.parameter import Parameters
from dpsql.bounding.public_facts import Facts
from dpsql.bounding.settings import Settings
from dpsql.errors import Refused
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.schema.model import Schema
from dpsql.session.compile.compiled import CompiledStatement, Read, compile_bound
from dpsql.session.compile.deep_recursion import with_deep_stack
from dpsql.session.compile.error_target import min_loss_for_error
from dpsql.session.compile.loss_conversion import query_loss


@dataclass(frozen=True, slots=True)
class Compiler:
    """A statement and all that its proof depends on but for ε; `version` is that of the data."""

    sql: str
    schema: Schema
    facts: Facts
    version: str
    parameters: Parameters
    settings: Settings
    releases: SavedReleaseNames
    read: Read

    def compile(self, epsilon: Fraction) -> CompiledStatement:
        """The statement at `epsilon`."""
        given = query_loss(self.schema, epsilon)
        return with_deep_stack(lambda: self._compiled(given))

    def _compiled(self, query_loss: PrivacyLoss) -> CompiledStatement:
        read = self.read if self.settings.rounds is None else bind_synopsis
        statement = read(self.sql, self.schema, self.parameters, self.releases)
        return compile_bound(
            statement, self.sql, self.schema, self.facts, query_loss, self.version, self.settings
        )

    def compile_for_target(self, epsilon: Fraction) -> CompiledStatement:
        """The statement at `epsilon`, or at the least ε that meets the error that is set."""
        most = self.settings.max_error
        if self.settings.rounds is not None and most is not None:
            raise Refused(
                "the error of a synopsis isn't known beforehand",
                hint="SET dpsql.max_error = DEFAULT",
                note="synopsis",
            )
        return (
            self.compile(epsilon)
            if most is None
            else min_loss_for_error(most, self.schema, self.compile)
        )
