#!/usr/bin/env python3
"""Writes cronsim.tsv: what another implementation of cron says.

    pip install --target /tmp/cronsim cronsim tzdata
    PYTHONPATH=/tmp/cronsim python3 generate.py > cronsim.tsv

One line for each of 2,000 random expressions and 5 zones: expression, zone, a starting point within
two days of a random transition of 2000 to 2037 (any point where the zone has none), and the next
four slots, all in seconds since 1970. The same seed gives the same file.
"""

import random
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

ZONES = [
    "Europe/Berlin", "America/New_York", "America/Sao_Paulo", "Australia/Lord_Howe", "Asia/Kolkata",
]
DAYS = "SUN MON TUE WED THU FRI SAT".split()
MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()
UTC = timezone.utc
FIRST, LAST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2038, 1, 1, tzinfo=UTC)

rng = random.Random(20261121)


def term(low, high, names):
    def number(value):
        name = names and value - low < len(names) and rng.random() < 0.3
        return names[value - low] if name else str(value)

    a, b = sorted((rng.randint(low, high), rng.randint(low, high)))
    kind = rng.random()
    if kind < 0.55:
        return number(a)
    if kind < 0.75:
        # A range that ends on Sunday by name is a backward one for cronsim.
        return f"{number(a)}-{b}"
    if kind < 0.85 and a < b:
        return f"{a}-{b}/{rng.randint(1, high - low)}"
    return f"{a}/{rng.randint(1, high - low)}"


def field(low, high, stars, names=None):
    kind = rng.random()
    if kind < stars:
        return "*"
    if kind < stars + 0.15:
        return f"*/{rng.randint(1, max(2, (high - low) // 2))}"
    return ",".join(term(low, high, names) for _ in range(rng.choice([1, 1, 1, 2, 3])))


def expression():
    # Hours around which clocks change, more often than by chance.
    hour = str(rng.randint(0, 3)) if rng.random() < 0.4 else field(0, 23, 0.3)
    return " ".join([
        field(0, 59, 0.15), hour, field(1, 31, 0.7), field(1, 12, 0.7, MONTHS),
        field(0, 7, 0.7, DAYS),
    ])


def transitions(zone):
    found, step = [], timedelta(hours=1)
    at, offset = FIRST, FIRST.astimezone(zone).utcoffset()
    while at < LAST:
        later = at + timedelta(days=1)
        if later.astimezone(zone).utcoffset() != offset:
            while (at + step).astimezone(zone).utcoffset() == offset:
                at += step
            found.append(at + step)
            offset = later.astimezone(zone).utcoffset()
        at = later
    return found


def main():
    zones = [(name, ZoneInfo(name), transitions(ZoneInfo(name))) for name in ZONES]
    count = 0
    while count < 2000:
        text = expression()
        lines = []
        try:
            for name, zone, changes in zones:
                if changes:
                    start = rng.choice(changes) + timedelta(minutes=rng.randint(-2880, 2880))
                else:
                    start = FIRST + timedelta(minutes=rng.randint(0, 37 * 525600))
                it = CronSim(text, start.astimezone(zone))
                slots = [int(next(it).timestamp()) for _ in range(4)]
                lines.append("\t".join(
                    [text, name, str(int(start.timestamp())), " ".join(map(str, slots))]))
        except (CronSimError, StopIteration):
            continue
        count += 1
        print("\n".join(lines))


main()
