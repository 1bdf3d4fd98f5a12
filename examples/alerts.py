"""Alerts on a stream of quotes: subscribe with conditions, match single events and whole tables, ask why."""

import pyarrow as pa

import tamis

index = tamis.Index()
index.add("alice", "symbol = 'ACME' and price between 10 and 20")
index.add("bob", "volume > 1000000 or change_percent not between -5 and 5")
index.add("carol", "sector in ('energy', 'mining') and not array_contains(flags, 'halted')")

event = {"symbol": "ACME", "price": 12.5, "volume": 2_000_000, "sector": "energy", "flags": ["halted"]}
print("one event reaches:", sorted(index.match(event)))
print("why not carol?")
print(index.explain("carol", event))

quotes = pa.table(
    {
        "symbol": ["ACME", "ACME", "BETA"],
        "price": [9.0, 15.0, 99.0],
        "volume": [10, 20, 3_000_000],
        "change_percent": [0.5, -7.0, None],
    }
)
print("a table at once:")
for match in index.match_batch(quotes).to_table().to_pylist():
    print(f"  row {match['row']} reaches {match['id']}")
