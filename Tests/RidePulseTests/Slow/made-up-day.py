#!/usr/bin/env python3
"""Writes a made-up day of rides for `ridepulse rehearse`, as JSON lines; docs/testing-rules.md describes the format.

usage: Tests/RidePulseTests/Slow/made-up-day.py [--rides N] [--changes N] [--seed N] [--no-phones] > day.jsonl

The same arguments give the same bytes. Rides follow the hours of a city: two rush hours, a quiet night.
"""

import argparse
import datetime
import json
import random

START = datetime.datetime(2026, 11, 21, tzinfo=datetime.timezone.utc)
HOURS = [2, 1, 1, 1, 2, 4, 8, 14, 15, 9, 7, 7, 8, 8, 7, 8, 11, 15, 16, 12, 9, 7, 6, 4]
LOCALES = ["en", "de", "fr", "es", "pt-BR", "ar", "de-AT", "it"]


def text(second):
    return (START + datetime.timedelta(microseconds=round(second * 1e6))).isoformat().replace("+00:00", "Z")


def line(second, **members):
    return second, json.dumps({"at": text(second), **members}, separators=(",", ":"), ensure_ascii=False)


def phones(numbers, app, owner):
    token = "%064x" % numbers.getrandbits(256)
    install = "i-" + token[:12]
    yield line(0, phone={"app": app, "owner_id": owner, "token": token, "environment": "production",
                         "installation_id": install, "locale": numbers.choice(LOCALES)})
    if app == "customer" and numbers.random() < 0.5:
        yield line(0, push_to_start={"app": app, "owner_id": owner, "token": "%064x" % numbers.getrandbits(256),
                                     "attributes_type": "RideAttributes", "environment": "production",
                                     "installation_id": install})


def ride(numbers, number, customer, driver, changes):
    hour = numbers.choices(range(24), HOURS)[0]
    at = hour * 3600 + numbers.random() * 3600
    if hour == 23:
        at -= 3600  # every ride ends within the day
    name = "r%06d" % number
    epoch = int(START.timestamp())
    pickup = at + 420 + numbers.random() * 300
    ending = numbers.choices(["ride_completed", "cancelled_by_customer", "cancelled_by_driver", "no_show"],
                             [88, 7, 3, 2])[0]

    def change(second, **columns):
        return line(second, ride={"id": name, **columns})

    lines = [change(at, state="requested", customer_id=customer, pickup_at=text(pickup), time_zone="Europe/Berlin",
                    attributes={"pickup_address": "%d Canal Street" % numbers.randrange(200),
                                "currency": "EUR",
                                "fare": numbers.randrange(8, 40) + numbers.randrange(100) / 100})]
    lines.append(line(at + 4, event="ride_offer", ride=name, data={"driver_id": driver, "seconds": 15}))
    assigned = at + 8 + numbers.random() * 40
    arrival = epoch + int(pickup)
    lines.append(change(assigned, state="driver_assigned", driver_id=driver,
                        attributes={"driver_name": "Ana", "vehicle": "White Toyota Prius",
                                    "plate": "B-RP %04d" % numbers.randrange(10000), "eta_epoch": arrival}))
    lines.append(change(assigned + 20, state="driver_en_route"))
    last = assigned + 20
    if ending in ("ride_completed", "no_show"):
        lines.append(line(pickup - 90, event="driver_nearby", ride=name))
        lines.append(change(pickup, state="driver_arrived"))
        last = pickup
    if ending == "ride_completed":
        lines.append(change(pickup + 120, state="ride_started"))
        last = pickup + 120 + 600 + numbers.random() * 1500
    elif ending == "no_show":
        last = pickup + 420
    else:
        last += 30 + numbers.random() * 200
    lines.append(change(last, state=ending))
    # The rest: new arrival times, a large one of which is an event as well.
    rest = changes - len(lines)
    for index in range(rest):
        second = assigned + 25 + (last - assigned - 30) * (index + numbers.random()) / max(1, rest)
        arrival += numbers.randrange(-40, 60)
        if index == 1:
            lines.append(line(second, event="eta_changed", ride=name, data={"eta_epoch": arrival}))
        else:
            lines.append(change(second, attributes={"eta_epoch": arrival}))
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rides", type=int, default=40_000)
    parser.add_argument("--changes", type=int, default=600_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-phones", action="store_true")
    options = parser.parse_args()
    numbers = random.Random(options.seed)
    print(json.dumps({"day": 1, "from": text(0), "to": text(86400)}, separators=(",", ":")))
    customers = ["u%05d" % n for n in range(max(1, options.rides * 3 // 4))]
    drivers = ["d%04d" % n for n in range(max(1, options.rides // 20))]
    lines = []
    if not options.no_phones:
        for app, owners in (("customer", customers), ("driver", drivers)):
            for owner in owners:
                lines += phones(numbers, app, owner)
    each, more = divmod(options.changes, options.rides)
    for number in range(options.rides):
        lines += ride(numbers, number, numbers.choice(customers), numbers.choice(drivers),
                      each + (1 if number < more else 0))
    lines.sort(key=lambda one: one[0])
    for _, one in lines:
        print(one)


main()
