"""The terms that a ledger is created with, and which of them may change afterwards."""

from __future__ import annotations

import re
from fractions import Fraction

from msgspec import Struct

from dpsql.errors import BadParameter
from dpsql.ledger.amount import check_amount, check_delta, format_amount
from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss

LONGEST_TEXT = 1 << 20
LONGEST_POLICY = 1 << 26
"""Characters: the policy of a hundred thousand columns takes some ten million."""

_RELATION = re.compile(
    r"(add_remove|change_one)(?: in groups of ([2-9]|[1-9][0-9]{1,3}))?"
    r"|add_remove in a sample of [1-9][0-9]*/[1-9][0-9]*"
)


class LedgerTerms(Struct, frozen=True):
    """What is promised about one dataset: `cap` bounds the loss of all its charges together.

    `neighbors` is "add_remove" or "change_one", "… in groups of k" where neighbours differ in up to
    k > 1 units, or "add_remove in a sample of q", where each unit is in the data with probability
    q: all amounts are lost of that sample. `conversion_delta` is the δ at which a zcdp ledger shows
    ρ as ε, and a gdp ledger μ², another than the δ of `cap`; 0 in other accountings. `policy` is
    the policy that the owner last agreed to, when the ledger was created or amended, as
    `schema.policy` renders it; `policy_hash` is its hash.
    """

    dataset: str
    neighbors: str
    accounting: Accounting
    cap: PrivacyLoss
    conversion_delta: Fraction
    policy_hash: str
    policy: str = ""


class TermsDiff(Struct, frozen=True):
    """How new terms differ from recorded ones, in words.

    `fixed` ones can't be changed in a ledger's life, `looser` ones need the owner's consent,
    `tighter` ones need nobody's.
    """

    fixed: tuple[str, ...]
    looser: tuple[str, ...]
    tighter: tuple[str, ...]


def differences(recorded: LedgerTerms, proposed: LedgerTerms) -> TermsDiff:
    """Every difference of the two but those of `policy` and its hash."""
    (relation, units), (proposed_relation, proposed_units) = (
        _relation(terms.neighbors) for terms in (recorded, proposed)
    )
    fixed = tuple(
        f"{name} is {old}, not {new}"
        for name, old, new in (
            ("dataset", recorded.dataset, proposed.dataset),
            ("neighbors", relation, proposed_relation),
            ("accounting", recorded.accounting.value, proposed.accounting.value),
        )
        if old != new
    )
    if proposed_units > units:
        # It was charged the loss of fewer units; that of so many may be many times as much.
        fixed += (f"its charges hide groups of {units}, not of {proposed_units}",)
    amounts = (
        ("cap", recorded.cap.amount, proposed.cap.amount),
        ("delta", recorded.cap.delta, proposed.cap.delta),
        # ρ at a larger δ shows as a smaller ε, so the stated promise would weaken unseen.
        ("conversion delta", recorded.conversion_delta, proposed.conversion_delta),
    )
    words = [
        (f"{name} is {format_amount(old)}, not {format_amount(new)}", new - old)
        for name, old, new in amounts
    ]
    if proposed_units < units:
        words.append(
            (f"group size is {units}, not {proposed_units}", Fraction(units - proposed_units))
        )
    return TermsDiff(
        fixed=fixed,
        looser=tuple(text for text, change in words if change > 0),
        tighter=tuple(text for text, change in words if change < 0),
    )


def check_terms(terms: LedgerTerms) -> None:
    """Raises BadParameter for terms that no ledger can have."""
    for name, text in (("dataset", terms.dataset), ("policy hash", terms.policy_hash)):
        check_name(text, name)
    check_text(terms.policy, "policy", LONGEST_POLICY)
    if not isinstance(terms.neighbors, str) or not _RELATION.fullmatch(terms.neighbors):
        raise BadParameter("neighbors is neither add_remove nor change_one, nor of groups of these")
    if not isinstance(terms.accounting, Accounting):
        raise BadParameter("accounting is neither pure, approx, zcdp nor gdp")
    if terms.cap.accounting is not terms.accounting:
        raise BadParameter(f"the cap is no amount of a {terms.accounting.value} ledger")
    check_amount(terms.cap.amount, "the cap")
    check_delta(terms.cap.delta, "the cap's delta")
    check_delta(terms.conversion_delta, "the conversion delta")
    if terms.accounting is Accounting.PURE and terms.cap.delta:
        raise BadParameter("a pure ledger has no delta")
    is_converted = terms.accounting in {Accounting.ZCDP, Accounting.GDP}
    if is_converted != (terms.conversion_delta != 0):
        raise BadParameter("a zcdp or gdp ledger needs a conversion delta, and no other has one")


def _relation(text: str) -> tuple[str, int]:
    """The relation in `neighbors`, and in how many units neighbours differ."""
    match = _RELATION.fullmatch(text)
    if match is None or match[1] is None:
        return text, 1
    return match[1], int(match[2] or 1)


def check_text(text: object, name: str, longest: int = LONGEST_TEXT) -> None:
    """Raises BadParameter unless `text` has at most `longest` characters and is valid in UTF-8."""
    if not isinstance(text, str) or len(text) > longest:
        raise BadParameter(f"{name} is not a text of at most {longest >> 20} MiB")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadParameter(f"{name} is not UTF-8") from None


def check_name(text: object, name: str) -> None:
    """Raises BadParameter unless `text` is one printable line of 1 to 200 characters."""
    if not isinstance(text, str) or not 0 < len(text) <= 200 or not text.isprintable():
        raise BadParameter(f"{name} is not a line of 1 to 200 printable characters")
