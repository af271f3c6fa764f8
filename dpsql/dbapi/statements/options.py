"""OPTIONS (…) at the end of a statement: settings that hold for it alone.

    SELECT count(*) FROM orders OPTIONS (max_error = 500, max_cost = 0.1)

They are cut off before the query is parsed, so that none of them reaches it. A table's alias may be
called options: what follows the word tells which is meant.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from dpsql.dbapi.statements.assignment import READ_ONLY, Assignment, Setting
from dpsql.dbapi.statements.settings import updated
from dpsql.errors import BadParameter, Error, Refused, Span, SyntaxFault
from dpsql.near_name import near_name
from dpsql.schema.model import Schema
from dpsql.session.options import QueryOptions
from dpsql.sqltext.tokens import Kind, Word, words
from dpsql.structs import replace

OPTIONS: Final = tuple(setting.value for setting in Setting if setting not in READ_ONLY)
"""What a statement may set for itself: all that SET changes."""

_MAYBE: Final = re.compile("options|differential_privacy", re.IGNORECASE)
_SET: Final = re.compile(r"SET dpsql\.(\w+) = ([^\s,]+)")
_EXAMPLE: Final = "SELECT … OPTIONS (epsilon = 0.1)"


def split_options(sql: str) -> tuple[str, tuple[Assignment, ...]]:
    """`sql` up to its OPTIONS, and what they set; all of it, and nothing, where it has none."""
    if not _MAYBE.search(sql):
        return sql, ()
    tokens = [word for word in words(sql) if word.text != ";"]
    _not_as_elsewhere(tokens)
    for index in range(len(tokens) - 2):
        if not _are_options(tokens[index : index + 4], tokens[index - 1] if index else None):
            continue
        end = next((n for n in range(index, len(tokens)) if tokens[n].text == ")"), None)
        if end != len(tokens) - 1:
            raise SyntaxFault(
                "OPTIONS stand at the end of the whole statement, once",
                at=tokens[index].span,
                hint=f"write {_EXAMPLE}",
            )
        return sql[: tokens[index].start], tuple(_changes(tokens[index + 2 : end]))
    return sql, ()


def last_with(sql: str, start: int) -> tuple[list[Word], Word | None, list[Word]]:
    """The words of `sql` from `start` on, their last WITH, and its options with their parentheses.

    None, and nothing, unless these parentheses are closed last of all.
    """
    rest = [word for word in words(sql, start) if word.text != ";"]
    at = max((n for n, word in enumerate(rest) if word.folded == "with"), default=len(rest))
    match rest[at:]:
        case [own, first, *_, last] if (first.text, last.text) == ("(", ")"):
            return rest, own, rest[at + 1 :]
        case _:
            return rest, None, []


def assignments(
    inside: Sequence[Word], known: Collection[str], form: str
) -> Iterator[tuple[Word, Word]]:
    """The names and values of `name = value, …`: each name is `known`, and comes once.

    `form` is what to write instead of what is none.
    """
    seen: set[str] = set()
    for at in range(0, max(len(inside), 1), 4):
        match inside[at : at + 4]:
            case [what, *_] if what.folded not in known and what.text.isidentifier():
                near = near_name(what.folded, known)
                raise BadParameter(
                    f"there is no option {what.text}",
                    at=what.span,
                    hint=f"did you mean {near}?" if near else f"they are {', '.join(known)}",
                    fix=near,
                )
            case [what, equals, value, *rest] if (
                equals.text == "=" and _is_value(value) and _goes_on(rest, at, len(inside))
            ):
                if what.folded in seen:
                    raise BadParameter(
                        f"{what.folded} is given twice",
                        at=what.span,
                        hint=f"write it once: {what.folded} = {value.text}",
                    )
                seen.add(what.folded)
                yield what, value
            case other:
                raise SyntaxFault(
                    "options are names with values that are written out",
                    at=Span(other[0].start, other[-1].end) if other else None,
                    hint=f"write {form}",
                )


@contextmanager
def statement_options(
    options: QueryOptions, own: Sequence[Assignment], schema: Schema
) -> Iterator[QueryOptions]:
    """`options` with those of a statement's `own`; errors that are raised meanwhile hint at these.

    An ε of the statement's own is spent whatever error was set before.
    """
    try:
        if any(assignment.setting is Setting.EPSILON for assignment in own):
            options = replace(options, price=replace(options.price, max_error=None))
        for assignment in own:
            options = updated(options, assignment, schema)
        yield options
    except Error as error:
        error.hint = _hint(error.hint, own)
        raise


def _are_options(words: Sequence[Word], before: Word | None) -> bool:
    """Whether `OPTIONS (` is followed by what no list of columns has, or by an option's name."""
    if words[0].folded != "options" or words[1].text != "(":
        return False
    if before is not None and before.folded in {"as", ".", "with", "recursive"}:
        return False
    return words[2].text == ")" or words[-1].text == "=" or words[2].folded in OPTIONS


def _changes(inside: Sequence[Word]) -> Iterator[Assignment]:
    for name, value in assignments(inside, OPTIONS, _EXAMPLE):
        text = None if value.folded == "default" else value.value
        yield Assignment(Setting(name.folded), text, value.span)


def _is_value(word: Word) -> bool:
    return word.kind in {Kind.WORD, Kind.NUMBER, Kind.TEXT, Kind.NAME}


def _goes_on(rest: Sequence[Word], at: int, length: int) -> bool:
    """Whether a comma and another option follow, or nothing does."""
    return (rest[0].text == "," and at + 4 < length) if rest else at + 3 == length


def _not_as_elsewhere(words: Sequence[Word]) -> None:
    """BigQuery's and GoogleSQL's clause: there ε is a clause's, here it is a statement's."""
    for index, word in enumerate(words):
        if word.folded != "differential_privacy" or words[index - 1].folded != "with":
            continue
        values = zip(words[index:], words[index + 2 :], strict=False)
        epsilon = next((value.text for name, value in values if name.folded == "epsilon"), "0.1")
        raise Refused(
            "every query is private, with the units, limits and delta of the schema",
            at=Span(words[index - 1].start, word.end),
            hint=f"leave WITH DIFFERENTIAL_PRIVACY OPTIONS (…) out, and end the statement with "
            f"OPTIONS (epsilon = {epsilon})",
            note="options",
        )


def _hint(hint: str, options: Sequence[Assignment]) -> str:
    """What SET can't help against, since the statement says otherwise, its OPTIONS can."""
    own = {option.setting.value for option in options}
    return _SET.sub(lambda m: f"OPTIONS ({m[1]} = {m[2]})" if m[1] in own else m[0], hint)
