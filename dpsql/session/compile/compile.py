"""One statement, to be proved at some ε: everything that is decided before the charge."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpsql.bind.saved_release import Releases
from dpsql.bind.statements.create_synopsis import bind_synopsis
from dpsql.bind.syntax.parameter import Parameters
from dpsql.bounding.public_facts import Facts
from dpsql.bounding.settings import Settings
from dpsql.errors import Refused
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.schema.model import Schema
from dpsql.session.compile.compiled import Prepared, Read, prepare_bound
from dpsql.session.compile.deep_recursion import deeply
from dpsql.session.compile.error_target import least_loss
from dpsql.session.compile.loss_conversion import grant


@dataclass(frozen=True, slots=True)
class Proving:
    """A statement and all that its proof depends on but for ε; `version` is that of the data."""

    sql: str
    schema: Schema
    facts: Facts
    version: str
    parameters: Parameters
    settings: Settings
    releases: Releases
    read: Read

    def at(self, epsilon: Fraction) -> Prepared:
        """The statement at `epsilon`."""
        given = grant(self.schema, epsilon)
        return deeply(lambda: self._prepared(given))

    def _prepared(self, given: PrivacyLoss) -> Prepared:
        read = self.read if self.settings.rounds is None else bind_synopsis
        statement = read(self.sql, self.schema, self.parameters, self.releases)
        return prepare_bound(
            statement, self.sql, self.schema, self.facts, given, self.version, self.settings
        )

    def prepared(self, epsilon: Fraction) -> Prepared:
        """The statement at `epsilon`, or at the least ε that meets the error that is set."""
        most = self.settings.max_error
        if self.settings.rounds is not None and most is not None:
            raise Refused(
                "the error of a synopsis isn't known beforehand",
                hint="SET dpsql.max_error = DEFAULT",
                note="synopsis",
            )
        return self.at(epsilon) if most is None else least_loss(most, self.schema, self.at)
