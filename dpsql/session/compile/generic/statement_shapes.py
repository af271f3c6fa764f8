"""Texts that differ in constants alone are bound once.

    SELECT dept, count(*) FROM people WHERE age > 30 GROUP BY dept
    SELECT dept, count(*) FROM people WHERE age > 41 GROUP BY dept

A word is taken for a constant only where WHERE compares a column with it and nothing else, and
where it is written so plainly that binding reads it in one way. Which of them are the plan's
parameters is found by a trial: a text with other constants in their places is bound, too, and has
to be the same statement with those constants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct
from sqlglot.tokenizer_core import Token, TokenType

from dpsql.bind.statement import Statement
from dpsql.bind.statements.own_query import quoted_text
from dpsql.emit.dialect.duckdb.parameter import Constants
from dpsql.errors import Span
from dpsql.plan.expression import Column, Compare, Literal
from dpsql.schema.sql_type import Integer
from dpsql.session.compile.generic.compared_words import compared_words
from dpsql.session.compile.generic.constant_words import (
    KINDS,
    ConstantWord,
    constant_words,
    near_constants,
    read_constant,
)
from dpsql.session.compile.generic.instantiation import Template
from dpsql.session.compile.generic.known_words import MAX_WORDS, KnownWords
from dpsql.session.compile.generic.parameters import (
    ConstantComparison,
    Generalisation,
    GenericStatement,
    with_parameters,
)
from dpsql.session.compile.proofs.recently_used import RecentlyUsed
from dpsql.structs import replace

MAX_SHAPES = 64

_TRIALS: Final = 3
"""How many texts of one shape are tried; all others are bound by themselves."""

Shape = tuple[tuple[TokenType, str], ...]

Bind = Callable[[str], Statement | None]


class _WordSpan(Struct, frozen=True):
    """A `span` of a text, and the indices of the first word and the last one that stand there."""

    span: Span
    first: int
    last: int


class _BoundShape(Struct, frozen=True):
    """A statement with parameters, and where they stand among its `words`.

    `spans` are the places in its text that errors name.
    """

    generic: GenericStatement
    plan: Template
    words: tuple[str | None, ...]
    constants: tuple[ConstantWord, ...]
    spans: tuple[_WordSpan, ...]

    def instance(self, words: Sequence[Token]) -> _Instance | None:
        """The statement of a text of this shape; None if it has to be bound by itself."""
        for known, word in zip(self.words, words, strict=True):
            if known is not None and known != word.text:
                return None
        literals: dict[int, Literal] = {}
        for constant in self.constants:
            literal = constant.read(words[constant.index])
            if literal is None or literals.setdefault(constant.number, literal) != literal:
                return None
        values = tuple(literals[number] for number in range(len(literals)))
        spans = {
            each.span: Span(words[each.first].start, words[each.last].end + 1)
            for each in self.spans
        }
        statement = self.with_constants(values, spans)
        if statement is None:
            return None
        return _Instance(statement, (self.generic, values), len(words) <= MAX_WORDS)

    def with_constants(
        self, literals: tuple[Literal, ...], spans: Mapping[Span, Span]
    ) -> Statement | None:
        """The statement with `literals`, in their order; None if they make another plan."""
        if len(set(literals)) < len(literals):
            return None  # equal constants are one parameter
        for literal, comparisons in zip(literals, self.generic.comparisons, strict=True):
            if not all(each.accepts(literal) for each in comparisons):
                return None
        plan = self.plan.instance(Constants(literals, {}, spans))
        return replace(self.generic.statement, plan=plan)


class _Instance(Struct, frozen=True):
    """A statement that was made of one with parameters, and what it was made of.

    `is_short`: its text has so few words that it nests no deeper than any thread's stack is.
    """

    statement: Statement
    generalisation: Generalisation
    is_short: bool


class _Known(Struct, frozen=True):
    """What is known of texts of one shape: how many were bound, and the statements they were."""

    bound: int = 0
    shapes: tuple[_BoundShape, ...] = ()


class StatementShapes:
    """The shapes of texts that were bound last, and the last statements that were made of them."""

    def __init__(self, size: int = MAX_SHAPES) -> None:
        self.texts = KnownWords(size)
        self._known: RecentlyUsed[Shape, _Known] = RecentlyUsed(size)
        # A statement that is remembered is held, so that its id stays its own.
        self._instances: RecentlyUsed[int, _Instance] = RecentlyUsed(size)
        self._generalised: RecentlyUsed[int, tuple[Statement, Generalisation | None]]
        self._generalised = RecentlyUsed(size)

    def statement(self, words: Sequence[Token]) -> Statement | None:
        """What a text of these `words` is bound to; None if that isn't known."""
        known = self._known.get(_shape(words)) or _Known()
        instances = (shape.instance(words) for shape in known.shapes)
        instance = next((one for one in instances if one is not None), None)
        if instance is None:
            return None
        self._instances.put(id(instance.statement), instance)
        return instance.statement

    def is_short(self, statement: Statement) -> bool:
        """Whether `statement` was made of a shape, and nests no deeper than any stack is."""
        instance = self._instances.get(id(statement))
        return instance is not None and instance.is_short

    def generic(self, statement: Statement) -> Statement | None:
        """The statement with parameters that `statement` was made of; None if of none."""
        instance = self._instances.get(id(statement))
        return None if instance is None else instance.generalisation[0].statement

    def generalised(self, statement: Statement) -> Generalisation | None:
        """As of `with_parameters`: one that was made of a shape is that with its constants."""
        instance = self._instances.get(id(statement))
        if instance is not None:
            return instance.generalisation
        known = self._generalised.get(id(statement))
        if known is None or known[0] is not statement:
            known = statement, with_parameters(statement)
            self._generalised.put(id(statement), known)
        return known[1]

    def learn(self, sql: str, words: list[Token], statement: Statement, bind: Bind) -> None:
        """`sql`, which has these `words`, is `statement`, for as long as `bind` binds it so."""
        key = _shape(words)
        known = self._known.get(key) or _Known()
        if known.bound > _TRIALS:
            return
        # What is asked once isn't tried: most texts of an analyst are.
        shape = _bound_shape(sql, words, statement, bind) if known.bound else None
        shapes = known.shapes if shape is None else (*known.shapes, shape)
        self._known.put(key, _Known(known.bound + 1, shapes))


def _shape(words: Sequence[Token]) -> Shape:
    """The words, but for what numbers and texts there are."""
    return tuple((word.token_type, "" if word.token_type in KINDS else word.text) for word in words)


def _bound_shape(
    sql: str, words: list[Token], statement: Statement, bind: Bind
) -> _BoundShape | None:
    """The shape of `sql`, if a text with other constants is bound to the same with those."""
    generalisation = with_parameters(statement)
    if generalisation is None:
        return None
    generic, literals = generalisation
    if not all(_is_plain(each.condition) for of in generic.comparisons for each in of):
        return None
    constants = tuple(constant_words(words, compared_words(sql, words), literals))
    if {each.number for each in constants} < set(range(len(literals))):
        return None
    template = Template(generic.statement.plan, generic.types)
    spans = _word_spans(template.spans, words)
    if spans is None or statement.single:
        return None
    indices = {each.index for each in constants}
    known = tuple(None if n in indices else word.text for n, word in enumerate(words))
    shape = _BoundShape(generic, template, known, constants, spans)
    other = _other_text(sql, words, shape)
    if other is None:
        return None
    text, others = other
    expected = shape.with_constants(others, {})
    return shape if expected is not None and bind(text) == expected else None


def _word_spans(spans: Iterable[Span], words: Sequence[Token]) -> tuple[_WordSpan, ...] | None:
    """The words of `spans`; None if one begins or ends within a word."""
    starts = {word.start: index for index, word in enumerate(words)}
    ends = {word.end + 1: index for index, word in enumerate(words)}
    if not all(span.start in starts and span.end in ends for span in spans):
        return None
    return tuple(_WordSpan(span, starts[span.start], ends[span.end]) for span in spans)


def _is_plain(condition: Compare) -> bool:
    """Whether both sides have the types that they have whatever the constant is.

    A column of few bits is converted for the sake of an integer that these don't hold; decimals are
    converted for the sake of digits, which are as many in all texts of a shape.
    """
    return isinstance(condition.left, Column) or not isinstance(condition.right.type, Integer)


def _other_text(
    sql: str, words: Sequence[Token], shape: _BoundShape
) -> tuple[str, tuple[Literal, ...]] | None:
    """`sql` with other constants, and these; None if no others leave the plan as it is."""
    others: dict[int, tuple[str, Literal]] = {}
    parts, last = [], 0
    for constant in shape.constants:
        word = words[constant.index]
        if constant.number not in others:
            comparisons = shape.generic.comparisons[constant.number]
            other = _another(word, constant.like, comparisons)
            if other is None:
                return None
            others[constant.number] = other
        written = others[constant.number][0]
        shown = quoted_text(written) if word.token_type is TokenType.STRING else written
        parts += [sql[last : word.start], shown]
        last = word.end + 1
    return "".join([*parts, sql[last:]]), tuple(others[n][1] for n in range(len(others)))


def _another(
    word: Token, literal: Literal, comparisons: Sequence[ConstantComparison]
) -> tuple[str, Literal] | None:
    """Another constant that leaves the plan as it is, and how it is written."""
    listed = comparisons[0].declared.values or ()
    for written in near_constants(word.text, literal.value, listed):
        other = read_constant(word.token_type, written, literal)
        if other is None or other == literal:
            continue
        if all(each.accepts(other) for each in comparisons):
            return written, other
    return None
