#!/usr/bin/env python3
"""Writes cel.tsv: what two other implementations of CEL give for random expressions.

    python3 -m venv /tmp/cel && /tmp/cel/bin/pip install cel-python common-expression-language
    /tmp/cel/bin/python generate.py > cel.tsv

The first lines are the contexts: JSON objects whose members are the variables. Then one line for each
of 5,000 expressions: the number of its context, the expression, the result of cel-python, and that of
common-expression-language (written in Rust), which is left out if it is the same. Results are in the
notation of CELSupport.swift; a double by its bits, an int and a uint alike, because Rust's library
gives Python integers. The same seed gives the same expressions.
"""

import datetime
import json
import logging
import math
import random
import struct
import sys
import warnings

import cel
import celpy
from celpy import celtypes

logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")
rng = random.Random(20261122)

CONTEXTS = [
    {"i": 5, "j": -3, "d": 2.5, "e": -0.25, "s": "taxi", "t": "xl", "b": True, "c": False, "n": None,
     "l": [1, 2, 3], "m": {"a": 1, "b": "two", "c": {"d": [4, 5]}}},
    {"i": 0, "j": 9223372036854775807, "d": 1e300, "e": 3.5, "s": "", "t": "Zürich", "b": False,
     "c": False, "n": None, "l": ["a", "b", ""], "m": {}},
    {"i": -9223372036854775808, "j": 2, "d": -7.5, "e": 0.1, "s": "a\\b'c", "t": "🚕 x", "b": True,
     "c": True, "n": None, "l": [], "m": {"a": None, "b": [1, 2.5, "x"]}},
    {"i": 1800000000, "j": 1799999800, "d": 4.5, "e": 8.25, "s": "robotaxi", "t": "robot", "b": True,
     "c": False, "n": None, "l": [True, None, 1, "a", [1], {"k": 1}],
     "m": {"a": 180, "b": 2.5, "c": {"d": {"e": 1}}}},
]
STRINGS = ["", "a", "taxi", "xl", "12", "-7", "1.5", "true", "é", "Zürich", "🚕", "a.c", "robot", "x y"]
TIMES = ["2026-11-22T08:00:00Z", "2024-02-29T23:59:59Z", "1969-12-31T23:59:59Z",
         "2000-01-01T00:00:00+05:30", "2026-03-29T01:30:00.25Z", "9999-12-31T23:59:59Z"]
SPANS = ["90s", "5m", "1h30m", "-1.5h", "100ms", "24h"]
ZONES = ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "UTC", "+02:00", "-09:30"]
PATTERNS = ["^a", "x+l?$", "[a-z]+", "^$", "(a|b)c", ".", "\\\\d+", "[^a-z]", "o{2}", "b.*i"]
PARTS = ["getFullYear", "getMonth", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear",
         "getHours", "getMinutes", "getSeconds", "getMilliseconds"]


def quoted(text):
    return "'" + text + "'"


def pick(*makers):
    return rng.choice(makers)


class Scope:
    """Names that macros bind, by type."""

    bound = []


def number(depth):
    kind = rng.random()
    if depth <= 0 or kind < 0.35:
        return rng.choice(["i", "j", str(rng.randint(-5, 9)), str(rng.choice([180, 3600, 2**62])), "0",
                           "m.a", "l[0]"] + [n for n, t in Scope.bound if t == "int"])
    if kind < 0.65:
        return f"{number(depth - 1)} {rng.choice('+-*/%+-')} {number(depth - 1)}"
    if kind < 0.72:
        return f"({number(depth - 1)})"
    if kind < 0.76:
        return f"-({number(depth - 1)})"
    if kind < 0.84:
        return f"size({pick(text, items)(depth - 1)})"
    if kind < 0.88:
        return f"int({pick(text, double, number)(depth - 1)})"
    if kind < 0.94:
        return f"({condition(depth - 1)} ? {number(depth - 1)} : {number(depth - 1)})"
    if kind < 0.97:
        zone = f"'{rng.choice(ZONES)}'" if rng.random() < 0.4 else ""
        return f"{time(depth - 1)}.{rng.choice(PARTS)}({zone})"
    return f"{items(depth - 1)}[{number(0)}]"


def unsigned(depth):
    if depth <= 0 or rng.random() < 0.5:
        return f"{rng.randint(0, 9)}u"
    return f"{unsigned(depth - 1)} {rng.choice('+-*/%')} {unsigned(depth - 1)}"


def double(depth):
    kind = rng.random()
    if depth <= 0 or kind < 0.5:
        return rng.choice(["d", "e", "0.5", "2.0", "1e3", "-1.25", "0.0"])
    if kind < 0.85:
        return f"{double(depth - 1)} {rng.choice('+-*/')} {double(depth - 1)}"
    return f"double({pick(number, text)(depth - 1)})"


def text(depth):
    kind = rng.random()
    if depth <= 0 or kind < 0.55:
        return rng.choice(["s", "t", "m.b"] + [quoted(x) for x in STRINGS]
                          + [n for n, t in Scope.bound if t == "string"])
    if kind < 0.8:
        return f"{text(depth - 1)} + {text(depth - 1)}"
    if kind < 0.9:
        return f"string({pick(number, text, condition)(depth - 1)})"
    return f"({condition(depth - 1)} ? {text(depth - 1)} : {text(depth - 1)})"


def span(depth):
    if depth <= 0 or rng.random() < 0.7:
        return f"duration('{rng.choice(SPANS)}')"
    if rng.random() < 0.5:
        return f"({time(depth - 1)} - {time(depth - 1)})"
    return f"({span(depth - 1)} {rng.choice('+-')} {span(depth - 1)})"


def time(depth):
    if depth <= 0 or rng.random() < 0.7:
        return f"timestamp('{rng.choice(TIMES)}')"
    return f"({time(depth - 1)} {rng.choice('+-')} {span(depth - 1)})"


def items(depth):
    kind = rng.random()
    if depth <= 0 or kind < 0.4:
        return rng.choice(["l", "[1, 2, 3]", "['a', 'b']", "[]", "[1, 'a', null, true]", "m.c.d"])
    if kind < 0.6:
        make = pick(number, text)
        return "[" + ", ".join(make(depth - 1) for _ in range(rng.randint(0, 3))) + "]"
    if kind < 0.7:
        return f"{items(depth - 1)} + {items(depth - 1)}"
    return macro(depth, rng.choice(["map", "filter"]))


def macro(depth, name):
    source = rng.choice([items(depth - 1), "[1, 2, 3, 4]", "l", "m", "['a', 'taxi']"])
    variable = rng.choice("xyz")
    Scope.bound.append((variable, rng.choice(["int", "string"])))
    body = (number if name == "map" else condition)(depth - 1)
    Scope.bound.pop()
    return f"{source}.{name}({variable}, {body})"


def condition(depth):
    kind = rng.random()
    if depth <= 0 or kind < 0.12:
        return rng.choice(["b", "c", "true", "false", "has(m.a)", "has(m.zz)", "n == null", "m.a == null"])
    if kind < 0.4:
        make = pick(number, number, number, text, text, double, unsigned, time, span)
        op = rng.choice(["==", "!=", "<", "<=", ">", ">="])
        return f"{make(depth - 1)} {op} {make(depth - 1)}"
    if kind < 0.58:
        return f"({condition(depth - 1)} {rng.choice(['&&', '||'])} {condition(depth - 1)})"
    if kind < 0.64:
        return f"!({condition(depth - 1)})"
    if kind < 0.72:
        return f"{pick(number, text)(depth - 1)} in {rng.choice([items(depth - 1), 'm'])}"
    if kind < 0.82:
        return f"{text(0)}.{rng.choice(['startsWith', 'endsWith', 'contains'])}({text(depth - 1)})"
    if kind < 0.86:
        return f"{text(0)}.matches('{rng.choice(PATTERNS)}')"
    if kind < 0.96:
        return macro(depth, rng.choice(["all", "exists", "exists_one"]))
    left = pick(number, text, double, items, condition)
    right = pick(number, text, double, items, condition)
    return f"{left(depth - 1)} == {right(depth - 1)}"


def expression():
    make = rng.choice([condition] * 6 + [number, number, text, double, unsigned, items, time, span])
    return make(rng.randint(1, 4))


def escaped(value):
    return '"' + "".join(
        c if 32 <= ord(c) < 127 and c not in '"\\' else "\\u{%x}" % ord(c) for c in value) + '"'


def seconds(delta):
    micros = delta // datetime.timedelta(microseconds=1)
    sign, micros = ("-", -micros) if micros < 0 else ("", micros)
    whole, rest = divmod(micros, 1_000_000)
    return f"{sign}{whole}" + (("." + f"{rest:06}".rstrip("0")) if rest else "") + "s"


def shown(value):
    if value is None:
        return "null"
    if isinstance(value, (bool, celtypes.BoolType)):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        if math.isnan(value):
            return "NaN"
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
        return "0x%xd" % struct.unpack(">Q", struct.pack(">d", value))[0]
    if isinstance(value, str):
        return escaped(str(value))
    if isinstance(value, bytes):
        return 'b"' + value.hex() + '"'
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(shown(x) for x in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(sorted(f"{shown(k)}: {shown(v)}" for k, v in value.items())) + "}"
    if isinstance(value, datetime.datetime):
        utc = value.astimezone(datetime.timezone.utc)
        fraction = ("." + f"{utc.microsecond:06}".rstrip("0")) if utc.microsecond else ""
        return f"timestamp({utc.year:04}-{utc.strftime('%m-%dT%H:%M:%S')}{fraction}Z)"
    if isinstance(value, datetime.timedelta):
        return f"duration({seconds(value)})"
    return f"other {type(value).__name__}"


def python(source, context):
    try:
        environment = celpy.Environment()
        program = environment.program(environment.compile(source))
        result = program.evaluate({k: celpy.json_to_cel(v) for k, v in context.items()})
        return "error" if isinstance(result, Exception) else shown(result)
    except Exception:
        return "error"


def rust(source, context):
    try:
        return shown(cel.evaluate(source, context))
    except BaseException:
        return "error"


def main():
    for context in CONTEXTS:
        print("context\t" + json.dumps(context, ensure_ascii=False))
    seen = set()
    while len(seen) < 5000:
        source = expression()
        if source in seen or len(source) > 120 or rng.random() < 0.5 and len(source) < 12:
            continue
        seen.add(source)
        index = rng.randrange(len(CONTEXTS))
        first, second = python(source, CONTEXTS[index]), rust(source, CONTEXTS[index])
        print("\t".join([str(index), source, first] + ([] if first == second else [second])))


if __name__ == "__main__":
    main()
