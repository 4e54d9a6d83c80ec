"""One incident's world: a migrated database with people, two nodes that send, and traffic."""

import json
import os
import signal
import threading
import time
from pathlib import Path

from processes import IS_ROOT, Link, Failure, run, until
from services import HERE, PATH, Node, Postgres, Prometheus, Simulator

RULES = """\
states: { active: [requested], final: [ride_completed] }
events: [ride_offer, news]
rules:
  - { name: offer, app: driver, on: ride_offer, alert: { title: A ride for you }, expires: 15s }
  - { name: news, app: customer, on: news, alert: { title: News }, expires: 10m }
"""
CUSTOMERS, DRIVERS, ANDROIDS = 200, 60, 40
CURVE = ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]


class World:
    def __init__(self, options, directory, pace=0.3, certificate=False, tablespace=None):
        self.binaries, self.directory, self.pace = options.binaries, Path(directory), pace
        self.directory.mkdir(mode=0o755)
        self.has_certificate = certificate
        self._children = []
        self.clock = self._build_clock()
        self.postgres = Postgres(self.directory / "postgres")
        self._make_database(tablespace)
        self._make_keys()
        more = ["--client-ca", f"{self.directory}/client-ca.pem"] if certificate else []
        self.apns = Simulator(self.binaries, "apns-simulator", self.directory / "apns", more)
        has_fcm = os.access(f"{self.binaries}/fcm-simulator", os.X_OK)
        self.fcm = (Simulator(self.binaries, "fcm-simulator", self.directory / "fcm")
                    if has_fcm else None)
        self._register()
        self.set_rules(RULES)
        self.nodes = [self._node(name) for name in ("node-a", "node-b")]
        for node in self.nodes:
            node.start()
        self.prometheus = None
        if os.access("/usr/bin/prometheus", os.X_OK):
            self.prometheus = Prometheus(
                self.directory, options.alerts, [node.port for node in self.nodes])
        self.traffic = Traffic(self.postgres, self.fcm is not None, pace)
        self.await_sending(time.time(), count=10)

    # The parts

    def _build_clock(self):
        library = self.directory / "clock.so"
        try:
            run(["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(HERE / "clock.c")], PATH)
        except (Failure, OSError):
            return None
        return library

    def shifted(self, seconds):
        """The variables that shift a process's clock."""
        if not self.clock:
            raise Failure("clock.c can't be compiled")
        return {"LD_PRELOAD": str(self.clock), "CLOCK_OFFSET": str(seconds)}

    def ridepulse(self, *words, user):
        variables = PATH | {"DATABASE_URL": self.url(user)}
        return run([f"{self.binaries}/ridepulse", *words], variables, limit=120)

    def url(self, user, database="city"):
        return f"host={self.postgres.directory} user={user} dbname={database}"

    def _make_database(self, tablespace):
        sql = self.postgres.sql
        place = ""
        if tablespace:
            sql(f"create tablespace small location '{tablespace}'", database="postgres")
            place = " tablespace small"
        sql("create role owner login createrole; create role engine login; "
            "create role backend login", database="postgres")
        sql("create database city owner owner" + place, database="postgres")
        self.ridepulse("migrate", "--roles", user="owner")
        sql("grant ridepulse_engine to engine; grant ridepulse_app to backend")

    def _make_keys(self):
        state = self.directory / "apns"
        state.mkdir()
        for key in ("SIMKEY0001", "SIMKEY0002"):
            run(["openssl", "genpkey", *CURVE, "-out", f"{state}/AuthKey_{key}.p8"], PATH)
            os.chmod(f"{state}/AuthKey_{key}.p8", 0o600)
        self.set_keys(first_is_revoked=False)
        self.use_key("SIMKEY0001")
        self._certificate(state / "server", "apns.test", state / "ca",
                          "subjectAltName=DNS:apns.test,DNS:localhost,IP:127.0.0.1")
        if self.has_certificate:
            client = self.directory / "client"
            self._certificate(client, "com.example.customer", self.directory / "client-ca",
                              "extendedKeyUsage=clientAuth")
            self.valid = client.with_suffix(".pem").read_text()

    def _certificate(self, path, name, authority, extension, variables=None):
        """Writes a certificate and its key next to an authority, which is made once."""
        if not authority.with_suffix(".pem").exists():
            run(["openssl", "req", "-x509", "-newkey", "ec", *CURVE[2:], "-nodes", "-days", "3650",
                 "-subj", f"/CN={authority.name}", "-keyout", f"{authority}.key", "-out",
                 f"{authority}.pem"], PATH | (variables or {}))
        run(["openssl", "req", "-newkey", "ec", *CURVE[2:], "-nodes", "-subj",
             f"/UID={name}/CN={name}", "-keyout", f"{path}.key", "-out", f"{path}.csr"], PATH)
        Path(f"{path}.ext").write_text(extension)
        run(["openssl", "x509", "-req", "-in", f"{path}.csr", "-CA", f"{authority}.pem", "-CAkey",
             f"{authority}.key", "-set_serial", str(time.time_ns()), "-days", "30", "-extfile",
             f"{path}.ext", "-out", f"{path}.pem"], PATH | (variables or {}))
        for file in (f"{path}.key", f"{authority}.key"):
            os.chmod(file, 0o600)

    def set_certificate(self, is_expired):
        client = self.directory / "client"
        variables = self.shifted(-400 * 86400) if is_expired else {}
        self._certificate(client, "com.example.customer", self.directory / "client-ca",
                          "extendedKeyUsage=clientAuth", variables)

    def set_keys(self, first_is_revoked):
        first = {"revoked": True} if first_is_revoked else {}
        replace(self.directory / "apns/keys.json",
                json.dumps({"SIMKEY0001": first, "SIMKEY0002": {}}))

    def use_key(self, key):
        link = self.directory / "apns.p8"
        link.with_suffix(".new").symlink_to(f"apns/AuthKey_{key}.p8")
        link.with_suffix(".new").rename(link)

    def set_rules(self, text):
        (self.directory / "rules").mkdir(exist_ok=True)
        replace(self.directory / "rules/rules.yaml", text)

    def _register(self):
        self.register("customer", "c", CUSTOMERS)
        self.register("driver", "d", DRIVERS)
        if self.fcm:
            token = "rpad('a' || n, 22, '_') || ':APA91b' || repeat('x', 134)"
            self.register("customer", "a", ANDROIDS, token, ", platform => 'android'")

    def register(self, app, prefix, count, token=None, more=""):
        token = token or f"encode(sha256(convert_to('{prefix}' || n, 'UTF8')), 'hex')"
        self.postgres.sql(
            f"select count(*) from generate_series(0, {count - 1}) n, ridepulse.register_device("
            f"'{app}', '{prefix}' || n, {token}, installation_id => '{prefix}' || n{more})",
            user="backend")

    def _node(self, name, database="city"):
        link = Link(self.apns.port)
        host = "apns.test" if IS_ROOT else "127.0.0.1"
        state = self.directory / "apns"
        environment = {
            "DATABASE_URL": self.url("engine", database), "APNS_TEAM_ID": "SIMTEAM001",
            "APNS_PRIVATE_KEY_PATH": f"{self.directory}/apns.p8", "APNS_CA_FILE": f"{state}/ca.pem",
            "APNS_CUSTOMER_BUNDLE_ID": "com.example.customer",
            "APNS_DRIVER_BUNDLE_ID": "com.example.driver",
            "APNS_PRODUCTION_URL": f"https://{host}:{link.port}",
            "RIDEPULSE_SCHEDULES": f"{self.directory}/rules"}
        if self.has_certificate:
            environment |= {"APNS_CUSTOMER_CERTIFICATE_PATH": f"{self.directory}/client.pem",
                            "APNS_CUSTOMER_CERTIFICATE_KEY_PATH": f"{self.directory}/client.key"}
        if self.fcm:
            environment |= {
                "FCM_SERVICE_ACCOUNT_PATH": f"{self.fcm.state}/service-account.json",
                "FCM_URL": f"https://127.0.0.1:{self.fcm.port}",
                "FCM_CA_FILE": f"{self.fcm.state}/ca.pem"}
        return Node(name, self.binaries, self.directory, environment, link)

    def add_node(self, name, database):
        node = self._node(name, database)
        node.start()
        self.nodes.append(node)
        return node

    def hold(self, text):
        held = self.postgres.hold(text, f"{self.directory}/held.log")
        self._children.append(held)
        return held

    # What it shows

    def accepted(self, since):
        """Returns the number of accepted pushes of events after a time, by their kind."""
        rows = self.postgres.tries(
            "select app || left(ride_id, 1), count(*) from ridepulse.ledger "
            f"where status = 'accepted' and occurred_at >= to_timestamp({since}) group by 1",
            limit=5) or ""
        return dict(row.split("|") for row in rows.splitlines() if "|" in row)

    def await_sending(self, since, count=3, limit=120):
        kinds = ["driverr", "customerr"] + ["customera"] * (self.fcm is not None)

        def is_sending():
            counts = self.accepted(since)
            return all(int(counts.get(kind, 0)) >= count for kind in kinds)
        until(is_sending, "pushes of each kind are accepted", limit)

    def offers(self, since):
        """Returns (all, expired, p95 of commit to accepted in s) of the offers after a time."""
        row = self.postgres.sql(
            "select count(*), count(*) filter (where status = 'expired'), "
            "round(percentile_cont(0.95) within group (order by extract(epoch from finished_at - "
            "occurred_at)) filter (where status = 'accepted')::numeric, 2) from ridepulse.ledger "
            f"where rule = 'offer' and occurred_at >= to_timestamp({since})").split("|")
        return int(row[0]), int(row[1]), row[2]

    def close(self):
        self.traffic.stop()
        for node in self.nodes:
            if node.process.poll() is None:
                node.send(signal.SIGCONT)
                node.stop(signal.SIGKILL)
            node.link.cut()
        servers = [self.prometheus, self.apns, self.fcm, self.postgres]
        for child in [server.process for server in servers if server] + self._children:
            child.send_signal(signal.SIGQUIT if child is self.postgres.process else signal.SIGKILL)
            child.wait()


def replace(path, text):
    new = path.with_suffix(".replacing")
    new.write_text(text)
    new.rename(path)


class Traffic:
    """Rides with an offer and news, and news to an Android phone, as the backend's role."""

    def __init__(self, postgres, has_android, pace):
        self.committed, self.failed = 0, 0
        self._stopping = threading.Event()
        self._work = (postgres, has_android, pace)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        postgres, has_android, pace = self._work
        number = 0
        while not self._stopping.wait(pace):
            number += 1
            sql = (f"insert into ridepulse.rides (id, state, customer_id, driver_id) values "
                   f"('r{number}', 'requested', 'c{number % CUSTOMERS}', 'd{number % DRIVERS}'); "
                   f"select ridepulse.emit('ride_offer', 'r{number}'), "
                   f"ridepulse.emit('news', 'r{number}');")
            if has_android:
                sql += (f"insert into ridepulse.rides (id, state, customer_id) values "
                        f"('a{number}', 'requested', 'a{number % ANDROIDS}'); "
                        f"select ridepulse.emit('news', 'a{number}')")
            try:
                postgres.sql(sql, user="backend", limit=10)
                self.committed += 1
            except Failure:
                self.failed += 1

    def stop(self):
        self._stopping.set()
        self._thread.join()
