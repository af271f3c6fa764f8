"""Requests: charged once, settled once, bound to what was asked under their id."""

from __future__ import annotations

from dpsql.errors import BadParameter, InterfaceError
from dpsql.ledger.chain import Chain
from dpsql.ledger.entry import Burned, Charged, Released
from dpsql.ledger.fault import RESTORE, fault
from dpsql.ledger.request import Charge, Receipt, State
from dpsql.ledger.store import Request


def charged(charge: Charge) -> Charged:
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


def earlier(chain: Chain, request: Request, charge: Charge) -> Receipt:
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


def known(chain: Chain, receipt: Receipt) -> Request:
    """The request that `receipt` is of."""
    request = chain.store.request(receipt.request_id)
    if (
        request is None
        or request.charged != receipt.seq
        or chain.entry(receipt.seq).hash != receipt.hash
    ):
        raise InterfaceError("the receipt is of another ledger")
    return request


def running(chain: Chain, receipt: Receipt) -> Charged:
    """The charge that the holder of `receipt` was allowed to run, and has not settled yet."""
    request = known(chain, receipt)
    if not receipt.fresh:
        raise InterfaceError("this receipt is of an earlier request, which isn't run again")
    state = _state(chain, request)
    if state is not State.CHARGED:
        raise InterfaceError(f"the request is {state.value} already")
    return _charged(chain, request)


def burn(chain: Chain, request_id: str) -> None:
    """The request comes to nothing."""
    chain.store.settle(request_id, chain.append(Burned(request_id, abandoned=False)).seq)


def bury(chain: Chain, request: Request) -> Request:
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
