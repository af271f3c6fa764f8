"""Statements of one construct each, as deep or as wide as is asked for."""

from __future__ import annotations

WHERE = "SELECT count(*) FROM patients WHERE "


def nested(opening: str, inner: str, closing: str, depth: int) -> str:
    return opening * depth + inner + closing * depth


def deep(depth: int) -> dict[str, str]:
    """One kind of nesting each, `depth` levels deep."""
    return {
        "parentheses": WHERE + nested("(", "age > 1", ")", depth),
        "parentheses in FROM": f"SELECT count(*) FROM {nested('(', 'patients', ')', depth)}",
        "functions": WHERE + nested("abs(", "age", ")", depth) + " > 1",
        "two arguments": WHERE + nested("coalesce(age, ", "1", ")", depth) + " > 1",
        "CASE": WHERE + nested("CASE WHEN insured THEN ", "1", " END", depth) + " = 1",
        "ELSE": WHERE + nested("CASE WHEN insured THEN 1 ELSE ", "1", " END", depth) + " = 1",
        "casts": WHERE + nested("CAST(", "age", " AS BIGINT)", depth) + " > 1",
        "NOT": WHERE + "NOT " * depth + "insured",
        "minus": WHERE + "- " * depth + "age < 1",
        "tilde": WHERE + "~ " * depth + "age < 1",
        "colons": WHERE + "age" + "::BIGINT" * depth + " > 1",
        "IS NULL": WHERE + "insured" + " IS NULL" * depth,
        "subqueries": nested("SELECT * FROM (", "SELECT count(*) FROM patients", ") AS t", depth),
        "scalar subqueries": "SELECT " + nested("(SELECT ", "1", ")", depth),
        "EXISTS": WHERE + nested("EXISTS (SELECT 1 FROM visits WHERE ", "TRUE", ")", depth),
        "IN": WHERE
        + nested("patient_id IN (SELECT patient_id FROM visits WHERE ", "TRUE", ")", depth),
        "unions": nested("(SELECT 1 UNION ", "SELECT 2", ")", depth),
        "lists": WHERE + nested("[", "age", "]", depth) + " IS NULL",
        "structs": WHERE + nested("{'a': ", "age", "}", depth) + " IS NULL",
        "WITH": nested("WITH t AS (", "SELECT 1 AS n", ") SELECT * FROM t", depth),
        "lambdas": WHERE + nested("x -> ", "x", "", depth),
        "arrows": WHERE + "age" + " -> 1" * depth + " IS NULL",
        "indexes": WHERE + "age" + "[1]" * depth + " IS NULL",
        "dots": WHERE + "a." * depth + "age > 1",
        "comments": "/* " * depth + "SELECT 1" + " */" * depth,
        "quotes": WHERE + "city = '" + "''" * depth + "'",
        "DISTINCT ON": "SELECT count(*) FROM "
        + nested("(SELECT DISTINCT ON (1) * FROM ", "visits", ") AS t", depth),
        "PIVOT": nested(
            "SELECT * FROM (SELECT doctor_id, 'ER' AS ward FROM (",
            "SELECT doctor_id, ward FROM visits",
            ")) PIVOT (count(*) FOR ward IN ('ER' AS n))",
            depth,
        ),
        "BY NAME": nested("(SELECT 1 AS a UNION BY NAME ", "SELECT 2 AS b", ")", depth),
        "BETWEEN": WHERE + nested("(age BETWEEN 0 AND ", "1", ") = TRUE", depth),
    }


def wide(count: int) -> dict[str, str]:
    """One kind of chain each, of `count` terms."""
    return {
        "AND": WHERE + " AND ".join(["insured"] * count),
        "OR": WHERE + " OR ".join(["age = 1"] * count),
        "AND and OR": WHERE + " ".join(["insured AND age > 1 OR"] * count) + " insured",
        "sum": f"SELECT sum({' + '.join(['age'] * count)}) FROM patients",
        "product": f"SELECT sum({' * '.join(['age'] * count)}) FROM patients",
        "difference": f"SELECT sum({' - '.join(['age'] * count)}) FROM patients",
        "quotient": f"SELECT sum({' / '.join(['weight'] * count)}) FROM patients",
        "text": WHERE + " || ".join(["city"] * count) + " = 'x'",
        "comparisons": WHERE + " = ".join(["insured"] * count),
        "IN list": WHERE + f"age IN ({', '.join(map(str, range(count)))})",
        "IN of texts": WHERE + "city IN (" + ", ".join(f"'{n}'" for n in range(count)) + ")",
        "columns": f"SELECT {', '.join(['count(*)'] * count)} FROM patients",
        "aliases": f"SELECT {', '.join(f'count(*) AS c{n}' for n in range(count))} FROM patients",
        "sums": f"SELECT {', '.join(f'sum(age + {n})' for n in range(count))} FROM patients",
        "tables": "SELECT count(*) FROM " + ", ".join(f"regions r{n}" for n in range(count)),
        "joins": "SELECT count(*) FROM patients p"
        + "".join(f" JOIN patients p{n} USING (patient_id)" for n in range(count)),
        "joins of joins": "SELECT count(*) FROM patients p"
        + "".join(
            f" JOIN (SELECT a.patient_id FROM patients a JOIN patients b USING (patient_id)) p{n}"
            " USING (patient_id)"
            for n in range(count // 2)
        ),
        "left joins": "SELECT count(*) FROM patients p"
        + "".join(f" LEFT JOIN regions r{n} ON age = r{n}.region_id" for n in range(count)),
        "keys": "SELECT count(*) FROM patients GROUP BY "
        + ", ".join(f"age + {n}" for n in range(count)),
        "sets": "SELECT count(*) FROM patients GROUP BY "
        + ", ".join(["ROLLUP (sex, insured)"] * count),
        "cube": f"SELECT count(*) FROM patients GROUP BY CUBE ({', '.join(['sex'] * count)})",
        "pivots": "PIVOT patients ON "
        + ", ".join(["sex"] * count)
        + " USING count(*) GROUP BY insured",
        "order": f"SELECT count(*) AS n FROM patients ORDER BY {', '.join(['n'] * count)}",
        "unions": " UNION ALL ".join(["SELECT count(*) FROM patients"] * count),
        "branches": "SELECT sum(CASE "
        + " ".join(f"WHEN age = {n} THEN {n}" for n in range(count))
        + " END) FROM patients",
        "ctes": "WITH "
        + ", ".join(f"c{n} AS (SELECT count(*) AS n FROM patients)" for n in range(count))
        + " SELECT 1 AS one FROM "
        + ", ".join(f"c{n}" for n in range(min(count, 50))),
        "doubling": "WITH c0 AS (SELECT * FROM patients)"
        + "".join(
            f", c{n + 1} AS (SELECT a.* FROM c{n} a JOIN c{n} b USING (patient_id))"
            for n in range(count)
        )
        + f" SELECT count(*) FROM c{count}",
        "subqueries": WHERE
        + " AND ".join(["patient_id IN (SELECT patient_id FROM visits)"] * count),
        "functions": f"SELECT sum(greatest({', '.join(['age'] * count)})) FROM patients",
        "semicolons": "SELECT 1" + ";" * count,
        "words": "x " * count,
        "parentheses": "(" * count,
        "windows": "SELECT "
        + ", ".join(f"sum(n) OVER (ORDER BY n + {n})" for n in range(count))
        + " FROM (SELECT count(*) AS n FROM patients) t",
    }
