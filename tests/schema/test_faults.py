"""Every fault names file, line, path and fix: one row of the table each."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from schema.shop import SHOP, changed, line_of, load

from dpsql.errors import SchemaFault
from dpsql.schema.load.load import load_schema


class Fault(NamedTuple):
    """Where `old` becomes `new`, the message names `place` and the line of `at`, and has `says`."""

    old: str
    new: str
    place: str
    says: str
    at: str = ""


BUDGET = "budget: {epsilon: 1, delta: 1e-6}"
PEOPLE = "tables.people"
COLUMNS = "tables.people.columns"
ROW = "    unit: row"
NORM = "tables.lines.norm"
PRICE = "      price: {type: double}"


def normed(norm: str) -> str:
    """The lines' price and further columns, with a norm of some of them."""
    more = "pieces: {type: integer}, label: {type: varchar}, extra: {type: double, bounds: [0, 1]}"
    lines = "\n".join(f"      {column}}}" for column in more.removesuffix("}").split("}, "))
    return f"{PRICE}\n{lines}\n    norm: {{columns: {norm}}}"


RESPONSE = f"{COLUMNS}.age.randomized_response"
NOISE = f"{COLUMNS}.age.local_noise"


def noisy(kind: str, bounds: str, *, epsilon: float = 1) -> str:
    """A column of numbers with local noise."""
    return (
        f"age: {{type: {kind}, nullable: false,"
        f" local_noise: {{epsilon: {epsilon}, bounds: {bounds}}}}}"
    )


AGE = "age: {type: integer, bounds: [0, 120]}"
SEX = "sex: {type: varchar, values: [F, M]}"
MASS = "mass: {type: double, bounds: [0, 0.1]}"
PAID = 'paid: {type: "decimal(6,2)", bounds: [-0.5, 999.99]}'
ORDERS = "unit: {column: person_id, references: people.id}"
LINES = "unit: {column: order_id, references: orders.order_id}"


def budget(inside: str) -> str:
    return f"budget: {{{inside}}}"


SAMPLED = budget("epsilon: 1, delta: 1e-6, sample: 0.1")

FAULTS = [
    # keys and kinds
    Fault("dataset: shop", "datasets: shop", "datasets", "unknown key; did you mean dataset?"),
    Fault("dataset: shop\n", "", "", "dataset is missing; add dataset"),
    Fault("dataset: shop", "dataset: 2024", "dataset", "can't stand here; write a text"),
    Fault("dataset: shop", "dataset: ../shop", "dataset", "does not name a dataset"),
    Fault("dataset: shop", "dataset: .shop", "dataset", "does not name a dataset"),
    Fault("source: data", "source: mysql://h/d", "source", "not a path"),
    Fault("source: data", "source: postgresql://h/d", "source", "a server doesn't tell"),
    Fault("source: data", "source: people.csv", "source", "name the folder"),
    Fault(BUDGET, "", "", "budget is missing"),
    Fault("    limits: {groups: 3}", "    limit: {groups: 3}", "tables.orders.limit",
          "mean limits?"),
    Fault("{groups: 3}", "{group: 3}", "tables.orders.limits.group", "mean groups?"),
    Fault("{groups: 3}", "{groups: 0}", "tables.orders.limits.groups", "out of range"),
    Fault("{groups: 3}", "{rows: 1.5}", "tables.orders.limits.rows", "write a whole number"),
    Fault("{groups: 3}", "3", "tables.orders.limits", "write a text or a mapping"),
    Fault(AGE, "age: {type: integer, bound: [0, 1]}", f"{COLUMNS}.age.bound", "mean bounds?"),
    Fault(AGE, "age: integer", f"{COLUMNS}.age", "write a mapping"),
    Fault(AGE, "age: {type: integer, nullable: 1}", f"{COLUMNS}.age.nullable", "true or false"),
    Fault("public: true", "public: maybe", "tables.towns.public", "write true or false"),
    Fault("    key: town_id", "    key: [1]", "tables.towns.key[0]", "write a text"),
    Fault("key: town_id", "key: [town_id, town_id]", "tables.towns.key", "different columns"),
    Fault("key: town_id", "key: []", "tables.towns.key", "different columns"),
    Fault(BUDGET, BUDGET + "\nneighbors: any", "neighbors", "write add_remove or change_one"),
    Fault(BUDGET, BUDGET + "\ngroup_size: 0", "group_size", "units from 1 to 1000"),
    Fault(BUDGET, BUDGET + "\nreleases: -1", "releases", "a number from 0 to 1000"),
    Fault(BUDGET, BUDGET + "\ngroup_size: 1.5", "group_size", "write a whole number"),
    Fault("    unit: row", "    unit: row\n    rows: 9", "tables.readings.rows", "change_one"),
    Fault("    key: town_id", "    rows: 9\n    key: town_id", "tables.towns.rows", "are units"),
    Fault(ROW, f"{ROW}\n    at_least: 0", "tables.readings.at_least", "from 1 to"),
    Fault(ROW, f"{ROW}\n    resize: 5\n    at_least: 4", "tables.readings.at_least", "keep one"),
    Fault("{groups: 3}", "{groups: 3}\n    resize: 9", "tables.orders.resize", "are units"),
    Fault(PRICE, normed("[price, price], l2: 5"), f"{NORM}.columns", "2 to 16 columns"),
    Fault(PRICE, normed("[price], l2: 5"), f"{NORM}.columns", "2 to 16 columns"),
    Fault(PRICE, normed("[price, prize], l2: 5"), f"{NORM}.columns", "no column prize"),
    Fault(PRICE, normed("[price, pieces]"), NORM, "write l1: or l2:"),
    Fault(PRICE, normed("[price, pieces], l1: 5, l2: 5"), NORM, "write l1: or l2:"),
    Fault(PRICE, normed("[price, pieces], l2: 0"), f"{NORM}.l2", "1e-15 to 1e15"),
    Fault(PRICE, normed("[price, pieces], l1: 1/2"), f"{NORM}.l1", "number"),
    Fault(PRICE, normed("[price, pieces], l1: 0.5"), NORM, "a larger radius"),
    Fault(PRICE, normed("[price, label], l1: 5"), "tables.lines.columns.label", "is no number"),
    Fault(PRICE, normed("[price, extra], l1: 5"), "tables.lines.columns.extra", "other bounds"),
    Fault(
        "  towns:\n    public: true",
        "  towns:\n    public: true\n    norm: {columns: [a, b], l2: 1}",
        "tables.towns.norm",
        "remove it",
    ),
    Fault(AGE, "age: {type: integer, randomized_response: {epsilon: 1}}", RESPONSE, "list"),
    Fault(AGE, "age: {type: boolean, randomized_response: {epsilon: 1}}", RESPONSE, "nullable"),
    Fault(
        AGE,
        "age: {type: boolean, nullable: false, randomized_response: {epsilon: 21}}",
        f"{RESPONSE}.epsilon",
        "from 1e-6 to 20",
    ),
    Fault(
        "town_id: {type: integer}",
        "town_id: {type: integer, randomized_response: {epsilon: 1}}",
        "tables.towns.columns.town_id.randomized_response",
        "private answers",
    ),
    Fault(AGE, noisy("integer", "[0, 9]"), NOISE, "type: double"),
    Fault(AGE, noisy("double", "[0, 9]").replace("nullable: false, ", ""), NOISE, "nullable"),
    Fault(AGE, noisy("double", "[0, 9]", epsilon=0), f"{NOISE}.epsilon", "from 1e-6 to 20"),
    Fault(AGE, noisy("double", "[9, 9]"), f"{NOISE}.bounds", "two numbers"),
    Fault(AGE, noisy("double", "[9, 0]"), f"{NOISE}.bounds", "9"),
    Fault(AGE, noisy("double", "[a, b]"), f"{NOISE}.bounds[0]", "number"),
    Fault(
        AGE,
        noisy("double", "[0, 9]").replace("{type", "{bounds: [0, 9], type", 1),
        f"{COLUMNS}.age.bounds",
        "local_noise has the bounds",
    ),
    Fault(
        "town_id: {type: integer}",
        noisy("double", "[0, 9]").replace("age", "town_id"),
        "tables.towns.columns.town_id.local_noise",
        "private answers",
    ),
    Fault(AGE, "age: {type: integer, max_length: 9}", f"{COLUMNS}.age.max_length", "is for text"),
    Fault(AGE, "age: {type: varchar, max_length: 0}", f"{COLUMNS}.age.max_length", "from 1 to"),
    Fault("[F, M]", "[F, M], max_length: 1", f"{COLUMNS}.sex", "remove max_length"),
    # what may be spilled
    Fault(BUDGET, f"{BUDGET}\nspill: {{folder: big}}", "spill", "gigabytes is missing"),
    Fault(BUDGET, f"{BUDGET}\nspill: {{gigabytes: 0}}", "spill.gigabytes", "out of range"),
    Fault(BUDGET, f"{BUDGET}\nspill: {{gigabytes: 1.5}}", "spill.gigabytes", "a whole number"),
    # names
    Fault(AGE, "bad name: {type: date}", f"{COLUMNS}.bad name", "not a plain name"),
    Fault(AGE, "bad name: {type: date}", f"{COLUMNS}.bad name", "source_name: for what"),
    Fault(
        AGE,
        "age: {type: integer}\n      old: {type: integer, source_name: AGE}",
        f"{COLUMNS}.old",
        "is the source's column that age is",
    ),
    Fault(
        AGE,
        "age: {type: integer, source_name: ''}",
        f"{COLUMNS}.age.source_name",
        "names no column",
    ),
    Fault(AGE, "1st: {type: date}", f"{COLUMNS}.1st", "not a plain name"),
    Fault(AGE, "e\u0301ge: {type: date}", f"{COLUMNS}.e\u0301ge", "NFC"),
    Fault(AGE, f"{'a' * 64}: {{type: date}}", f"{COLUMNS}.{'a' * 64}", "at most 63 bytes"),
    Fault(AGE, "Sex: {type: date}", f"{COLUMNS}.sex", "differs from Sex only by case", SEX),
    Fault("  towns:", "  Lines:", "tables.Lines", "differs from lines only by case"),
    Fault("key: id\n    unit", "key: ID\n    unit", f"{PEOPLE}.unit", "the key of person is id"),
    Fault(AGE, "straße: {type: date}\n      STRASSE: {type: date}", f"{COLUMNS}.STRASSE", "case"),
    # values of types
    Fault(AGE, "age: {type: int4x}", f"{COLUMNS}.age.type", "did you mean int4?"),
    Fault(AGE, "age: {type: 'integer[]'}", f"{COLUMNS}.age.type", "is not a type here"),
    Fault(AGE, "age: {type: 'decimal(39,0)'}", f"{COLUMNS}.age.type", "is not a type here"),
    Fault(AGE, "age: {type: timestamptz}", f"{COLUMNS}.age.type", "write timestamp, as which"),
    Fault(AGE, "age: {type: decimal(9,2)}", f"{COLUMNS}.age.2)", 'quote it: "decimal(9,2)"'),
    Fault(AGE, "age: {type: 'decimal(9'}", f"{COLUMNS}.age.type", 'as in "decimal(10,2)"'),
    Fault(AGE, "age: {}", f"{COLUMNS}.age", "its type is not known without the source"),
    Fault("[0, 120]", "[120, 0]", f"{COLUMNS}.age.bounds", "low 120 is above high 0"),
    Fault("[0, 120]", "[0]", f"{COLUMNS}.age.bounds", "write [low, high]"),
    Fault("[0, 120]", "[0, 1, 2]", f"{COLUMNS}.age.bounds", "write [low, high]"),
    Fault("[0, 120]", "0", f"{COLUMNS}.age.bounds", "write a list"),
    Fault("[0, 120]", "[0, ]", f"{COLUMNS}.age.bounds", "write [low, high]"),
    Fault("[0, 120]", "[0, null]", f"{COLUMNS}.age.bounds[1]", "not a value of INTEGER"),
    Fault("[0, 120]", "[0, true]", f"{COLUMNS}.age.bounds[1]", "not a value of INTEGER"),
    Fault("[0, 120]", "[0, 1.5]", f"{COLUMNS}.age.bounds[1]", "write a whole number"),
    Fault("[0, 120]", "[0, 2147483648]", f"{COLUMNS}.age.bounds[1]", "from -2147483648 to"),
    Fault("[0, 120]", "[0, '7']", f"{COLUMNS}.age.bounds[1]", "not a value of INTEGER"),
    Fault("[0, 0.1]", "[0, .inf]", f"{COLUMNS}.mass.bounds[1]", "write a finite number"),
    Fault("[0, 0.1]", "[-.INF, 0]", f"{COLUMNS}.mass.bounds[0]", "write a finite number"),
    Fault("[0, 0.1]", "[.nan, 0]", f"{COLUMNS}.mass.bounds[0]", "write a finite number"),
    Fault("[0, 0.1]", "[nan, 0]", f"{COLUMNS}.mass.bounds[0]", "nan is not a value of DOUBLE"),
    Fault("[0, 0.1]", "[0, 1e309]", f"{COLUMNS}.mass.bounds[1]", "not a value of DOUBLE"),
    Fault("[0, 0.1]", "[0, 1e999999999]", f"{COLUMNS}.mass.bounds[1]", "fewer digits"),
    Fault("[0, 0.1]", f"[0, {'9' * 500}]", f"{COLUMNS}.mass.bounds[1]", "fewer digits"),
    Fault("999.99]", "9.999]", f"{COLUMNS}.paid.bounds[1]", "at most 2 digits after the point"),
    Fault("999.99]", "10000]", f"{COLUMNS}.paid.bounds[1]", "at most 4 digits before the point"),
    Fault("2025-12-31", "2025-02-30", f"{COLUMNS}.born.bounds[1]", "write a day such as"),
    Fault("2025-12-31", "2025-12-31 10:00", f"{COLUMNS}.born.bounds[1]", "write a day such as"),
    Fault("2024-12-31 23:59:59", "'2024-12-31T23:59:59Z'", f"{COLUMNS}.seen.bounds[1]",
          "time zone"),
    Fault(SEX, "sex: {type: varchar, bounds: [A, Z]}", f"{COLUMNS}.sex.bounds", "takes no bounds"),
    Fault("tag: {type: uuid}", "tag: {type: uuid, values: [a]}", f"{COLUMNS}.tag.values",
          "no values"),
    Fault("tag: {type: uuid}", "tag: {type: uuid, bounds: [1, 2]}", f"{COLUMNS}.tag.bounds",
          "no bounds"),
    Fault("[F, M]", "[]", f"{COLUMNS}.sex.values", "an empty list"),
    Fault("[F, M]", "[F, M, F]", f"{COLUMNS}.sex.values[2]", "the same value as [0]"),
    Fault("[F, M]", "[F, ~]", f"{COLUMNS}.sex.values[1]", "NULL is not listed"),
    Fault("[F, M]", "[F, 1]", f"{COLUMNS}.sex.values[1]", "in quotes if it looks like a number"),
    Fault("[F, M]", '[F, "a\\0"]', f"{COLUMNS}.sex.values[1]", "not a value of VARCHAR"),
    Fault(MASS, "mass: {type: double, values: [0.0, -0.0]}", f"{COLUMNS}.mass.values[1]", "as [0]"),
    Fault(MASS, "mass: {type: double, values: [0.1, 0.10000000000000000555]}",
          f"{COLUMNS}.mass.values[1]", "the same value as [0]"),
    Fault(MASS, "mass: {type: float, values: [0.1, 0.1000000001]}",
          f"{COLUMNS}.mass.values[1]", "the same value as [0]"),
    Fault(PAID, 'paid: {type: "decimal(6,2)", values: [1, 1.00]}',
          f"{COLUMNS}.paid.values[1]", "the same value as [0]"),
    Fault(AGE, "age: {type: integer, bounds: [0, 1], values: [0]}", f"{COLUMNS}.age", "remove one"),
    # units
    Fault("unit: row", "unit: rows", "tables.readings.unit.rows", "the units are row, person"),
    Fault("unit: row", "unit: Person", "tables.readings.unit.Person", "did you mean person?"),
    Fault("unit: row", "unit: person", "tables.readings.unit", "references: people.id}"),
    Fault("    unit: row\n", "", "tables.readings", "add unit: …, or public: true"),
    Fault("public: true", "public: true\n    unit: row", "tables.towns", "remove unit, or public"),
    Fault("public: true", "public: true\n    limits: {rows: 1}", "tables.towns.limits",
          "remove them"),
    Fault("unit: person", "unit: row", PEOPLE, "write unit: person"),
    Fault("{table: people, key: id}", "{table: peple, key: id}",
          "units.person.table.peple", "did you mean people?"),
    Fault("person: {table", "row: {table", "units.row", "choose another name"),
    Fault(ORDERS, "unit: {column: person_id}", "tables.orders.unit", "add references"),
    Fault(ORDERS, "unit: {column: person_id, references: people}",
          "tables.orders.unit.references", "write table.column"),
    Fault(ORDERS, "unit: {column: person_id, references: peoples.id}",
          "tables.orders.unit.references.peoples", "did you mean people?"),
    Fault(ORDERS, "unit: {column: person_id, references: people.tag}",
          "tables.orders.unit.references", "the key of people is id"),
    Fault(LINES, "unit: {column: order_id, references: towns.town_id}",
          "tables.lines.unit", "the path lines → towns ends in a public table"),
    Fault(ORDERS, "unit: {column: person_id, references: orders.order_id}",
          "tables.orders.unit", "the path orders → orders is a cycle"),
    Fault(LINES, "unit: {column: order_id, references: readings.value}",
          "tables.lines.unit.references", "readings has no key"),
    Fault("    key: order_id\n", "", "tables.lines.unit.references", "orders has no key"),
    Fault("key: order_id", "key: [order_id, town]",
          "tables.lines.unit.references", "the key of orders is order_id, town"),
    Fault("person_id: {type: bigint}", "person_id: {type: varchar}",
          "tables.orders.columns.person_id", "is VARCHAR, but people.id is BIGINT"),
    Fault("person_id: {type: bigint}", "person_id: {type: uhugeint}",
          "tables.orders.columns.person_id", "is UHUGEINT, but people.id is BIGINT"),
    Fault(LINES, "unit: {column: [order_id, price], references: orders.order_id}",
          "tables.lines.unit.references", "2 columns can't reference 1"),
    Fault(LINES, "unit: {column: [order_id, order_id], references: [orders.order_id, orders.town]}",
          "tables.lines.unit.column", "not a list of different columns"),
    Fault(LINES, "unit: {column: [order_id, price], references: [orders.order_id, people.id]}",
          "tables.lines.unit.references", "leads to several tables"),
    Fault(LINES, "unit: {column: [order_id, price], references: [orders.order_id, orders.town]}",
          "tables.lines.unit.references", "the key of orders is order_id"),
    Fault("person_id: {type: bigint}", "person_id: {type: bigint, references: towns.town_id}",
          "tables.orders.columns.person_id.references", "the unit goes by people.id"),
    Fault("town: {type: integer,", "town: {type: varchar,",
          "tables.orders.columns.town", "is VARCHAR, but towns.town_id is INTEGER"),
    Fault("references: towns.town_id", "references: towns.name",
          "tables.orders.columns.town.references", "the key of towns is town_id"),
    Fault("references: towns.town_id", "references: town.town_id",
          "tables.orders.columns.town.references.town", "did you mean towns?"),
    Fault("town_id: {type: integer}", "town_id: {type: double}",
          "tables.orders.columns.town", "but towns.town_id is DOUBLE"),
    Fault("    key: id\n    unit: person\n    columns:\n      id: {type: bigint}",
          "    unit: person\n    columns:\n      id: {type: double}",
          f"{COLUMNS}.id", "DOUBLE does not identify a unit", "      id: {type: double}"),
    Fault("value: {type: float}", "value: {type: float}\n    key: value",
          "tables.readings.columns.value", "a float is no key"),
    # money
    Fault(BUDGET, budget("epsilon: 0"), "budget.epsilon", "write a number from 1e-6 to 64"),
    Fault(BUDGET, budget("epsilon: 65"), "budget.epsilon", "or allow_large_epsilon: true"),
    Fault(BUDGET, budget("epsilon: 501, allow_large_epsilon: true"), "budget.epsilon",
          "from 1e-6 to 500"),
    Fault(BUDGET, BUDGET + "\nanalysts: {ann: {epsilon: 65}}", "analysts.ann.epsilon",
          "from 1e-6 to 64"),
    Fault(BUDGET, budget("epsilon: -1"), "budget.epsilon", "out of range"),
    Fault(BUDGET, budget("epsilon: 1e-400"), "budget.epsilon", "out of range"),
    Fault(BUDGET, budget("epsilon: .nan"), "budget.epsilon", "write a finite number"),
    Fault(BUDGET, budget("epsilon: .inf"), "budget.epsilon", "write a finite number"),
    Fault(BUDGET, budget("epsilon: one"), "budget.epsilon", "write a number"),
    Fault(BUDGET, budget("epsilon: true"), "budget.epsilon", "write a number"),
    Fault(BUDGET, budget("epsilon: 1, delta: 1"), "budget.delta", "from 1e-18 to below 1"),
    Fault(BUDGET, budget("epsilon: 1, delta: -1e-9"), "budget.delta", "out of range"),
    Fault(BUDGET, budget("epsilon: 1, accounting: zcdp"), "budget", "zcdp needs a delta above 0"),
    Fault(BUDGET, budget("epsilon: 1, accounting: approx"), "budget", "approx needs a delta"),
    Fault(BUDGET, budget("epsilon: 1, delta: 0.1, accounting: pure"), "budget.delta", "no delta"),
    Fault(BUDGET, SAMPLED.replace("0.1", "0"), "budget.sample", "out of range"),
    Fault(BUDGET, SAMPLED.replace("0.1", "1"), "budget.sample", "from 1e-6 to 0.999999"),
    Fault(BUDGET, SAMPLED.replace("0.1", "a tenth"), "budget.sample", "write a number"),
    Fault(
        BUDGET,
        budget("epsilon: 1, delta: 1e-6, accounting: zcdp, sample: 0.1"),
        "budget.accounting",
        "accounting: approx",
    ),
    Fault(BUDGET, budget("epsilon: 1, delta: 0.2, sample: 0.1"), "budget.delta", "delta < sample"),
    Fault(BUDGET, SAMPLED + "\nneighbors: change_one", "budget.sample", "neighbors: add_remove"),
    Fault(BUDGET, SAMPLED + "\ngroup_size: 2", "budget.sample", "group_size: 1"),
    Fault(BUDGET, SAMPLED, "tables.readings", "declare its key"),
    Fault(BUDGET, budget("epsilon: 1, accounting: renyi"), "budget.accounting",
          "write pure or approx or zcdp or gdp"),
    Fault(BUDGET, BUDGET + "\nper_query: {epsilon: 2}", "per_query.epsilon", "above max_epsilon"),
    Fault(BUDGET, BUDGET + "\nper_query: {max_epsilon: 2}", "per_query.max_epsilon",
          "above budget"),
    Fault(BUDGET, BUDGET + "\nper_query: {delta: 1e-5}", "per_query.delta", "above budget.delta"),
    Fault(BUDGET, BUDGET + "\nper_query: {delta: 0}", "per_query.delta", "is 0"),
    Fault(BUDGET, BUDGET + "\nper_query: {epsilon: 0}", "per_query.epsilon", "out of range"),
    Fault(BUDGET, BUDGET + "\nper_query: {max_rows: 0}", "per_query.max_rows", "from 1 to 1,000"),
    Fault(BUDGET, BUDGET + "\nper_query: {max_megabytes: -1}", "per_query.max_megabytes", "from 1"),
    Fault(BUDGET, BUDGET + "\nanalysts: {al: {epsilon: 0}}", "analysts.al.epsilon", "out of range"),
    Fault(BUDGET, BUDGET + "\nanalysts: {al: 1}", "analysts.al", "write a mapping"),
    Fault(BUDGET, BUDGET + '\nanalysts: {" al": {epsilon: 1}}', "analysts. al", "not a name"),
    Fault(BUDGET, BUDGET + "\nanalysts:\n  al: {epsilon: 1}\n  AL: {epsilon: 1}",
          "analysts.AL", "looks like al", "AL:"),
    # YAML
    Fault(AGE, f"{AGE}\n      age: {{type: date}}", f"{COLUMNS}.age", "stands twice",
          "age: {type: d"),
    Fault(AGE, "age: &a {type: integer}\n      old: *a", "", "an alias (*name) is not read",
          "old:"),
    Fault(AGE, "age: !!python/object:os.system {}", f"{COLUMNS}.age", "the tag tag:yaml.org"),
    Fault(AGE, "age: {type: !!binary aa}", f"{COLUMNS}.age.type",
          "the tag tag:yaml.org,2002:binary"),
    Fault(AGE, "age:\n\t{type: integer}", "", "indent with spaces", "\t{type"),
    Fault(AGE, "? [a]\n      : 1", COLUMNS, "a key is not a name"),
    Fault(AGE, "<<: {type: integer}", f"{COLUMNS}.<<", "not a plain name"),
    Fault(AGE, "age: {type: integer", "", "not YAML", SEX),
    Fault(BUDGET, f"{BUDGET}\n---\na: 1", "", "not YAML", "---"),
]  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.place}: {fault.says}"[:60])
def test_a_fault_names_file_line_path_and_fix(tmp_path: Path, fault: Fault) -> None:
    text = changed(fault.old, fault.new)
    with pytest.raises(SchemaFault) as raised:
        load(tmp_path, text)
    message = raised.value.message
    path = tmp_path / "schema.yaml"
    assert message.startswith(f"{path}, line ")
    where, _, what = message.removeprefix(f"{path}, line ").partition(": ")
    line, _, place = where.partition(", ")
    assert place == fault.place
    assert fault.says in what
    assert raised.value.hint
    assert what.endswith(f"; {raised.value.hint}")
    assert raised.value.__context__ is None or raised.value.__suppress_context__
    if fault.at:
        assert int(line) == line_of(text, fault.at)
    elif fault.place and fault.new.strip():
        last = fault.place.rpartition(".")[2].partition("[")[0]
        near = range(line_of(text, fault.new) - 3, line_of(text, fault.new) + 4)
        assert int(line) in near or last in text.splitlines()[int(line) - 1]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "the file is empty"),
        (b"# nothing\n", "the file is empty"),
        (b"dataset: shop\n\xff\n", "line 2: not UTF-8; save the file as UTF-8"),
        (b"a" * (64 * 1024 * 1024 + 1), "longer than 64 MiB"),
        (b"a: " + b"[" * 5000, "nested more than 32 deep"),
        (b"a: " + b"{a: " * 200_000, "nested more than 32 deep"),
        (b"a: \x01", "not YAML that can be read"),
        (b"- 1\n", "write a mapping"),
        (b"shop\n", "write a mapping"),
        (b"null\n", "dataset is missing"),
        (b"dataset: a\nsource: b\nbudget: {epsilon: 1}\ntables: {}\n", "no table is declared"),
        (b"dataset: a\nsource: b\nbudget: {epsilon: 1}\ntables:\n", "tables: nothing can't stand"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_file_that_is_no_schema_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "schema.yaml"
    path.write_bytes(content)
    with pytest.raises(SchemaFault) as raised:
        load_schema(path)
    assert says in raised.value.message


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SchemaFault, match=r"nowhere\.yaml: can't be read"):
        load_schema(tmp_path / "nowhere.yaml")


def test_the_whole_schema_is_right(tmp_path: Path) -> None:
    assert set(load(tmp_path, SHOP).tables) == {"people", "orders", "lines", "towns", "readings"}


def test_a_server_spills_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "schema.yaml"
    at = "postgresql://nobody@localhost/nothing"
    text = SHOP.replace("source: data", f"source: {at}\nversion: 1")
    path.write_text(f"{text}\nspill: {{gigabytes: 1}}\n")
    with pytest.raises(SchemaFault, match="spill: is for rows in files"):
        load_schema(path)
