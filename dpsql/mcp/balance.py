"""What was spent and is left: of the dataset, of its analyst, and of what the server may."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from dpsql.dbapi.budget import Allowance, Budget
from dpsql.mcp.purse import Purse
from dpsql.mcp.reply import BudgetReply, Left
from dpsql.privacy.loss import Accounting

_ADDS_UP: Final = "a statement's epsilon is subtracted from what is left"
_ADDS_UP_AS_RHO: Final = (
    "losses add up as rho: spent is the epsilon of all statements together, left that of one last"
    " statement, and the two add up to more than the cap"
)


def balance_told(budget: Budget, purse: Purse, epsilon: Fraction) -> BudgetReply:
    """All three, and how many queries of `epsilon` there is room for."""
    is_rho = budget.accounting == Accounting.ZCDP.value
    return BudgetReply(
        budget.analyst,
        budget.accounting,
        float(epsilon),
        min(budget.queries_left, purse.queries_left(epsilon)),
        _left(budget.dataset),
        _left(budget.own),
        purse.told(),
        _ADDS_UP_AS_RHO if is_rho else _ADDS_UP,
    )


def _left(found: Allowance) -> Left:
    cap, left = found.epsilon_cap, found.epsilon_left
    return Left(
        None if cap is None else float(cap),
        float(found.epsilon_spent),
        None if left is None else float(left),
    )
