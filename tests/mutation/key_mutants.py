"""Seeded bugs of answer keys, and of what is given where two sessions draw one answer."""

from __future__ import annotations

from mutation.mutants import Mutant

_PAIRS = "tests/fuzz/test_generated_answer_keys.py"
_ATOMS = "tests/session/test_digest_atoms.py"
_COMPARED = "tests/session/test_comparison_form.py"
_RACING = "tests/session/test_racing.py"

KEY_MUTANTS = (
    Mutant(
        "a decimal of fewer digits before the point has all values of a wider one",
        "session/digest/comparison_form.py",
        "return before and wide.scale >= own.scale",
        "return wide.scale >= own.scale",
        _COMPARED,
        fails_by="AssertionError|assert ",
    ),
    Mutant(
        "a constant of another type makes another question",
        "session/digest/comparison_form.py",
        "    if isinstance(right, Literal):\n",
        "    if isinstance(right, Literal) and right.type == left.type and not right:\n",
        _COMPARED,
        fails_by="AssertionError|assert ",
    ),
    Mutant(
        "only tables are told apart where they are read twice",
        "session/digest/canonical_digest.py",
        "self._leaves[kind, *parts] += 1",
        'self._leaves[kind, *parts] += kind == "scan"',
        _PAIRS,
    ),
    Mutant(
        "columns that break a window's ties are no part of what it means",
        "session/digest/canonical_digest.py",
        'return digest_of("ties", *(self._columns[c.id] for c in output_columns(source)))',
        'return ""',
        _PAIRS,
    ),
    Mutant(
        "the order of a list's rows is no part of what LIMIT means",
        "session/digest/canonical_digest.py",
        "return as_written(source, self._keys)",
        'return ""',
        _PAIRS,
    ),
    Mutant(
        "texts in a digest run into each other",
        "engine/digest.py",
        'return "".join([f"{len(text)}:{text}" for text in texts])',
        'return "".join(texts)',
        _ATOMS,
        fails_by="Error",
    ),
    Mutant(
        "values of a list's cells run into each other",
        "session/digest/cell_digest.py",
        '",".join(map(str, map(len, texts))), "".join(texts)',
        '"".join(texts)',
        _ATOMS,
        fails_by="Error",
    ),
    Mutant(
        "the bounds of what is measured are in no digest",
        "session/digest/tags.py",
        '("argument", "step", "low", "high", "center")',
        '("argument", "step", "center")',
        "tests/session/test_tags.py",
        fails_by="Error",
    ),
    Mutant(
        "who draws an answer again is shown their own draw",
        "ledger/ledger.py",
        "others = stored_answer.existing_answers(self._chain, releases)",
        "others: dict[str, bytes] = {}",
        _RACING,
        "file",
    ),
    Mutant(
        "an answer that is a part of what is drawn is stored as the whole",
        "ledger/stored_answer.py",
        "whole if k.answer == answer else digest(k.answer)",
        "whole",
        "tests/ledger/test_ledger_reuse.py",
        fails_by="1 failed",
    ),
    Mutant(
        "what was drawn on an answer that isn't given is given",
        "session/run/charged_draw.py",
        "changed.add(release.key)",
        "pass",
        _RACING,
        "reads",
    ),
)
