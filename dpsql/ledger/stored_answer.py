"""Stored releases: read again byte for byte, free for the dataset, at the reader's own cap.

The dataset paid for a release when its noise was drawn. A reader's cap bounds the loss of all that
this reader has seen, so the first reading of a release that others paid for is charged to the
reader alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpsql.errors import BadParameter
from dpsql.ledger.caps import Cap, admit_view
from dpsql.ledger.chain.entry import Paid, Released, StoredRelease, digest
from dpsql.ledger.chain.hash_chain import Chain
from dpsql.ledger.chain.verify import checked_answer
from dpsql.ledger.charge import StoredAnswer, StoredAnswerInfo
from dpsql.ledger.fault import RESTORE, fault


def find(chain: Chain, keys: Sequence[str]) -> dict[str, StoredAnswerInfo]:
    """The releases that are stored under `keys`, by their keys, without their answers."""
    infos: dict[str, StoredAnswerInfo] = {}
    for key in keys:
        if (stored := _stored(chain, key)) is not None:
            release, seq = stored
            infos[key] = StoredAnswerInfo(key, release.loss, chain.entry(seq).at)
    return infos


def unpaid(chain: Chain, keys: Sequence[str], analyst: str) -> tuple[str, ...]:
    """Those of `keys`, each once, that the analyst neither paid for nor viewed."""
    return tuple(key for key in dict.fromkeys(keys) if chain.store.paid_seq(key, analyst) is None)


def charge_reader(
    chain: Chain, keys: Sequence[str], analyst: str, analyst_cap: Fraction | None, policy_hash: str
) -> None:
    """Charges the analyst's own account for the releases `keys`, seen for the first time.

    Raises BudgetSpent if `analyst_cap` would be passed. `keys` has one key or more.
    """
    losses = [_needed(chain, key).loss for key in keys]
    loss = sum(losses[1:], start=losses[0])
    account = chain.store.account(analyst)
    admit_view(loss, account, analyst_cap)
    entry = chain.append(Paid(analyst, tuple(keys), loss, analyst_cap, policy_hash))
    backstop = Cap(analyst_cap, None).hard_limit(account)
    chain.store.set_account(analyst, account.plus(loss), backstop)
    for key in keys:
        chain.store.mark_paid(key, analyst, entry.seq)


def read(chain: Chain, keys: Sequence[str]) -> tuple[bytes, ...]:
    """The stored answers of `keys`, in their order; BadParameter if a key has none."""
    return tuple(checked_answer(chain, _needed(chain, key).answer) for key in keys)


def store(chain: Chain, releases: Sequence[StoredRelease], analyst: str, seq: int) -> None:
    """Stores `releases` of entry `seq`, whose answers are there, as seen by the analyst."""
    for release in releases:
        chain.store.store_answer(release.key, seq)
        chain.store.mark_paid(release.key, analyst, seq)


def digested(answer: bytes, keep: Sequence[StoredAnswer]) -> tuple[str, tuple[StoredRelease, ...]]:
    """The digest of `answer`, and what is stored of `keep`, each with its own.

    Bytes are compared sooner than digested, and those of one release are the very same.
    """
    whole = digest(answer)
    return whole, tuple(
        StoredRelease(k.key, whole if k.answer == answer else digest(k.answer), k.loss)
        for k in keep
    )


def existing_answers(chain: Chain, wanted: Sequence[StoredRelease]) -> dict[str, bytes]:
    """The answers stored under keys of `wanted` already, where they differ from those of `wanted`.

    Who was charged for a release may see one answer of its key. That has to be the stored one,
    since the same statement will be answered with the stored one again.
    """
    pairs = ((release, _stored(chain, release.key)) for release in wanted)
    return {
        release.key: checked_answer(chain, stored[0].answer)
        for release, stored in pairs
        if stored is not None and stored[0].answer != release.answer
    }


def _needed(chain: Chain, key: str) -> StoredRelease:
    stored = _stored(chain, key)
    if stored is None:
        raise BadParameter("no release is kept under this key")
    return stored[0]


def _stored(chain: Chain, key: str) -> tuple[StoredRelease, int] | None:
    """The release that is stored under `key`, and the number of its entry."""
    seq = chain.store.stored_seq(key)
    if seq is None:
        return None
    event = chain.entry(seq).event
    for release in event.kept if isinstance(event, Released) else ():
        if release.key == key:
            return release, seq
    raise fault(chain.path, f"has no release of that key in entry {seq}", RESTORE)
