"""Kept releases: answered again byte for byte, free for the dataset, at the reader's own cap.

The dataset's budget paid for a release when it was made. A reader's cap bounds all that this reader
has seen, so a first look at what others paid for is charged to the reader alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpsql.errors import BadParameter
from dpsql.ledger.caps import Cap, admit_view
from dpsql.ledger.chain.entry import Paid, Released, StoredRelease, digest
from dpsql.ledger.chain.hash_chain import Chain
from dpsql.ledger.chain.verify import checked_answer
from dpsql.ledger.charge import StoredAnswerInfo
from dpsql.ledger.fault import RESTORE, fault


def find(chain: Chain, key: str) -> StoredAnswerInfo | None:
    """What is known of the release kept under `key`."""
    found = _stored(chain, key)
    if found is None:
        return None
    release, seq = found
    return StoredAnswerInfo(key, release.loss, chain.entry(seq).at)


def unpaid(chain: Chain, keys: Sequence[str], analyst: str) -> tuple[str, ...]:
    """Those of `keys`, each once, that the analyst neither paid for nor viewed."""
    return tuple(key for key in dict.fromkeys(keys) if chain.store.paid_seq(key, analyst) is None)


def charge_reader(
    chain: Chain, keys: Sequence[str], analyst: str, own: Fraction | None, policy_hash: str
) -> None:
    """The analyst's own account has paid for a first look at `keys`, or BudgetSpent."""
    losses = [_needed(chain, key).loss for key in keys]
    loss = sum(losses[1:], start=losses[0])
    account = chain.store.account(analyst)
    admit_view(loss, account, own)
    entry = chain.append(Paid(analyst, tuple(keys), loss, own, policy_hash))
    backstop = Cap(own, None).hard_limit(account)
    chain.store.set_account(analyst, account.plus(loss), backstop)
    for key in keys:
        chain.store.mark_paid(key, analyst, entry.seq)


def read(chain: Chain, keys: Sequence[str]) -> tuple[bytes, ...]:
    """The kept answers of `keys`, in their order."""
    return tuple(checked_answer(chain, _needed(chain, key).answer) for key in keys)


def store(
    chain: Chain,
    releases: Sequence[StoredRelease],
    answers: Sequence[bytes],
    analyst: str,
    seq: int,
) -> None:
    """Entry `seq` gives `releases`, of these `answers`, and the analyst has seen them."""
    for answer in answers:
        chain.store.add_answer(digest(answer), answer)
    for release in releases:
        chain.store.store_answer(release.key, seq)
        chain.store.mark_paid(release.key, analyst, seq)


def existing_answers(chain: Chain, wanted: Sequence[StoredRelease]) -> dict[str, bytes]:
    """The answers that are kept under keys of `wanted` already, where they are other ones.

    Who was charged for a draw has paid for one answer of its key, and may see one. It has to be the
    one that is kept, since they may ask for that again.
    """
    found = ((release, _stored(chain, release.key)) for release in wanted)
    return {
        release.key: checked_answer(chain, kept[0].answer)
        for release, kept in found
        if kept is not None and kept[0].answer != release.answer
    }


def _needed(chain: Chain, key: str) -> StoredRelease:
    found = _stored(chain, key)
    if found is None:
        raise BadParameter("no release is kept under this key")
    return found[0]


def _stored(chain: Chain, key: str) -> tuple[StoredRelease, int] | None:
    seq = chain.store.stored_seq(key)
    if seq is None:
        return None
    event = chain.entry(seq).event
    for release in event.kept if isinstance(event, Released) else ():
        if release.key == key:
            return release, seq
    raise fault(chain.path, f"has no release of that key in entry {seq}", RESTORE)
