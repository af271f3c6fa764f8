"""What was compiled of a generic plan, with constants in the places of its parameters.

The parts that have a parameter are found once; each time, only they are built anew, each once,
however often it occurs. What has no parameter is shared by all statements of the plan.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from dpsql.emit.dialect.duckdb.parameter import Constants, ParameterizedText
from dpsql.emit.sql.parameter_mark import filled, has_marks
from dpsql.errors import Span
from dpsql.physical.cached_sums import cache_name
from dpsql.plan.bounded_release.engine_query import CachedSums, EngineQuery, Histogram
from dpsql.plan.expression import Parameter
from dpsql.schema.sql_type import SqlType
from dpsql.structs import field_names, has_fields, replace

_Builder = Callable[[list[Any], Constants], Any]
"""Builds a part of those that were built before it, which it knows by their indices."""

_PACKAGES: Final = ("dpsql.plan.", "dpsql.physical.", "dpsql.release.", "dpsql.session.")
"""Where classes are defined whose values may have a parameter; a schema's table has none."""


class Template:
    """A value with parameters of these `types`, of which `instance` makes values without.

    `spans` are the places in its text that are others in another text; none are if `is_compiled`.
    """

    def __init__(
        self, value: Any, types: tuple[SqlType, ...], *, is_compiled: bool = False
    ) -> None:
        self.spans: set[Span] = set()
        self._value = value
        self._types = types
        self._is_compiled = is_compiled
        self._builders: list[_Builder] = []
        self._indices: dict[int, int | None] = {}
        self._whole = self._index(value)

    def instance(self, values: Constants) -> Any:
        """The value with these constants."""
        parts: list[Any] = []
        for builder in self._builders:
            parts.append(builder(parts, values))
        return self._value if self._whole is None else parts[self._whole]

    def _index(self, value: Any) -> int | None:
        """The index of the part that is `value`; None if `value` has no parameter."""
        known = id(value)  # `self._value` keeps them all
        if known not in self._indices:
            builder = self._builder(value)
            if builder is None:
                self._indices[known] = None
            else:
                self._builders.append(builder)
                self._indices[known] = len(self._builders) - 1
        return self._indices[known]

    def _builder(self, value: Any) -> _Builder | None:
        match value:
            case Parameter(number=number):
                return lambda _, values: values.literals[number]
            case Span() if not self._is_compiled:
                self.spans.add(value)
                return lambda _, values: values.spans.get(value, value)
            case EngineQuery():
                return self._engine_query(value)
            case Histogram():
                return self._texts(value)
            case CachedSums():
                return self._cached_sums(value)
            case tuple() if type(value) is tuple:
                return self._items(value)
            case Mapping():
                return self._mapping(value)
            case _:
                kind = type(value)
                is_walked = kind.__module__.startswith(_PACKAGES) and has_fields(kind)
                return self._fields(value) if is_walked else None

    def _items(self, value: tuple[Any, ...]) -> _Builder | None:
        indices = [self._index(item) for item in value]
        if all(index is None for index in indices):
            return None
        pairs = tuple(zip(value, indices, strict=True))
        return lambda parts, _: tuple(
            [item if index is None else parts[index] for item, index in pairs]
        )

    def _mapping(self, value: Mapping[Any, Any]) -> _Builder | None:
        keys, items = self._items(tuple(value)), self._items(tuple(value.values()))
        if keys is None and items is None:
            return None
        old_keys, old_items = tuple(value), tuple(value.values())

        def rebuilt(parts: list[Any], values: Constants) -> dict[Any, Any]:
            new_keys = old_keys if keys is None else keys(parts, values)
            new_items = old_items if items is None else items(parts, values)
            return dict(zip(new_keys, new_items, strict=True))

        return rebuilt

    def _fields(self, value: Any) -> _Builder | None:
        indices = {name: self._index(getattr(value, name)) for name in field_names(type(value))}
        changed = tuple((name, index) for name, index in indices.items() if index is not None)
        if not changed:
            return None
        return lambda parts, _: replace(value, **{name: parts[index] for name, index in changed})

    def _engine_query(self, query: EngineQuery) -> _Builder | None:
        texts = self._texts(query)
        if texts is None or not has_marks(query.sql) or query.summed is not None:
            return texts
        text = ParameterizedText(query.sql, self._types, int(query.salted))

        def rebuilt(parts: list[Any], values: Constants) -> EngineQuery:
            written: EngineQuery = texts(parts, values)
            return replace(written, parameterized=text.with_values(values.literals))

        return rebuilt

    def _cached_sums(self, sums: CachedSums) -> _Builder | None:
        texts = self._texts(sums)
        return None if texts is None else lambda parts, values: _renamed(texts(parts, values))

    def _texts(self, value: EngineQuery | Histogram | CachedSums) -> _Builder | None:
        """What fills the constants into all SQL of `value`."""
        texts = {name: getattr(value, name) for name in field_names(type(value))}
        marked = {n: t for n, t in texts.items() if isinstance(t, str) and has_marks(t)}
        rest = self._fields(value)
        if not marked and rest is None:
            return None

        def rebuilt(parts: list[Any], values: Constants) -> Any:
            whole = value if rest is None else rest(parts, values)
            return replace(whole, **{n: filled(t, values.texts) for n, t in marked.items()})

        return rebuilt


def _renamed(sums: CachedSums) -> CachedSums:
    """`sums`, which are kept under the name that follows from their own text."""
    name = cache_name(sums.sums)
    return replace(sums, name=name, totals=sums.totals.replace(sums.name, name))
