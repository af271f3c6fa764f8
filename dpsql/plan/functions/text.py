"""Text: case, parts, search, joining, digests; lengths and positions that matter are constants."""

from __future__ import annotations

from dpsql.plan.expression import Call, Expression, Literal
from dpsql.plan.functions.domain_rules import boolean, interval, nullable, top
from dpsql.plan.functions.function import (
    Application,
    Function,
    Rule,
    Signature,
    Totalization,
    Types,
)
from dpsql.plan.functions.type_rules import first, fixed, texts
from dpsql.privacy.domain import Domain
from dpsql.schema.sql_type import (
    BIGINT,
    Boolean,
    Double,
    Integer,
    Interval,
    Null,
    Varchar,
)

_TEXT = Varchar()
_INT = Integer(32)
MAX_CHARACTERS = 1_000
"""The longest text that a constant may put in place of a shorter one."""

MAX_GROWTH = 100_000
"""The largest factor by which replacements in one expression may lengthen a text."""

_CODE_POINTS = 0x10FFFF


def _positions(arguments: tuple[Expression, ...]) -> bool:
    """Offsets and lengths are constants of 32 bits; longer ones raise."""
    return all(
        isinstance(a, Literal) and (a.value is None or abs(_number(a)) < 2**31)
        for a in arguments[1:]
    )


def _number(literal: Literal) -> int:
    return literal.value if isinstance(literal.value, int) else 2**31


def _part(arguments: tuple[Expression, ...]) -> bool:
    return isinstance(arguments[2], Literal) and abs(_number(arguments[2])) < 2**31


def _padded(arguments: tuple[Expression, ...]) -> bool:
    """The text is padded to a short length, with a fill that isn't empty."""
    length, fill = arguments[1:]
    return (
        isinstance(length, Literal)
        and abs(_number(length)) <= MAX_CHARACTERS
        and isinstance(fill, Literal)
        and isinstance(fill.value, str)
        and 0 < len(fill.value) <= MAX_CHARACTERS
    )


def _length(maximum: int) -> Rule:
    """The rule of a length: from 0 to `maximum` for each character."""

    def rule(application: Application) -> Domain:
        (text,) = application.domains
        return interval(0, None if text.length is None else maximum * text.length)(application)

    return rule


def _no_longer(application: Application) -> Domain:
    """The domain of a part of the first argument, which has no more characters."""
    return Domain(nullable=application.null, declared_length=application.domains[0].length)


def _short(arguments: tuple[Expression, ...]) -> bool:
    """Replacements are constants that can't lengthen a text out of hand, nor can nested calls."""
    return growth(arguments) <= MAX_GROWTH and all(
        isinstance(a, Literal) and isinstance(a.value, str) and len(a.value) <= MAX_CHARACTERS
        for a in arguments[1:]
    )


def growth(arguments: tuple[Expression, ...]) -> int:
    """The factor by which a call, with the calls in it, may lengthen a text by replacements."""
    longest = max(
        (
            len(a.value)
            for a in arguments[2:]
            if isinstance(a, Literal) and isinstance(a.value, str)
        ),
        default=1,
    )
    inner = arguments[0]
    nested = growth(inner.arguments) if isinstance(inner, Call) and inner.arguments else 1
    return max(longest, 1) * nested


def _printed(min_length: int) -> Types:
    """The rule for values of any type, printed as text, of `min_length` arguments at least.

    An interval has no single form, and a double is cast to its text first.
    """

    def types(arguments: tuple[Expression, ...]) -> Signature | None:
        kinds = tuple(
            _TEXT if isinstance(argument.type, Null | Double) else argument.type
            for argument in arguments
        )
        if len(kinds) < min_length or any(isinstance(kind, Interval) for kind in kinds):
            return None
        return Signature(kinds, _TEXT)

    return types


def _separated(arguments: tuple[Expression, ...]) -> Signature | None:
    return _printed(2)(arguments) if arguments and arguments[0].type == _TEXT else None


def _never_null(application: Application) -> Domain:
    del application
    return Domain(nullable=False)


def _as_separator(application: Application) -> Domain:
    """The domain of concat_ws: NULLs are skipped, but a NULL separator makes all NULL."""
    return Domain(nullable=application.domains[0].nullable)


def _text(name: str, *aliases: str) -> Function:
    return Function(name, texts(1, _TEXT), top, Totalization.PLAIN, f"{name}(text)", aliases)


def _trim(name: str) -> Function:
    types = first(texts(1, _TEXT), texts(2, _TEXT))
    return Function(name, types, _no_longer, Totalization.PLAIN, f"{name}(text, 'x')")


def _search(name: str, result: Types, rule: Rule, *aliases: str) -> Function:
    return Function(name, result, rule, Totalization.PLAIN, f"{name}(text, 'part')", aliases)


def _side(name: str) -> Function:
    return Function(
        name,
        fixed(_TEXT, BIGINT, gives=_TEXT),
        _no_longer,
        Totalization.PLAIN,
        f"{name}(text, 3)",
        constants=frozenset({1}),
        accepts=_positions,
    )


def _pad(name: str) -> Function:
    return Function(
        name,
        fixed(_TEXT, _INT, _TEXT, gives=_TEXT),
        top,
        Totalization.PLAIN,
        f"{name}(text, 8, '0')",
        constants=frozenset({1, 2}),
        accepts=_padded,
    )


def _replacing(name: str) -> Function:
    return Function(
        name,
        texts(3, _TEXT),
        top,
        Totalization.PLAIN,
        f"{name}(text, 'a', 'b')",
        constants=frozenset({1, 2}),
        accepts=_short,
    )


TEXT = (
    _text("lower", "lcase"),
    _text("upper", "ucase"),
    _text("reverse"),
    _text("strip_accents"),
    _text("nfc_normalize"),
    _text("md5"),
    _text("sha1"),
    _text("sha256"),
    _trim("trim"),
    _trim("ltrim"),
    _trim("rtrim"),
    Function(
        "length",
        texts(1, BIGINT),
        _length(1),
        Totalization.PLAIN,
        "length(text)",
        ("len", "char_length", "character_length"),
    ),
    Function("strlen", texts(1, BIGINT), _length(4), Totalization.PLAIN, "strlen(text)"),
    Function("ascii", texts(1, _INT), interval(0, _CODE_POINTS), Totalization.PLAIN, "ascii(text)"),
    Function(
        "unicode",
        texts(1, _INT),
        interval(-1, _CODE_POINTS),
        Totalization.PLAIN,
        "unicode(text)",
        ("ord",),
    ),
    Function("chr", fixed(_INT, gives=_TEXT), nullable, Totalization.TRY, "chr(65)"),
    _side("left"),
    _side("right"),
    Function(
        "substring",
        first(fixed(_TEXT, BIGINT, gives=_TEXT), fixed(_TEXT, BIGINT, BIGINT, gives=_TEXT)),
        _no_longer,
        Totalization.PLAIN,
        "substring(text FROM 1 FOR 2)",
        ("substr",),
        constants=frozenset({1, 2}),
        accepts=_positions,
    ),
    Function(
        "split_part",
        fixed(_TEXT, _TEXT, BIGINT, gives=_TEXT),
        _no_longer,
        Totalization.PLAIN,
        "split_part(text, '-', 1)",
        constants=frozenset({2}),
        accepts=_part,
    ),
    _search("contains", texts(2, Boolean()), boolean),
    _search("starts_with", texts(2, Boolean()), boolean, "prefix", "^@"),
    _search("ends_with", texts(2, Boolean()), boolean, "suffix"),
    _search("strpos", texts(2, BIGINT), interval(0, None), "instr", "position"),
    _replacing("replace"),
    _replacing("translate"),
    _pad("lpad"),
    _pad("rpad"),
    Function("||", _printed(2), top, Totalization.PLAIN, "text || 'more'"),
    Function("concat", _printed(1), _never_null, Totalization.PLAIN, "concat(text, 'more')"),
    Function("concat_ws", _separated, _as_separator, Totalization.PLAIN, "concat_ws('-', a, b)"),
)
