"""What the three stages of a session share: its engines, its ledger, and what it remembers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from fractions import Fraction

from msgspec import Struct, field

from dpsql.errors import InterfaceError
from dpsql.privacy.mechanisms.randomness import Randomness
from dpsql.schema.model import Schema
from dpsql.session.analyst_ledger import AnalystLedger
from dpsql.session.answer.answer_cache import AnswerCache
from dpsql.session.answer.chart_reading import ReadableDashboard
from dpsql.session.answer.rollup import RollUpSources
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.plan_cache import PlanCache
from dpsql.session.run.execution import Execution, Progress
from dpsql.session.saved.readable_dashboards import readable_dashboards
from dpsql.session.saved.saved_releases import SavedReleases

MAX_DASHBOARDS = 64
"""How many plans of batches a session remembers, unless its last batch alone has more."""


class SessionContext(Struct):
    """One analyst's use of one dataset; `default_epsilon` is what a query spends by default.

    `sources` remembers releases to sum others from, `dashboards` what batches were planned as.
    """

    schema: Schema
    analyst: str
    default_epsilon: Fraction
    randomness: Randomness
    progress: Progress
    execution: Execution
    ledger: AnalystLedger
    saved: SavedReleases
    sources: RollUpSources = field(default_factory=RollUpSources)
    dashboards: list[ReadableDashboard] = field(default_factory=list)
    is_open: bool = True

    @property
    def plans(self) -> PlanCache:
        """Statements that were compiled before."""
        return self.execution.plans

    @property
    def answers(self) -> AnswerCache:
        """Answers that were given before."""
        return self.execution.answers

    @property
    def edition(self) -> str:
        """What stored answers have in common: the version of the data, and who sees them."""
        return self.edition_of(self.execution.version())

    def edition_of(self, version: str) -> str:
        """What those of a `version` of the data have in common."""
        return version if self.schema.has_shared_store else f"{version}\0{self.analyst}"

    def version_of(self, edition: str) -> str:
        """The version of the data whose `edition` it is."""
        return (
            edition if self.schema.has_shared_store else edition.removesuffix(f"\0{self.analyst}")
        )

    def readable_dashboards(self) -> Iterator[ReadableDashboard]:
        """Dashboards that the analyst may read for nothing, of the data as they are."""
        yield from self.dashboards
        version, edition = self.execution.version, lambda: self.edition
        yield from readable_dashboards(self.saved, self.schema, version, edition)

    def remember(self, dashboards: Sequence[ReadableDashboard]) -> None:
        """`dashboards` of one batch are stored, and this session may read queries of them.

        None of them is forgotten: what the batch is yet to read of it would be charged again.
        """
        self.dashboards.extend(dashboards)
        del self.dashboards[: -max(MAX_DASHBOARDS, len(dashboards))]

    def turn(self, compiled: CompiledStatement) -> AbstractContextManager[None]:
        """Wait for other sessions' statements, where an execution serves several."""

        def due() -> frozenset[str]:
            keys = [release.key for release in compiled.releases]
            stored = self.ledger.open().stored_answers(keys)
            return frozenset(key for key in keys if key not in stored)

        return self.execution.turn(due)

    def check_open(self) -> None:
        """Refuse whatever is asked of a session that was closed."""
        if not self.is_open:
            raise InterfaceError("the connection is closed", hint="connect again")

    def close(self) -> None:
        """Let go of the source and the ledger."""
        self.is_open = False
        self.execution.close()
        self.ledger.close()
