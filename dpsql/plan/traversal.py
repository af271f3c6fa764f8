"""Traversals of plans and expressions, generic over the fields of nodes: they list no operator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum, auto
from operator import is_not
from typing import Any, Final, TypeVar, assert_never, get_args

from dpsql.plan.expression import Column, Expression
from dpsql.plan.operator import Plan, Release
from dpsql.structs import field_names, has_fields, replace

Node = TypeVar("Node")


class _Visit(Enum):
    """What a traversal does with a value.

    NODE: it is one of the nodes that the traversal looks for. ITEMS: look at its items. FIELDS:
    look at its fields. SKIP: look no further.
    """

    NODE = auto()
    ITEMS = auto()
    FIELDS = auto()
    SKIP = auto()


# Plans are walked all the time: a member is looked up in its class each time, which takes longer.
_NODE: Final = _Visit.NODE
_ITEMS: Final = _Visit.ITEMS
_FIELDS: Final = _Visit.FIELDS
_SKIP: Final = _Visit.SKIP


class _Kinds(dict[type, _Visit]):
    """The classes of nodes that a traversal looks for, and what it does with values of each class.

    The rule for a class is computed once, since plans are walked all the time. Only classes of
    dpsql.plan are walked into: not a schema's table, for example; and no operator is part of an
    expression.
    """

    def __init__(self, kinds: tuple[type, ...]) -> None:
        super().__init__()
        self._kinds = kinds

    def __missing__(self, kind: type) -> _Visit:
        if issubclass(kind, self._kinds):
            visit = _Visit.NODE
        elif issubclass(kind, tuple):
            visit = _Visit.ITEMS
        elif issubclass(kind, get_args(Expression)):
            visit = _Visit.SKIP
        else:
            own = kind.__module__.startswith("dpsql.plan.")
            visit = _Visit.FIELDS if own and has_fields(kind) else _Visit.SKIP
        self[kind] = visit
        return visit


_PLAN = _Kinds(get_args(Plan))
_EXPRESSION = _Kinds(get_args(Expression))
_ABOVE = _Kinds((*get_args(Expression), Release))


def bottom_up(rule: Callable[[Plan], Plan], plan: Plan) -> Plan:
    """Apply `rule` to every operator of `plan`, sources first."""
    return rule(_rebuild(plan, lambda child: bottom_up(rule, child), _PLAN))


def replace_sources(rule: Callable[[Plan], Plan], plan: Plan) -> Plan:
    """`plan` with `rule` applied to each operator directly below it."""
    return _rebuild(plan, rule, _PLAN)


def rewrite_expression(
    rule: Callable[[Expression], Expression], expression: Expression
) -> Expression:
    """Apply `rule` to every part of `expression`, operands first."""
    return rule(_rebuild(expression, lambda child: rewrite_expression(rule, child), _EXPRESSION))


def operators(plan: Plan) -> Iterator[Plan]:
    """Every operator of `plan`, sources first."""
    return _sources_first(plan, _PLAN)


def sources(plan: Plan) -> Iterator[Plan]:
    """The operators directly below `plan`."""
    yield from _children(plan, _PLAN)


def subexpressions(expression: Expression) -> Iterator[Expression]:
    """Every part of `expression`, the whole last."""
    return _sources_first(expression, _EXPRESSION)


def _sources_first(node: Any, kinds: _Kinds) -> Iterator[Any]:
    # Generators within generators would hand each part up through all levels above it.
    waiting: list[Any] = [node]
    nodes: list[Any] = []
    while waiting:
        last = waiting.pop()
        nodes.append(last)
        waiting += _children(last, kinds)
    return iter(nodes[::-1])


def operands(expression: Expression) -> Iterator[Expression]:
    """The expressions directly below `expression`."""
    yield from _children(expression, _EXPRESSION)


def columns(*expressions: Expression | None) -> frozenset[Column]:
    """The columns that any of `expressions` reads."""
    read: set[Column] = set()
    waiting: list[Any] = [e for e in expressions if e is not None]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Column):
            read.add(part)  # it has no operands
        else:
            waiting += _children(part, _EXPRESSION)
    return frozenset(read)


def _rebuild(node: Node, rule: Callable[[Any], Any], kinds: _Kinds) -> Node:
    """`node` with `rule` applied to the nearest descendants that are of `kinds`."""
    changed: dict[str, Any] = {}
    for name in _NAMES[type(node)]:
        before = getattr(node, name)
        if kinds[type(before)] is _SKIP:
            continue
        after = _apply(before, rule, kinds)
        if after is not before:
            changed[name] = after
    return replace(node, **changed) if changed else node  # type: ignore[type-var]


def _apply(value: Any, rule: Callable[[Any], Any], kinds: _Kinds) -> Any:
    visit = kinds[type(value)]
    if visit is _SKIP:
        return value
    if visit is _NODE:
        return rule(value)
    if visit is _ITEMS:
        items = tuple([_apply(item, rule, kinds) for item in value])
        return items if any(map(is_not, items, value)) else value
    if visit is _FIELDS:
        return _rebuild(value, rule, kinds)
    assert_never(visit)


def _children(node: Any, kinds: _Kinds) -> list[Any]:
    nodes: list[Any] = []
    for name in _NAMES[type(node)]:
        value = getattr(node, name)
        visit = kinds[type(value)]
        if visit is _SKIP:  # most are names, numbers and types
            continue
        if visit is _NODE:
            nodes.append(value)
        else:
            _collect(value, kinds, nodes)
    return nodes


def _collect(value: Any, kinds: _Kinds, nodes: list[Any]) -> None:
    """Add the nearest parts of `value` that are of `kinds` to `nodes`."""
    visit = kinds[type(value)]
    if visit is _NODE:
        nodes.append(value)
    elif visit is _ITEMS:
        for item in value:
            _collect(item, kinds, nodes)
    elif visit is _FIELDS:
        nodes += _children(value, kinds)
    elif visit is not _SKIP:
        assert_never(visit)


class _Names(dict[type, tuple[str, ...]]):
    """The fields of each class that was met."""

    def __missing__(self, kind: type) -> tuple[str, ...]:
        names = self[kind] = field_names(kind)
        return names


_NAMES: Final = _Names()


def renamed_columns(rule: Callable[[Column], Column], plan: Plan) -> Plan:
    """`plan` with `rule` applied to every column of its private and public rows.

    Columns of releases, and all below a release, stay as they are, so that it is still one release.
    """
    above = [part for part in operators(plan) if isinstance(part, Release)]
    released = {key.column for part in above for key in part.keys}
    released |= {output.column for part in above for output in part.aggregates}
    released |= {output.column for part in above for output in part.chosen}

    def changed(part: Any) -> Any:
        if isinstance(part, Release) or part in released:
            return part
        return rule(part) if isinstance(part, Column) else _rebuild(part, changed, _ABOVE)

    return _rebuild(plan, changed, _ABOVE)


def rewrite_top_down(
    rule: Callable[[Expression], Expression | None], expression: Expression
) -> Expression:
    """Replace the largest parts of `expression` for which `rule` returns an expression."""
    replaced = rule(expression)
    if replaced is not None:
        return replaced
    return _rebuild(expression, lambda child: rewrite_top_down(rule, child), _EXPRESSION)


def expressions(part: Any) -> Iterator[Expression]:
    """The outermost expressions in a part of a plan."""
    outermost: list[Expression] = []
    if isinstance(part, tuple):
        _collect(part, _EXPRESSION, outermost)
    else:
        outermost = _children(part, _EXPRESSION)
    yield from outermost
