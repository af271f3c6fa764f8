"""Requests: charged once, settled once, bound to what was asked under their id."""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.errors import BadParameter, InterfaceError
from dpsql.ledger.chain.entry import Burned, Charged, Released
from dpsql.ledger.chain.hash_chain import Chain
from dpsql.ledger.charge import Charge, Failure, Receipt, State
from dpsql.ledger.fault import RESTORE, fault
from dpsql.ledger.storage.queries import Request

MAX_STOPPED = 3
"""How often what takes too much time or memory is charged, on one version of the data."""


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
    """What became of `request`, if it is the one that `charge` repeats."""
    paid = _charged(chain, request)
    # Else an analyst could fetch another's answer, or run other SQL on a charge paid before.
    if (paid.request_hash, paid.analyst) != (charge.request_hash, charge.analyst):
        raise BadParameter(
            "this request id was used for another request", hint="give each request its own id"
        )
    entry = chain.entry(request.charged)
    state = _state(chain, request)
    return Receipt(request.id, entry.seq, entry.hash, entry.at, state, fresh=False)


def get(chain: Chain, receipt: Receipt) -> Request:
    """The request that `receipt` is of."""
    request = chain.store.request(receipt.request_id)
    if (
        request is None
        or request.charged != receipt.seq
        or chain.entry(receipt.seq).hash != receipt.hash
    ):
        raise InterfaceError("the receipt is of another ledger")
    return request


def in_progress(chain: Chain, receipt: Receipt) -> Charged:
    """The charge that the holder of `receipt` was allowed to run, and has not settled yet."""
    request = get(chain, receipt)
    if not receipt.fresh:
        raise InterfaceError("this receipt is of an earlier request, which isn't run again")
    state = _state(chain, request)
    if state is not State.CHARGED:
        raise InterfaceError(f"the request is {state.value} already")
    return _charged(chain, request)


def burn(chain: Chain, request_id: str, failure: Failure | None = None) -> None:
    """The request comes to nothing, by that failure of one of its releases, if there was one."""
    burned = Burned(request_id, abandoned=False)
    if failure is not None:
        burned = Burned(request_id, abandoned=False, failed=failure.key, stopped=failure.stopped)
    seq = chain.append(burned).seq
    chain.store.settle(request_id, seq)
    if burned.failed:
        chain.store.fail(burned.failed, seq)


def failed_before(chain: Chain, keys: Sequence[str]) -> bool:
    """One of the releases `keys` couldn't be computed before, or was stopped too often.

    A page that doesn't read once won't the next time; time and memory may suffice another time, but
    whoever asks again and again would pay for each.
    """
    for key in keys:
        found = [(seq, chain.entry(seq).event) for seq in chain.store.failed(key)]
        for seq, event in found:
            if not isinstance(event, Burned) or event.failed != key:
                raise fault(chain.path, f"has no failure of that key in entry {seq}", RESTORE)
        stopped = [isinstance(event, Burned) and event.stopped for _, event in found]
        if len(stopped) >= MAX_STOPPED or not all(stopped):
            return True
    return False


def burn_orphans(chain: Chain, request: Request) -> Request:
    """The request comes to nothing, since whoever ran it is gone."""
    seq = chain.append(Burned(request.id, abandoned=True)).seq
    chain.store.settle(request.id, seq)
    return request._replace(settled=seq)


def released(chain: Chain, request: Request) -> Released | None:
    """How the request was answered; None if it was burned or runs still."""
    if request.settled is None:
        return None
    event = chain.entry(request.settled).event
    if not isinstance(event, Released | Burned) or event.request_id != request.id:
        raise fault(chain.path, f"has no end of that request in entry {request.settled}", RESTORE)
    return event if isinstance(event, Released) else None


def _state(chain: Chain, request: Request) -> State:
    if request.settled is None:
        return State.CHARGED
    return State.BURNED if released(chain, request) is None else State.RELEASED


def _charged(chain: Chain, request: Request) -> Charged:
    event = chain.entry(request.charged).event
    if not isinstance(event, Charged) or event.request_id != request.id:
        raise fault(
            chain.path, f"has no charge of that request in entry {request.charged}", RESTORE
        )
    return event
