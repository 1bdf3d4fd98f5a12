"""How fast are conditions parsed? Tamis against the parsers it could have been built on, in one run.

    python bench/parse.py [--conditions 1000000] [--peers 20000]

The conditions are BE-Gen's default with three predicates. Lark gets a grammar of the same language and builds its
plain tree; sqlglot parses the text as a condition of its own SQL. CPU time of one core.
"""

import argparse
import gc
import time
from collections.abc import Callable

import lark
import msgspec
import sqlglot

import tamis
from tamis.lab.workloads import BE_GEN_DENSE, generate

GRAMMAR = r"""
    ?condition: conjunction ("or"i conjunction)*
    ?conjunction: negation ("and"i negation)*
    ?negation: "not"i negation -> negated | primary
    ?primary: "(" condition ")" | predicate
    predicate: NAME COMPARISON value
             | NAME "not"i? "between"i value "and"i value
             | NAME "not"i? "in"i "(" value ("," value)* ")"
             | NAME "not"i? "like"i STRING
             | NAME "is"i "not"i? "null"i
             | NAME
    ?value: NUMBER | STRING | "true"i | "false"i
    COMPARISON: "=" | "<>" | "<=" | ">=" | "<" | ">"
    NAME: /(?!(and|or|not|in|between|like|is|null|true|false)\b)[A-Za-z_]\w*(\.[A-Za-z_]\w*)*/i
    NUMBER: /[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?/
    STRING: /'([^']|'')*'/
    %ignore /\s+/
"""


def microseconds(parse: Callable[[str], object], texts: list[str]) -> float:
    """Return the CPU time of one call."""
    gc.collect()
    start = time.process_time()
    for text in texts:
        parse(text)
    return (time.process_time() - start) / len(texts) * 1e6


def main() -> None:
    """Measure and print one line per parser."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--conditions", type=int, default=1_000_000)
    arguments.add_argument("--peers", type=int, default=20_000, help="conditions for each of the slower parsers")
    chosen = arguments.parse_args()
    spec = msgspec.structs.replace(BE_GEN_DENSE, subscription_size=3, subscriptions=chosen.conditions)
    spec = msgspec.structs.replace(spec, matching_probability=0.05)
    texts = generate(spec).conditions.texts().to_pylist()
    print(f"{len(texts):,} conditions such as: {texts[0]}")
    ours = microseconds(tamis.parse, texts)
    print(f"{'parser':24}{'µs each':>10}{'per second':>12}{'to ours':>10}")
    grammar = lark.Lark(GRAMMAR, start="condition", parser="lalr")
    rows = {
        "Tamis, hand-written": ours,
        f"Lark {lark.__version__}, LALR": microseconds(grammar.parse, texts[: chosen.peers]),
        f"sqlglot {sqlglot.__version__}": microseconds(sqlglot.condition, texts[: chosen.peers]),
    }
    for name, each in rows.items():
        print(f"{name:24}{each:10.1f}{1e6 / each:12,.0f}{each / ours:9.1f} x")
    seconds = ours * 1e-6 * len(texts)
    print(f"{len(texts):,} conditions took {seconds:.1f} s of one core ({30 * len(texts) / 1e6:.0f} s allowed)")


if __name__ == "__main__":
    main()
