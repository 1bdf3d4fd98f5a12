"""What conditions ask for is counted, and held against the columns of events."""

from pyspark.sql.types import ArrayType, DecimalType, LongType, StringType, StructField, StructType

import tamis
from tamis.pipeline.asked import asked_by, findings, total

SCHEMA = StructType(
    [
        StructField("price", DecimalType(10, 2)),
        StructField("tags", ArrayType(StringType())),
        StructField("a", StructType([StructField("b.c", LongType()), StructField("d", StringType())])),
    ]
)


def asked(*texts: str) -> dict[str, dict[str, int]]:
    return asked_by(map(tamis.parse, texts))


def test_counts_predicates_by_attribute_and_kind() -> None:
    found = asked("price > 1 and price <= 2.5", "price is null", "name like 'a%' or name in ('x')", "not ok")
    assert found == {
        "name": {"string": 2},
        "ok": {"boolean": 1},
        "price": {"any": 1, "number": 2},
    }
    assert asked("array_contains(tags, 'x')", "t > timestamp '2026-01-01'", "d = date '2026-01-01'") == {
        "d": {"date": 1},
        "t": {"timestamp": 1},
        "tags": {"array of string": 1},
    }


def test_totals_add_and_take_away() -> None:
    one, two = asked("x = 1", "x = 'a'"), asked("x = 2", "y = 3")
    assert total([one, two]) == {"x": {"number": 2, "string": 1}, "y": {"number": 1}}
    assert total([one, two], less=asked("x = 'b'", "y = 9")) == {"x": {"number": 2}}


def test_columns_are_found_by_their_exact_names() -> None:
    fine = asked("price > 1", "array_contains(tags, 'x')", "a.`b.c` = 1", "a.d = 'x'", "tags is null", "a is not null")
    assert not findings(fine, SCHEMA)
    found = findings(asked("Price > 1", "a.b.c = 1", "a.d.e = 1", "tags > 'a'", "price = 'x'", "a.d = 1"), SCHEMA)
    assert found.missing == {"Price": 1, "a.b.c": 1, "a.d.e": 1}
    assert found.mismatched == {
        "a.d": ("string", {"number": 1}),
        "price": ("decimal(10,2)", {"string": 1}),
        "tags": ("array<string>", {"string": 1}),
    }
    assert "no column for Price (1), a.b.c (1), a.d.e (1)" in str(found)
    assert "column price is decimal(10,2), but is compared with string in 1 predicates" in str(found)
