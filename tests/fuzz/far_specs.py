"""Types and domains of one value, of a type's ends, and beyond 64 bits or a double's digits.

The long batteries have columns of them beside those of `fuzz.generated_schema`.
"""

from __future__ import annotations

FAR_SPECS: tuple[tuple[str, str], ...] = (
    ("TINYINT", "bounds: [-128, 127]"),
    ("INTEGER", "bounds: [7, 7]"),
    ("INTEGER", "values: [0, -2147483648, 2147483647]"),
    ("BIGINT", "bounds: [9223372036854775807, 9223372036854775807]"),
    ("BIGINT", "bounds: [-9223372036854775808, -9223372036854775808]"),
    ("BIGINT", "values: [-9223372036854775808, 9223372036854775807]"),
    ("UBIGINT", "bounds: [9223372036854775807, 9223372036854775809]"),
    ("UBIGINT", "values: [18446744073709551615, 0]"),
    ("HUGEINT", f"bounds: [{-(2**127)}, {2**127 - 1}]"),
    ("HUGEINT", f"values: [{2**127 - 1}, {-(2**127)}, 0]"),
    ("UHUGEINT", f"bounds: [0, {2**128 - 1}]"),
    ("UHUGEINT", "bounds: [0, 9]"),
    ("DECIMAL(1,0)", "bounds: [-9, 9]"),
    ("DECIMAL(4,1)", "values: [0, -0.5, 999.9]"),
    ("DECIMAL(9,9)", "bounds: [0.1, 0.1]"),
    ("DECIMAL(18,18)", "bounds: [-0.5, 0.5]"),
    ("DECIMAL(38,0)", f"bounds: [{1 - 10**38}, {10**38 - 1}]"),
    ("DECIMAL(38,37)", "bounds: [-9, 9]"),
    ("DECIMAL(38,38)", "bounds: [0, 0.5]"),
    ("FLOAT", "bounds: [0.1, 0.1]"),
    ("FLOAT", "bounds: [-3.0e+38, 3.0e+38]"),
    ("FLOAT", "values: [0, 0.5]"),
    ("DOUBLE", "bounds: [0.3, 0.3]"),
    ("DOUBLE", "bounds: [0, 1.0e-320]"),
    ("DOUBLE", "bounds: [-1.0e+300, 1.0e+300]"),
    ("DOUBLE", "values: [0, 1.5, -1.5]"),
    ("VARCHAR", "values: ['', ' ', \u00e9, e\u0301, \u00df, SS, ss]"),
    ("VARCHAR", "max_length: 2"),
    ("DATE", "bounds: ['0001-01-01', '9999-12-31']"),
    ("DATE", "bounds: [2024-02-29, 2024-02-29]"),
    ("DATE", "values: [2024-02-29, '0001-01-01', '9999-12-31']"),
    ("TIMESTAMP", "bounds: ['0001-01-01 00:00:00', '9999-12-31 23:59:59.999999']"),
    ("TIMESTAMP", "values: ['1970-01-01 00:00:00', '2024-02-29 23:59:59.999999']"),
)
