"""Requests: each is charged once, for the one statement that its id stands for, and settled once.

A settled request was released, with an answer, or burned, without one; its charge stands in both.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.errors import (
    BadParameter,
    ExecutionFailed,
    InterfaceError,
    LedgerFault,
    LedgerFull,
    OperationalError,
)
from dpsql.ledger.chain.entry import Burned, Charged, Entry, Released
from dpsql.ledger.chain.hash_chain import Chain
from dpsql.ledger.chain.verify import checked_answer
from dpsql.ledger.charge import Charge, Failure, Receipt, State
from dpsql.ledger.fault import RESTORE, fault
from dpsql.ledger.storage.queries import Request

MAX_STOPPED = 3
"""How often a release that runs out of time or memory is charged, on one version of the data."""


def charge_event(charge: Charge) -> Charged:
    """The entry of a new charge."""
    return Charged(
        charge.request_id,
        charge.request_hash,
        charge.analyst,
        charge.loss,
        charge.analyst_cap,
        charge.data_version,
        charge.policy_hash,
        charge.query,
        tuple(dict(mechanism) for mechanism in charge.detail),
    )


def previous(chain: Chain, request: Request, charge: Charge) -> Receipt:
    """The receipt, not fresh, of `request`, whose id `charge` uses again.

    Raises BadParameter if `charge` is for another statement or another analyst.
    """
    entry = chain.entry(request.charged)
    paid = _charged(chain, request, entry)
    # Else an analyst could fetch another's answer, or run other SQL on a charge paid before.
    if (paid.request_hash, paid.analyst) != (charge.request_hash, charge.analyst):
        raise BadParameter(
            "this request id was used for another request", hint="give each request its own id"
        )
    state = _state(chain, request)
    return Receipt(request.id, entry.seq, entry.hash, entry.at, state, fresh=False)


def receipt(chain: Chain, request_id: str) -> Receipt | None:
    """The receipt, not fresh, of the request of that id; None if there is none.

    One that runs still, by what its entries say, is abandoned if its process is gone.
    """
    request = chain.store.request(request_id)
    if request is None:
        return None
    entry = chain.entry(request.charged)
    state = _state(chain, request)
    if state is State.CHARGED and not chain.database.is_alive(request.owner):
        state = State.BURNED
    return Receipt(request.id, entry.seq, entry.hash, entry.at, state, fresh=False)


def get(chain: Chain, receipt: Receipt) -> tuple[Request, Entry]:
    """The request that `receipt` proves, and its entry; InterfaceError if there is none here."""
    request = chain.store.request(receipt.request_id)
    if request is not None and request.charged == receipt.seq:
        entry = chain.entry(receipt.seq)
        if entry.hash == receipt.hash:
            return request, entry
    raise InterfaceError("the receipt is of another ledger")


def in_progress(chain: Chain, receipt: Receipt) -> Charged:
    """The charge of `receipt`, which must be fresh and not settled yet; else InterfaceError."""
    request, entry = get(chain, receipt)
    if not receipt.fresh:
        raise InterfaceError("this receipt is of an earlier request, which isn't run again")
    state = _state(chain, request)
    if state is not State.CHARGED:
        raise InterfaceError(f"the request is {state.value} already")
    return _charged(chain, request, entry)


def burn(chain: Chain, request_id: str, failure: Failure | None = None) -> None:
    """Settles the request without an answer; `failure` is what prevented one."""
    burned = Burned(request_id, abandoned=False)
    if failure is not None:
        burned = Burned(request_id, abandoned=False, failed=failure.key, stopped=failure.stopped)
    seq = chain.append(burned).seq
    chain.store.settle(request_id, seq)
    if burned.failed:
        chain.store.fail(burned.failed, seq)


def burn_all_of(chain: Chain, owner: str) -> None:
    """Settles, and publishes, all requests without an answer that the opening `owner` still runs.

    The next opening does on a full disk, and where the server has ended this one's connection.
    """
    try:
        with chain.writing():
            for request in chain.store.unsettled():
                if request.owner == owner:
                    burn(chain, request.id)
        chain.publish_all()
    except LedgerFault as error:
        if not (chain.database.lost or isinstance(error, LedgerFull)):
            raise


def failed_before(chain: Chain, keys: Sequence[str]) -> bool:
    """Whether one of the releases `keys` couldn't be computed before, or was stopped too often.

    A damaged page of the data can't be read the next time either. Time and memory may suffice
    another time, but an analyst who repeats the statement would pay for each attempt.
    """
    for key in keys:
        failures = [(seq, chain.entry(seq).event) for seq in chain.store.failed(key)]
        for seq, event in failures:
            if not isinstance(event, Burned) or event.failed != key:
                raise fault(chain.path, f"has no failure of that key in entry {seq}", RESTORE)
        stopped = [isinstance(event, Burned) and event.stopped for _, event in failures]
        if len(stopped) >= MAX_STOPPED or not all(stopped):
            return True
    return False


def burn_orphans(chain: Chain, request: Request) -> Request:
    """Settles the request without an answer, since the process that ran it is gone."""
    seq = chain.append(Burned(request.id, abandoned=True)).seq
    chain.store.settle(request.id, seq)
    return request._replace(settled=seq)


def released(chain: Chain, request: Request) -> Released | None:
    """The entry that releases the request's answer; None if it was burned or runs still."""
    if request.settled is None:
        return None
    event = chain.entry(request.settled).event
    if not isinstance(event, Released | Burned) or event.request_id != request.id:
        raise fault(chain.path, f"has no end of that request in entry {request.settled}", RESTORE)
    return event if isinstance(event, Released) else None


def replay(chain: Chain, receipt: Receipt) -> bytes:
    """The recorded answer of the request; ExecutionFailed if it has none, OperationalError yet."""
    request, _ = get(chain, receipt)
    if request.settled is None:
        raise OperationalError("the request is still running", hint="ask again later")
    if (event := released(chain, request)) is None:
        raise ExecutionFailed
    return checked_answer(chain, event.answer)


def _state(chain: Chain, request: Request) -> State:
    if request.settled is None:
        return State.CHARGED
    return State.BURNED if released(chain, request) is None else State.RELEASED


def _charged(chain: Chain, request: Request, entry: Entry) -> Charged:
    """The charge of `request` in its `entry`."""
    event = entry.event
    if not isinstance(event, Charged) or event.request_id != request.id:
        raise fault(
            chain.path, f"has no charge of that request in entry {request.charged}", RESTORE
        )
    return event
