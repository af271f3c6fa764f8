"""A charge: the dataset and its analyst pay in one transaction, or nothing happens."""

from __future__ import annotations

from functools import partial

from dpsql.errors import FailedBefore, NotOwner
from dpsql.ledger import charge_log
from dpsql.ledger.caps import Cap, admit_charge, balances
from dpsql.ledger.chain.hash_chain import Chain
from dpsql.ledger.charge import Charge, Receipt, State, check_charge
from dpsql.ledger.storage.opening import recorded_terms
from dpsql.ledger.storage.queries import DATASET


def enter(chain: Chain, owner: str, charge: Charge) -> Receipt:
    """Charges the dataset and the analyst, and returns the receipt; done under the write lock.

    `owner` names the opening of the ledger that runs the statement. The receipt isn't fresh, and
    nothing is charged, if the request id was charged before. Raises BudgetSpent if a cap would be
    passed, NotOwner if the analyst hasn't paid for what it is said to be paid by (caps that were
    lowered since don't take that back), and FailedBefore if one of its releases did.
    """
    terms = recorded_terms(chain)
    check_charge(charge, terms.accounting)
    earlier = chain.store.request(charge.request_id)
    if earlier is not None:
        if earlier.settled is None and not chain.database.is_alive(earlier.owner):
            earlier = charge_log.burn_orphans(chain, earlier)
        return charge_log.previous(chain, earlier, charge)
    if charge_log.failed_before(chain, charge.releases):
        raise FailedBefore(
            "this was asked before, and failed on this version of the data; nothing was charged",
            hint="ask otherwise, or when the data have changed; the owner can run dpsql check",
        )
    names = (DATASET, charge.analyst)
    dataset, analyst = map(chain.store.account, names)
    if charge.paid_by is None:
        admit_charge(charge.loss, dataset, terms.cap, analyst, charge.analyst_cap)
    elif chain.store.paid_seq(charge.paid_by, charge.analyst) is None:
        raise NotOwner("this was paid for by nobody, or by another analyst")
    entry = chain.append(charge_log.charge_event(charge))
    caps = Cap(terms.cap.amount, terms.cap.delta), Cap(charge.analyst_cap, None)
    after = dataset.plus(charge.loss), analyst.plus(charge.loss)
    for name, before, paid, cap in zip(names, (dataset, analyst), after, caps, strict=True):
        chain.store.set_account(name, paid, cap.hard_limit(before))
    chain.store.add_request(charge.request_id, entry.seq, owner)
    left = partial(balances, after[0], terms.cap, after[1], charge.analyst_cap)
    state = State.CHARGED
    return Receipt(charge.request_id, entry.seq, entry.hash, entry.at, state, fresh=True, left=left)
