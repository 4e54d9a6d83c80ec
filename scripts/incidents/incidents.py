"""The incidents: what breaks, which signal is the right one, and how it is fixed."""

import os
import re
import shlex
import signal
import subprocess
import time
from dataclasses import dataclass, field
from typing import Callable

from processes import IS_ROOT, Failure, run, until
from world import RULES


@dataclass
class Incident:
    name: str
    what: str
    break_it: Callable
    # What a line of readyz, doctor or the log, or the end of a node, has if it names the cause.
    right: str
    # The alerts that name it; empty if none is meant to.
    alerts: str = ""
    # What is done by hand, then the check of doctor whose printed command is run.
    printed: str = ""
    # What docs/runbook.md has the service's role run.
    runbook: str = ""
    fix_it: Callable = None
    world: dict = field(default_factory=dict)
    limit: int = 120
    needs: Callable = lambda world_options: None
    # Waits until all is well; without it, until pushes of each kind are accepted.
    recovered: Callable = None
    # At least so many offers are committed before it is fixed.
    offers: int = 0


def root(_):
    return None if IS_ROOT else "needs root"


def fcm(options):
    return None if os.access(f"{options.binaries}/fcm-simulator", os.X_OK) else "it has no FCM"


def compiler(_):
    return None if any(os.access(f"{folder}/cc", os.X_OK)
                       for folder in os.environ["PATH"].split(":")) else "needs a C compiler"


def owner(text):
    return lambda world: world.postgres.sql(text, user="owner")


# Faults with more than a line

def break_function(world):
    name = "ridepulse.server_place()"
    world.saved = world.postgres.sql(f"select pg_get_functiondef('{name}'::regprocedure)")
    header = world.saved[:world.saved.index("$function$")]
    owner(f"{header} $function$ begin raise exception 'server_place was replaced'; end $function$")(world)


class Volume:
    """A small file system for the database, as a whole server's disk."""
    path = f"/tmp/ridepulse-incidents-{os.getpid()}"

    @classmethod
    def mount(cls):
        os.makedirs(cls.path)
        run(["mount", "-t", "tmpfs", "-o", "size=96m", "incidents", cls.path])
        os.makedirs(f"{cls.path}/data")
        run(["chown", "postgres", f"{cls.path}/data"])
        return f"{cls.path}/data"

    @classmethod
    def unmount(cls):
        run(["umount", "-l", cls.path])
        os.rmdir(cls.path)

    @classmethod
    def fill(cls, _):
        with open(f"{cls.path}/filler", "wb", buffering=0) as file:
            for size in (1 << 20, 1 << 12):
                try:
                    while file.write(bytes(size)) == size:
                        pass
                except OSError:
                    pass

    @classmethod
    def empty(cls, _):
        os.remove(f"{cls.path}/filler")


def all_nodes(action):
    def on_all(world):
        for node in world.nodes:
            action(node)
    return on_all


def lose_name(node):
    node.resolves(False)
    node.link.drop()


def refuse_topic(world):
    answer = {"answer": {"status": 400, "reason": "DeviceTokenNotForTopic"}}
    world.apns.post("faults", [{"match": {"topic": "com.example.customer"}, "action": answer}])


def report_gone(world):
    tokens = world.postgres.sql(
        "select token from ridepulse.devices where app = 'customer' and owner_id like 'c%' "
        "order by id limit 140").split()
    now = int(time.time() * 1000)
    world.apns.post("tokens", {"tokens": [
        {"token": token, "unregistered_since": now} for token in tokens]})
    world.gone = tokens


def register_again(world):
    # The simulator keeps what it was given: the apps get new tokens, as after a reinstallation.
    world.register("customer", "c", 200, "encode(sha256(convert_to('new' || n, 'UTF8')), 'hex')")


def drop_tomorrow(world):
    owner("do $$ begin execute format('drop table ridepulse.ledger_%s', "
          "to_char((now() at time zone 'UTC')::date + 1, 'YYYYMMDD')); end $$")(world)


def fill_default(world):
    drop_tomorrow(world)
    world.postgres.sql(
        "insert into ridepulse.ledger (ride_id, apns_id, event, rule, app, push_type, status, "
        "attempts, occurred_at) values ('wrong-clock', gen_random_uuid(), 'news', 'news', "
        "'customer', 'alert', 'accepted', 1, now() + interval '1 day')", user="engine")


def has_tomorrow(world):
    until(lambda: world.postgres.tries(
        "select 1 from pg_class where relname = 'ledger_' || to_char((now() at time zone 'UTC')"
        "::date + 1, 'YYYYMMDD')") == "1", "tomorrow has a partition", 30)


def poison(world):
    owner("create function ridepulse.refuse() returns trigger language plpgsql as $$ begin if "
          "new.ride_id = 'poison' then raise exception 'refused by a trigger'; end if; return new; "
          "end $$; create trigger refuse before insert on ridepulse.ledger for each row execute "
          "function ridepulse.refuse()")(world)
    world.postgres.sql("insert into ridepulse.rides (id, state, customer_id) values "
                       "('poison', 'requested', 'c1'); select ridepulse.emit('news', 'poison')",
                       user="backend")


def is_unparked(world):
    until(lambda: world.postgres.tries("select count(*) from ridepulse.ledger where ride_id = "
                                       "'poison' and status = 'accepted'") == "1",
          "the ride's push is accepted")


def storm(world):
    world.postgres.sql("select count(ridepulse.emit('news', 'r' || (n % 5 + 1))) "
                       "from generate_series(1, 20000) n", user="backend", limit=120)


def is_drained(world):
    until(lambda: world.postgres.tries("select count(*) < 10 from ridepulse.events") == "t",
          "the events are handled", 300)


def bad_rules(world):
    world.set_rules(RULES.replace("expires: 15s", "expires: 15 parsecs"))


def reload_all(world):
    all_nodes(lambda node: node.send(signal.SIGHUP))(world)


def restart(node):
    node.stop()
    node.start(waits=False)


def good_rules(world):
    world.set_rules(RULES)
    for node in world.nodes:
        if node.process.poll() is None:
            node.send(signal.SIGHUP)
        else:
            node.start()


def set_clock(node, variables):
    node.stop()
    node.environment = {key: value for key, value in node.environment.items()
                        if key not in ("LD_PRELOAD", "CLOCK_OFFSET")} | variables
    node.start(waits=False)


def copy_database(world):
    world.postgres.sql("create database copy owner owner", database="postgres")
    tools = world.postgres.environment | {"PGUSER": "postgres"}
    dump = run([f"{world.postgres.programs}/pg_dump", "city"], tools)
    subprocess.run(["psql", "-Xq", "copy"], env=tools, input=dump, text=True, capture_output=True,
                   check=True, timeout=60)
    world.copy = world.add_node("node-c", "copy")
    world.nodes = [world.copy] + world.nodes[:-1]


def copy_sends(world):
    until(lambda: world.copy.ready()[0] == 200, "the copy's node is ready", 60)


def vacuum_held(world):
    # As docs/sql.md advises: without it doctor judges by dead rows, and a few hundred rides make none.
    world.postgres.sql("grant pg_read_all_stats to engine", user="postgres")
    world.postgres.sql("alter table ridepulse.agenda set (autovacuum_enabled = off)", user="owner")
    world.hold("begin isolation level repeatable read; select count(*) from ridepulse.agenda; "
               "select pg_sleep(3600)")


def new_key(world):
    world.use_key("SIMKEY0002")
    reload_all(world)


UNREACHABLE = r"can.?t (be reached|reach)|unreachable|refused the connection|connection refused|" \
    r"could not connect|couldn.t connect|failed to connect|no connection to|without a connection"

INCIDENTS = [
    Incident("right", "A right of the service's role is revoked",
             owner("revoke select on ridepulse.rides from ridepulse_engine"),
             r"permission denied|lacks select on", "NotReady|Claims", printed="rights"),
    Incident("lock", "A session holds ACCESS EXCLUSIVE on the phones",
             lambda world: world.hold("begin; lock table ridepulse.devices; select pg_sleep(3600)"),
             r"lock timeout|holds up others|locked", "NotReady|Claims", printed="locks"),
    Incident("function", "A function of each claim raises an error", break_function,
             r"server_place was replaced", "NotReady|Claims",
             fix_it=lambda world: owner(world.saved)(world)),
    Incident("disk", "The disk of Postgres is full", Volume.fill,
             r"no space left|could not extend|disk", "NotReady|Settlement|Claims",
             fix_it=Volume.empty, needs=root),
    Incident("dead", "A node is killed", lambda world: world.nodes[1].stop(signal.SIGKILL),
             r"not claimed for", "Down", fix_it=lambda world: world.nodes[1].start()),
    Incident("frozen", "A node is frozen", lambda world: world.nodes[1].send(signal.SIGSTOP),
             r"not claimed for", "Down|NotClaiming",
             fix_it=lambda world: world.nodes[1].send(signal.SIGCONT)),
    Incident("route", "One node has no route to APNs", lambda world: world.nodes[0].link.cut(),
             UNREACHABLE, "Aside|Unreachable", offers=130, world={"pace": 0.92},
             fix_it=lambda world: world.nodes[0].link.restore()),
    Incident("routes", "No node has a route to APNs", all_nodes(lambda node: node.link.cut()),
             UNREACHABLE, "Aside|Unreachable", fix_it=all_nodes(lambda node: node.link.restore())),
    Incident("dns", "The name of APNs is not found", all_nodes(lose_name), r"resolve|host name",
             "Aside|Unreachable", fix_it=all_nodes(lambda node: node.resolves(True)), needs=root),
    Incident("key", "APNs refuses the key", lambda world: world.set_keys(first_is_revoked=True),
             r"InvalidProviderToken", "KeyRefused|LanePaused", fix_it=new_key),
    Incident("topic", "APNs refuses an app's topic", refuse_topic, r"DeviceTokenNotForTopic|topic",
             "TopicRefused|LanePaused",
             fix_it=lambda world: world.apns.post("faults", []),
             # The lane may pause before any phone is in quarantine; `unquarantine customer` fails then.
             runbook="unquarantine --all"),
    Incident("gone", "APNs reports 140 of 200 phones as gone", report_gone,
             r"lost phones|were disabled|reported as gone", "Lost|Gone", fix_it=register_again),
    Incident("fcm", "FCM is down", lambda world: world.fcm.kill(), r"FCM.*(" + UNREACHABLE + ")",
             "Unreachable|Aside", fix_it=lambda world: world.fcm.start(), needs=fcm),
    Incident("postgres", "Postgres crashes and starts again",
             lambda world: world.postgres.restart(),
             r"starting up|shutting down|terminat|closed the connection|connection.*lost|reconnect"),
    Incident("rows", "Autovacuum is off for a table, and a transaction stays open", vacuum_held,
             r"prevents their removal", printed="dead rows", limit=330),
    Incident("partition", "Tomorrow's partition of the ledger is missing", drop_tomorrow,
             r"no partition for tomorrow", printed="ledger", recovered=has_tomorrow),
    Incident("default", "A row of tomorrow is in the default partition", fill_default,
             r"no partition for tomorrow", printed="ledger", recovered=has_tomorrow),
    Incident("parked", "Postgres refuses the settlement of one ride", poison,
             r"set aside|ride (was )?parked|parked", "Parked",
             fix_it=owner("drop trigger refuse on ridepulse.ledger"), printed="parked rides",
             recovered=is_unparked),
    Incident("storm", "20,000 events of five rides in one transaction", storm,
             r"rides are due|is due", recovered=is_drained, limit=60),
    Incident("reload", "Rules with an error are reloaded",
             lambda world: (bad_rules(world), reload_all(world)),
             r"not reloaded|parsecs|rules\.yaml", "Rules|Reload", fix_it=good_rules),
    Incident("restart", "A node restarts with rules that have an error",
             lambda world: (bad_rules(world), restart(world.nodes[1])),
             r"parsecs|rules\.yaml|last good", "Down|Rules", fix_it=good_rules),
    Incident("clock", "The clock of a node is ten minutes ahead",
             lambda world: set_clock(world.nodes[0], world.shifted(600)), r"clock",
             fix_it=lambda world: set_clock(world.nodes[0], {}), needs=compiler),
    Incident("copy", "A node is started on a restored copy", copy_database, r"pinned|copy",
             printed="pin", recovered=copy_sends),
    Incident("certificate", "A client certificate has expired",
             lambda world: (world.set_certificate(True), reload_all(world)),
             r"expired|BadCertificate", "KeyRefused|LanePaused", world={"certificate": True},
             fix_it=lambda world: (world.set_certificate(False), reload_all(world)),
             needs=compiler),
]


def run_printed(world, check):
    """Runs the command that doctor prints; returns the role that ran it and what was run."""
    for remedy in check["remedy"]:
        # The last one, where it prints one that shows the reasons first.
        verb = re.search(r"then ridepulse (.*)$", remedy)
        if verb:
            world.ridepulse(*shlex.split(verb[1]), user="engine")
            return "engine", f"ridepulse {verb[1]}"
        commands = re.findall(r"psql .*", remedy)
        if not commands:
            continue
        words = shlex.split(commands[-1])
        sql = words[len(words) - words[::-1].index("-c")].rstrip(",")
        is_owners = "schema's owner" in remedy or "as its role" in remedy
        user = "owner" if is_owners else "engine"
        world.postgres.sql(sql, user=user, database=getattr(world, "copy", None) and "copy" or "city")
        return user, sql
    raise Failure("doctor prints no command")
