"""set_config() and current_setting() in a SELECT of their own: what they ask of the session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from sqlglot import exp

from dpsql.pgwire.codec.parameter import Bound
from dpsql.pgwire.sql.translate import Translated
from dpsql.plan.expression import Literal

_COUNTS: Final = {"set_config": (3,), "current_setting": (1, 2)}
"""How many arguments each function may have."""


class SettingCall(Struct, frozen=True):
    """A call of set_config(), which `sets`, or of current_setting(), with constants; None: NULL."""

    sets: bool
    arguments: tuple[str | None, ...]


def setting_calls(query: Translated, parameters: Mapping[str, Bound]) -> tuple[SettingCall, ...]:
    """The columns of `query`, if it is a SELECT of nothing but such calls; else none."""
    # A tree is copied, or read from its text again, for whoever asks for it.
    text = query.written.casefold()
    if not any(name in text for name in _COUNTS):
        return ()
    tree = query.tree
    if not isinstance(tree, exp.Select) or any(
        value for name, value in tree.args.items() if name != "expressions"
    ):
        return ()
    calls = [_call(item.unalias(), parameters) for item in tree.expressions]
    return tuple(call for call in calls if call) if all(calls) else ()


def _call(node: exp.Expr, parameters: Mapping[str, Bound]) -> SettingCall | None:
    if isinstance(node, exp.Dot) and node.this.name.lower() == "pg_catalog":
        node = node.expression
    name = node.name.lower() if isinstance(node, exp.Anonymous) else ""
    if len(node.expressions) not in _COUNTS.get(name, ()):
        return None
    try:
        values = tuple(_constant(argument, parameters) for argument in node.expressions)
    except TypeError:
        return None
    return SettingCall(name == "set_config", values)


def _constant(node: exp.Expr, parameters: Mapping[str, Bound]) -> str | None:
    match node:
        case exp.Cast() | exp.Paren():
            return _constant(node.this, parameters)
        case exp.Null():
            return None
        case exp.Boolean():
            return "true" if node.this else "false"
        case exp.Literal():
            return str(node.this)
        case exp.Parameter() | exp.Placeholder():
            match parameters.get(node.name):
                case Literal(value=bool() as truth):
                    return "true" if truth else "false"
                case Literal(value=str() | int() as value):
                    return str(value)
                case Literal(value=None):
                    return None
                case _:
                    raise TypeError
        case _:
            raise TypeError
