"""Child processes that end with this one, free ports, and waiting for conditions."""

import ctypes
import os
import random
import signal
import socket
import subprocess
import threading
import time

_libc = ctypes.CDLL(None)
IS_ROOT = os.geteuid() == 0


class Failure(Exception):
    """Something that the play needs did not work."""


def spawn(line, log, environment=None, user=None, stdin=subprocess.DEVNULL):
    """Starts a program that the kernel ends with this process; call it from the main thread only."""
    with open(log, "ab") as output:
        return subprocess.Popen(
            line, stdin=stdin, stdout=output, stderr=output, env=environment, user=user, group=user,
            extra_groups=[] if user else None, cwd="/",
            preexec_fn=lambda: _libc.prctl(1, signal.SIGKILL))


def run(line, environment=None, user=None, limit=60):
    """Runs a program to its end and returns its output; throws with its errors."""
    try:
        done = subprocess.run(
            line, env=environment, user=user, group=user, extra_groups=[] if user else None,
            cwd="/", stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired as late:
        raise Failure(f"{line[0]}: no end within {limit} s") from late
    if done.returncode != 0:
        raise Failure(f"{line[0]}: {(done.stderr or done.stdout).strip()[-400:]}")
    return done.stdout


def until(condition, what, limit=60):
    """Waits until a condition returns something true, and returns that."""
    end = time.monotonic() + limit
    pause = threading.Event()
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise Failure(f"{what}: not within {limit} s")
        pause.wait(0.1)


def free_port():
    """Returns a port below those that the system gives to clients."""
    while True:
        port = random.randint(15000, 31999)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


class Link:
    """A way over TCP from a node to a service, which can be cut."""

    def __init__(self, target):
        self.port = free_port()
        self._target = target
        self._open = set()
        self._lock = threading.Lock()
        self._listener = None
        self.restore()

    def cut(self):
        """Ends all connections, and refuses new ones."""
        with self._lock:
            listener, self._listener = self._listener, None
        if listener:
            listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        self.drop()

    def drop(self):
        """Ends all connections."""
        with self._lock:
            ended, self._open = self._open, set()
        for end in ended:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def restore(self):
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self.port))
        listener.listen(64)
        self._listener = listener
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def _accept(self, listener):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self._target), 5)
                server.settimeout(None)
            except OSError:
                client.close()
                continue
            with self._lock:
                self._open |= {client, server}
            for ends in ((client, server), (server, client)):
                threading.Thread(target=self._copy, args=ends, daemon=True).start()

    def _copy(self, source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        with self._lock:
            self._open -= {source, sink}
