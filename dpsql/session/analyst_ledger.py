"""The ledger as one analyst's session uses it: opened when it is first needed, under their cap."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from fractions import Fraction

from dpsql.errors import BudgetSpent, Error, Refused, WouldShowIndividuals
from dpsql.ledger.caps import Balance
from dpsql.ledger.ledger import Ledger
from dpsql.schema.model import Schema
from dpsql.session.compile.loss_conversion import analyst_cap
from dpsql.session.ledger_access import existing_ledger, has_ledger, open_ledger
from dpsql.session.shared_ledger import SharedLedger


class AnalystLedger:
    """A schema's ledger, and what one analyst may see of it."""

    def __init__(self, schema: Schema, analyst: str, shared: SharedLedger | None = None) -> None:
        """`shared` is an opening that other sessions use, too; None: the session opens its own."""
        self._schema = schema
        self._analyst = analyst
        self._shared = shared
        self._ledger: Ledger | None = None
        self._let_go: Callable[[], None] = _nothing

    @property
    def cap(self) -> Fraction | None:
        """What all that the analyst sees may cost, in the ledger's currency; None: no bound."""
        return analyst_cap(self._schema, self._analyst)

    @property
    def is_open(self) -> bool:
        """The session opened it: a dataset that was never charged may have none yet."""
        return self._ledger is not None

    def open(self) -> Ledger:
        """The ledger, made if there is none."""
        if self._ledger is not None and self._ledger.lost:
            self.close()
            self._ledger = None
        if self._ledger is None and self._shared is not None:
            self._ledger = self._shared.lease()
            if self._ledger is not None:
                self._let_go = self._shared.give
        if self._ledger is None:
            self._ledger = open_ledger(self._schema)
            self._let_go = self._ledger.close
        return self._ledger

    def existing(self) -> Ledger | None:
        """The ledger, opened if there is one: a question doesn't make one."""
        exists = self._ledger is not None or has_ledger(self._schema)
        return self.open() if exists else None

    def read(self, keys: Sequence[str]) -> Sequence[bytes]:
        """The stored answers of these keys; a first look is charged to the analyst's own cap."""
        if not keys:
            return ()
        return self.open().read_answers(keys, self._analyst, self.cap, self._schema.policy_hash)

    def balance(self, analyst: str | None) -> Balance:
        """What the dataset, or one analyst under their own cap, has spent and has left."""
        cap = None if analyst is None else analyst_cap(self._schema, analyst)
        return self.open().balance(analyst, cap)

    def balances(self) -> tuple[Balance, Balance]:
        """What the dataset, and the analyst under their cap, have spent and have left."""
        return self.open().balances(self._analyst, self.cap)

    @contextmanager
    def recording_refusals(self, sql: str) -> Iterator[None]:
        """Refusals are kept for the owner to see; a dataset that was never charged keeps none."""
        try:
            yield
        except (Refused, WouldShowIndividuals, BudgetSpent) as refusal:
            # Whatever goes wrong here, the analyst is told of the refusal.
            with suppress(Error):
                own = self._ledger if self._shared is None else self.open()
                with existing_ledger(self._schema) if own is None else nullcontext(own) as ledger:
                    if ledger is not None:
                        ledger.refuse(self._analyst, refusal.sqlstate, sql, refusal.message)
            raise

    def close(self) -> None:
        """Let go of the ledger, if it was opened."""
        let_go, self._let_go = self._let_go, _nothing
        let_go()


def _nothing() -> None:
    """There is nothing to let go of."""
