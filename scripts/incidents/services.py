"""What a play runs against: a private Postgres, both simulators, nodes and Prometheus."""

import glob
import json
import os
import pwd
import signal
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

from processes import IS_ROOT, Failure, free_port, run, spawn, until

HERE = Path(__file__).resolve().parent
SERVER = "postgres" if IS_ROOT else pwd.getpwuid(os.geteuid()).pw_name
SERVER_USER = SERVER if IS_ROOT else None
PATH = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"}


def fetch(url, limit=3):
    """Returns status and text of an answer; (0, reason) without one."""
    try:
        with urllib.request.urlopen(url, timeout=limit) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError as error:
        return 0, str(error)


class Postgres:
    """A cluster that only a socket in its directory reaches."""

    def __init__(self, directory):
        found = glob.glob("/usr/lib/postgresql/*/bin/initdb")
        if not found:
            raise Failure("no Postgres; scripts/packages build installs it")
        newest = max(found, key=lambda path: float(path.split("/")[4]))
        self.programs = os.path.dirname(newest)
        self.directory = str(directory)
        os.makedirs(directory)
        if IS_ROOT:
            run(["chown", SERVER, self.directory])
        self.environment = PATH | {"PGHOST": self.directory, "PGDATABASE": "city"}
        run([newest, "-D", f"{directory}/data", "--username=postgres", "--auth=trust", "-E", "UTF8",
             "--locale=C", "--no-sync", "--no-instructions"], PATH, SERVER_USER)
        self.start()

    def start(self):
        settings = ["listen_addresses=", f"unix_socket_directories={self.directory}", "fsync=off",
                    "shared_buffers=32MB", "dynamic_shared_memory_type=mmap", "max_connections=200"]
        self.process = spawn(
            [f"{self.programs}/postgres", "-D", f"{self.directory}/data"]
            + [word for setting in settings for word in ("-c", setting)],
            "/dev/null", PATH, SERVER_USER)
        until(lambda: self.tries("select 1", database="postgres"), "Postgres starts")

    def restart(self):
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait()
        self.start()

    def sql(self, text, user="postgres", database="city", limit=30):
        """Runs statements in one transaction and returns their rows, columns separated by |."""
        variables = self.environment | {"PGUSER": user, "PGDATABASE": database,
                                        "PGOPTIONS": "-c lock_timeout=2s"}
        return run(["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-c", text], variables,
                   limit=limit).strip()

    def tries(self, text, **more):
        """Returns the rows, or nothing if the statement fails."""
        try:
            return self.sql(text, **more) or "done"
        except Failure:
            return None

    def hold(self, text, log, user="owner"):
        """Runs statements in a session that stays open until its process is ended."""
        return spawn(["psql", "-Xq", "-c", text], log,
                     self.environment | {"PGUSER": user, "PGAPPNAME": "report"})


class Simulator:
    """One of the simulators, on a port that it keeps over restarts."""

    def __init__(self, binaries, name, state, options=()):
        self.port = free_port()
        self.state = Path(state)
        self._line = [f"{binaries}/{name}", "--port", str(self.port), "--state", str(state),
                      "--quiet", *options]
        self._log = f"{state}.log"
        self.start()

    def start(self):
        self.process = spawn(self._line, self._log, PATH)
        until(lambda: "https://" in Path(self._log).read_text(), "a simulator starts")

    def kill(self):
        self.process.kill()
        self.process.wait()
        Path(self._log).write_text("")

    def post(self, path, value):
        run(["curl", "-sSf", "--http2", "--max-time", "20", "--cacert", f"{self.state}/ca.pem",
             "--data-binary", json.dumps(value), f"https://127.0.0.1:{self.port}/simulator/{path}"],
            PATH)


class Node:
    """A `ridepulse serve`, as root in a host name and a name resolution of its own."""

    def __init__(self, name, binaries, directory, environment, link):
        self.name, self.link = name, link
        self.port = free_port()
        self.environment = PATH | environment | {"RIDEPULSE_ADMIN": f"127.0.0.1:{self.port}"}
        self._program = f"{binaries}/ridepulse"
        self._hosts = Path(f"{directory}/{name}.hosts")
        self._resolver = Path(f"{directory}/{name}.resolv")
        self.log = Path(f"{directory}/{name}.log")
        self.process = None
        self.resolves(True)
        self._resolver.write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")

    def resolves(self, it_does):
        """Lets the host name of APNs be found or not; open connections stay."""
        self._hosts.write_text("127.0.0.1 localhost\n" + "127.0.0.1 apns.test\n" * it_does)

    def line(self, *words):
        if not IS_ROOT:
            return [self._program, *words]
        script = ('mount --make-rprivate / && mount --bind "$1" /etc/hosts && '
                  'mount --bind "$2" /etc/resolv.conf && hostname "$3" && shift 3 && exec "$@"')
        return ["unshare", "-m", "-u", "sh", "-c", script, "sh", str(self._hosts),
                str(self._resolver), self.name, self._program, *words]

    def start(self, waits=True):
        self.process = spawn(self.line("serve"), self.log, self.environment)
        if waits:
            until(lambda: fetch(f"http://127.0.0.1:{self.port}/healthz")[0], f"{self.name} serves")

    def send(self, number):
        self.process.send_signal(number)

    def stop(self, number=signal.SIGTERM):
        if self.process and self.process.poll() is None:
            self.send(number)
            self.process.wait(60)

    def ready(self):
        return fetch(f"http://127.0.0.1:{self.port}/readyz")

    def doctor(self):
        """Returns the check results that are not OK."""
        done = subprocess.run(
            self.line("doctor", "--format", "json"), env=self.environment, cwd="/",
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=130)
        try:
            checks = json.loads(done.stdout)["checks"]
        except (ValueError, KeyError):
            return []
        # Builds before 0.1.0 have other names.
        for check in checks:
            check.setdefault("message", check.get("what"))
            check.setdefault("status", check.get("standing"))
        return [check for check in checks if check["status"] not in ("ok", "skipped")]


class Prometheus:
    """Prometheus with the shipped alert rules; it scrapes and evaluates every 5 s."""

    def __init__(self, directory, alerts, ports):
        self.port = free_port()
        settings = {
            "global": {"scrape_interval": "5s", "scrape_timeout": "4s", "evaluation_interval": "5s"},
            "rule_files": [str(alerts)],
            "scrape_configs": [{"job_name": "ridepulse", "static_configs": [
                {"targets": [f"127.0.0.1:{port}" for port in ports]}]}]}
        file = Path(f"{directory}/prometheus.json")
        file.write_text(json.dumps(settings))
        self.process = spawn(
            ["prometheus", f"--config.file={file}", f"--storage.tsdb.path={directory}/prometheus",
             f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=error"],
            f"{directory}/prometheus.log", PATH)
        until(lambda: fetch(f"http://127.0.0.1:{self.port}/-/ready")[0] == 200, "Prometheus starts")

    def firing(self):
        """Returns name and summary of each alert that fires."""
        status, text = fetch(f"http://127.0.0.1:{self.port}/api/v1/alerts")
        alerts = json.loads(text)["data"]["alerts"] if status == 200 else []
        return {(alert["labels"]["alertname"], alert["annotations"].get("summary", ""))
                for alert in alerts if alert["state"] == "firing"}
