"""A human's approval of statements above a price.

Clients of today's protocol get a question in the midst of a call. Clients of the newest protocol
get a reply that an input is missing, and repeat the call with that input; the second call has to
have the same arguments as the first.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from contextlib import suppress
from fractions import Fraction
from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import (
    CallToolRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from msgspec import Struct

from dpsql.errors import OperationalError
from dpsql.mcp.tool_arguments import Query, QueryBatch

_MAX_OPEN: Final = 100
_KEY: Final = "approval"
_SPEND: Final = "spend"
_FORM: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {_SPEND: {"type": "boolean", "title": "Spend it", "default": False}},
    "required": [_SPEND],
}
_MAX_SIGNS: Final = 4_000


class NotApproved(OperationalError):
    """A call needed a human's approval, and didn't get it."""

    sqlstate = "57014"


class ApprovalRequest(Struct, frozen=True):
    """A call that needs approval: its ε, and the ε that the server has left for all statements."""

    request: Query | QueryBatch
    cost: Fraction
    left: float


class Approvals:
    """The questions that wait for a human by their tokens; each is answered once."""

    def __init__(self) -> None:
        self._open: OrderedDict[str, ApprovalRequest] = OrderedDict()

    async def ask(
        self,
        context: ServerRequestContext[Any],
        params: CallToolRequestParams,
        about: ApprovalRequest,
    ) -> InputRequiredResult | None:
        """None if a human has approved the call, or the question that the client has to ask.

        Raises NotApproved if the client can't ask, if a human has declined, or couldn't be shown
        the whole of it.
        """
        if not _can_ask(context):
            raise NotApproved(
                f"a human has to agree to a cost of epsilon = {float(about.cost):.6g}, and this"
                " client can't ask one; nothing was charged",
                hint="ask with less epsilon, or run the statement with dpsql query",
            )
        if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            _check(await _answer(context, about))
            return None
        responses = params.input_responses or {}
        earlier = self._open.pop(params.request_state or "", None)
        if earlier is not None and earlier.request == about.request and earlier.cost >= about.cost:
            _check(responses.get(_KEY))
            return None
        question = ElicitRequestFormParams(message=_text(about), requested_schema=_FORM)
        token = secrets.token_urlsafe(32)
        self._open[token] = about
        while len(self._open) > _MAX_OPEN:
            self._open.popitem(last=False)
        return InputRequiredResult(
            input_requests={_KEY: ElicitRequest(params=question)}, request_state=token
        )


def _can_ask(context: ServerRequestContext[Any]) -> bool:
    capabilities = context.session.client_capabilities
    elicitation = None if capabilities is None else capabilities.elicitation
    # Older protocols have forms alone, and don't name the kind: then both are None.
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


async def _answer(
    context: ServerRequestContext[Any], about: ApprovalRequest
) -> ElicitResult | None:
    """A human's answer to a form; None if the client failed to ask."""
    with suppress(MCPError):
        return await context.session.elicit_form(_text(about), _FORM, context.request_id)
    return None


def _check(answer: object) -> None:
    if not (isinstance(answer, ElicitResult) and _says_yes(answer)):
        raise NotApproved(
            "a human hasn't agreed to the cost; nothing was charged",
            hint="ask with less epsilon, or for something that was asked before",
        )


def _says_yes(answer: ElicitResult) -> bool:
    return answer.action == "accept" and (answer.content or {}).get(_SPEND) is True


def _text(about: ApprovalRequest) -> str:
    """The question for a human; unprintable characters of the statement are escaped.

    Raises NotApproved where there is more than a human would be shown: the rest, unseen, may be
    what asks for most.
    """
    request = about.request
    if isinstance(request, Query):
        subject, sql = "this statement", request.sql.strip()
    else:
        subject = f"these {len(request.statements)} statements together"
        sql = ";\n\n".join(one.strip() for one in request.statements)
    shown = "".join(
        sign if sign.isprintable() or sign == "\n" else sign.encode("unicode_escape").decode()
        for sign in sql[: _MAX_SIGNS + 1]
    )
    if len(shown) > _MAX_SIGNS:
        raise NotApproved(
            f"a human has to agree to this cost, and is shown {_MAX_SIGNS:,} signs of statements at"
            " most; nothing was charged",
            hint="ask with shorter statements, fewer at once, or less epsilon",
        )
    return (
        f"May {subject} spend epsilon = {float(about.cost):.6g} of the dataset's privacy"
        f" budget? The server has {about.left:.6g} left for all statements.\n\n{shown}"
    )
