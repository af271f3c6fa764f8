"""Tables of dpsql's errors beside those of others: how they are made, and what they say."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from benchmarks.peers.compare import COMPARED, ERRORS, TIMES, medians
from benchmarks.peers.compare_groups import TABLE as GROUPS_TABLE
from benchmarks.peers.compare_groups import groups_table
from benchmarks.peers.compare_sums import ASKED, COLUMNS, HIGHEST, TABLE, declared, sums_table
from benchmarks.peers.group_questions import ANSWERS as GROUP_ANSWERS
from benchmarks.peers.group_tables import QUESTIONS, relative_errors
from benchmarks.peers.own_sums import Sums, noisy_share, own_errors
from benchmarks.peers.peer_environments import NoEnvironment, environment
from benchmarks.peers.peer_tables import (
    FIRST,
    MEASURED,
    OWN,
    columns_of,
    compared_columns,
    errors_columns,
    kept,
    markdown,
    plot,
    times_columns,
)
from benchmarks.peers.sum_questions import ANSWERS
from documentation.pages import table_of
from privacy.ladder_data import CAPS, excesses, incomes


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("| \n").split("|")]


def number(cell: str) -> float:
    """What a cell says, in percent; of "> 1,000 %" the least that it can be."""
    return float(cell.strip("> %").replace(",", ""))


CHANCE = 1.25
"""Medians of 21 answers with Laplace noise have a standard deviation of 0.3 times themselves."""


def test_dpsql_is_as_near_as_whatever_else_needs_no_bound() -> None:
    heads, _, *lines = map(cells, table_of(TABLE).splitlines())
    assert len(lines) == len(HIGHEST) * len(ASKED)
    for line in lines:
        row = dict(zip(heads, line, strict=True))
        others = min(number(row["GoogleSQL"]), number(row["SmartNoise"]))
        assert max(number(row["dpsql"]), number(row["each of ten"])) <= CHANCE * others, row


def test_declared_bounds_are_nearer_only_where_they_are_as_tight_as_can_be() -> None:
    heads, _, *lines = map(cells, table_of(TABLE).splitlines())
    by_declared = [head for head in heads if head.endswith(", declared")]
    assert len(by_declared) == 3
    for line in lines:
        row = dict(zip(heads, line, strict=True))
        if row["sum over"] != "uniform, 1 to 40":
            others = min(number(row[head]) for head in by_declared)
            assert number(row["each of ten"]) <= CHANCE * others, row


def test_grouped_answers_are_as_near_as_those_within_declared_limits() -> None:
    _, _, *lines = map(cells, table_of(GROUPS_TABLE).splitlines())
    names = [question.name for question in QUESTIONS]
    assert [line[0] for line in lines] == names[: len(lines)]
    flights = [line for line in lines if line[0].startswith("flights")]
    assert len(flights) == 2
    for _, own, *others in flights:
        assert number(own) <= CHANCE * min(map(number, others))


def test_one_ladder_serves_all_questions_and_hindsight_is_nearest() -> None:
    random = np.random.default_rng(5)
    held = random.permutation(incomes(random))
    found = own_errors(held, ASKED, random, step=0)
    assert set(found) == set(ASKED)
    for by_way in found.values():
        assert {name: len(errors) for name, errors in by_way.items()} == {
            "alone": ANSWERS,
            "of ten": ANSWERS,
            "hindsight": ANSWERS,
        }
    # The cap in hindsight has the least expected error: b·e^(-bias/b) + bias, of all of ε.
    part = held[:403]
    sums = Sums(float(part.sum()), excesses(part))
    scale = CAPS / 0.1
    expected = excesses(part) + scale * np.exp(-excesses(part) / scale)
    assert expected[sums.best(0.1)] == expected.min()


def test_a_noisy_share_is_a_share() -> None:
    random = np.random.default_rng(6)
    for epsilon in (Fraction(1, 10_000), Fraction(1)):
        for _ in range(50):
            share = noisy_share(1, 2, epsilon, random)
            assert 0 < share < 1


def test_a_table_has_a_median_for_each_library_that_answered() -> None:
    asked = ("incomes", None, 1.0)
    errors = {(column.library, column.way): [0.1, 0.2, 5.0] for column in COLUMNS[:3]}
    table = sums_table({asked: errors})
    assert table.splitlines()[0] == (
        "| sum over | declared | of | ε | dpsql | each of ten | GoogleSQL |"
    )
    assert table.splitlines()[2] == "| incomes | 10⁹ | all | 1 | 20 % | 20 % | 20 % |"


@pytest.mark.parametrize(
    ("law", "written"),
    [("incomes", "10⁹"), ("rows, log-normal", "1,000"), ("TPC-H, by customer", "2.4·10⁷")],
)
def test_declared_bounds_are_written_as_people_do(law: str, written: str) -> None:
    assert declared(law) == written


def test_a_group_that_does_not_appear_is_wholly_wrong() -> None:
    assert relative_errors({"a": 90.0}, {"a": 100.0, "b": 5.0}) == [0.1, 1.0]


def test_errors_of_groups_are_medians_over_groups_and_answers() -> None:
    true = [{"a": 100.0, "b": 100.0}] * len(QUESTIONS)
    answers = [[{"a": 90.0, "b": 70.0}, {"a": 100.0, "b": 120.0}] for _ in QUESTIONS]
    table = groups_table({"dpsql": answers, "google": answers}, true).splitlines()
    assert table[0] == "| question | dpsql | GoogleSQL |"
    assert table[2] == "| flights by origin | 15 % | 15 % |"
    assert GROUP_ANSWERS > 0


ONE: Final[dict[str, Any]] = {
    "shape": "count",
    "plain": 1.0,
    "private": 8.0,
    "ratio": 8.0,
    "first": 20.0,
    "first ratio": 20.0,
    "errors": [0.2],
    "by law": [0.1],
}


def test_a_library_that_refuses_in_one_round_has_no_bar() -> None:
    slow = {**ONE, "private": 90.0, "ratio": 90.0, "errors": [0.4]}
    assert medians([[ONE], [slow], [ONE]]) == [ONE]
    refused = {"shape": "count", "refused": "a | b"}
    found = {"dpsql": medians([[ONE]]), "qrlew": medians([[ONE], [refused]])}
    times, errors = times_columns(found, "today"), errors_columns(found, "today")
    assert table_rows(markdown(times)) == [
        [MEASURED, "today", "today", "today"],
        ["count of lines", "8.0 ms, 8.0×", "20 ms, 20.0×", "refused: a / b"],
    ]
    assert table_rows(markdown(errors))[1] == ["count of lines", "0.2 %", "0.1 %", "refused: a / b"]
    assert not any(compared_columns(times, errors).values())
    assert plot(times).count('height="10"') == 1 + 2  # a bar, and what both are called


def test_a_library_that_is_not_measured_keeps_its_figures_and_their_date() -> None:
    slow = {**ONE, "private": 160.0, "ratio": 160.0}
    before = markdown(times_columns({"dpsql": [ONE], "qrlew": [slow]}, "last year"))
    now = times_columns({"dpsql": [{**ONE, "private": 16.0, "ratio": 16.0}]}, "today")
    heads = [*columns_of(before)]
    both = kept(now, before, heads)
    assert table_rows(markdown(both)) == [
        [MEASURED, "today", "today", "last year"],
        ["count of lines", "16 ms, 16.0×", "20 ms, 20.0×", "160 ms, 160.0×"],
    ]
    assert not compared_columns(both, both)  # by another machine's clock
    assert kept(now, "", heads) == {head: now[head] for head in (OWN, FIRST)}


def test_one_that_is_not_ten_times_slower_is_marked() -> None:
    near, far = {**ONE, "private": 79.0, "errors": [0.3]}, {**ONE, "private": 81.0}
    found = {"dpsql": [ONE], "smartnoise": [near], "qrlew": [far]}
    compared = compared_columns(times_columns(found, ""), errors_columns(found, ""))
    assert table_rows(markdown(compared)) == [["count of lines", "**9.9×**, 3", "10×, 2"]]


def test_the_docs_compare_what_they_tell() -> None:
    times, errors, compared = (columns_of(table_of(name)) for name in (TIMES, ERRORS, COMPARED))
    assert compared == compared_columns(times, errors)


def test_a_library_that_is_on_no_index_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(NoEnvironment, match=r"pip can't install .*nowhere"):
        environment(tmp_path / "peer", [str(tmp_path / "nowhere")], "nowhere")
    assert not (tmp_path / "peer").exists()


def table_rows(table: str) -> list[list[str]]:
    return [cells(line) for line in table.splitlines()[2:]]
