"""A phone's calls, through your backend to RidePulse: docs/app.md, Through your backend. Python 3.9, no packages.

RIDEPULSE_URL=http://127.0.0.1:9464 RIDEPULSE_ADMIN_TOKEN=… PORT=8080 python3 proxy.py
"""
import http.client
import io
import json
import os
import re
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote, urlsplit

TOKEN = os.environ.get("RIDEPULSE_ADMIN_TOKEN", "")
BYTES, SECONDS, REQUESTS = 64 * 1024, 10, 256
# So much is read of a body that is refused.
DISCARDED = 1024 * 1024
# The card of an Android phone: RidePulse gives these IDs, and phones register none of them.
ANDROID_CARD = re.compile("[1-9][0-9]*[.]")
WITHDRAWAL = re.compile(r"DELETE /v1/(devices|push-to-start|live-activities)/([\w-]+)/[\w%:~-][\w%:.~-]*", re.A)
CALLS = re.compile(r"POST /v1/(devices|push-to-start|live-activities|contact)|PUT /v1/preferences")

CLIENTS = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
try:
    URL = urlsplit(os.environ.get("RIDEPULSE_URL", "http://127.0.0.1:9464"))
    if URL.scheme not in CLIENTS or not URL.hostname or URL.path not in ("", "/"):
        raise ValueError("use http://HOST:PORT or https://HOST:PORT")
    RIDEPULSE = CLIENTS[URL.scheme], URL.hostname, URL.port
except ValueError as problem:
    sys.exit(f"RIDEPULSE_URL can't be used: {problem}")

# Put your own here: who has a request's session, with the apps of the rules, and whose a ride is.
SESSIONS = json.loads(os.environ.get("SESSIONS", "{}"))
RIDES = json.loads(os.environ.get("RIDES", "{}"))


def person_of(headers):
    words = (headers.get("Authorization") or "").split(" ")
    return SESSIONS.get(words[1]) if len(words) == 2 and words[0] == "Bearer" else None


def is_of(person, ride):
    return isinstance(ride, str) and person["owner"] in RIDES.get(ride, [])


class Refusal(Exception):
    def __init__(self, status, code, message):
        super().__init__(message)
        self.answer = status, json.dumps({"error": {"code": code, "message": message}}).encode(), None


class Incoming(io.RawIOBase):
    """Reads a request until its deadline: the timeout of a socket begins again with each byte."""

    def __init__(self, connection):
        self.connection, self.deadline = connection, time.monotonic() + SECONDS

    def readable(self):
        return True

    def readinto(self, buffer):
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise socket.timeout("the request is too slow")
        self.connection.settimeout(left)
        return self.connection.recv_into(buffer)


class Proxy(BaseHTTPRequestHandler):
    timeout = SECONDS

    def setup(self):
        super().setup()
        self.rfile = io.BufferedReader(Incoming(self.connection))

    def body(self):
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch("[0-9]{1,9}", length):
            raise Refusal(411, "invalid_request", "Content-Length is missing")
        if int(length) > BYTES:
            raise Refusal(413, "body_too_large", "more than 64 KiB")
        try:
            text = self.rfile.read(int(length))
        except socket.timeout:
            raise Refusal(408, "invalid_request", f"the request takes longer than {SECONDS} s") from None
        self.unread -= len(text)
        try:
            body = json.loads(text)
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            raise Refusal(400, "invalid_json", "the body is not a JSON object")
        return body

    def translate(self, person):
        """Returns path and body for RidePulse. Whose call it is, the session decides, not what the phone claims."""
        path = re.sub("^/push(?=/)", "", self.path.split("?")[0])
        call = f"{self.command} {path}"
        if gone := WITHDRAWAL.fullmatch(call):
            if gone[2] not in person["apps"]:
                raise Refusal(403, "forbidden", "the app is not of this session")
            if gone[1] != "live-activities":
                return path, None
            reason = "&reason=signed_out" if re.search("[?&]reason=signed_out(&|$)", self.path) else ""
            return path + "?owner_id=" + quote(person["owner"], safe="") + reason, None
        if call == "POST /v1/seen":
            return path, {"apns_id": self.body().get("apns_id")}
        if not CALLS.fullmatch(call):
            raise Refusal(404, "not_found", "phones have no such call")
        body = self.body()
        if path == "/v1/live-activities" and not is_of(person, body.get("ride_id")):
            raise Refusal(403, "forbidden", "the ride is not of this person")
        if path == "/v1/live-activities" and ANDROID_CARD.match(str(body.get("activity_id"))):
            raise Refusal(403, "forbidden", "the card of an Android phone is not registered")
        app = body.get("app") if body.get("app") in person["apps"] else person["apps"][0]
        return path, {**body, "app": app, "owner_id": person["owner"]}

    def forward(self, path, body):
        headers = {"Authorization": f"Bearer {TOKEN}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if key := self.headers.get("Idempotency-Key"):
            headers["Idempotency-Key"] = key
        client, host, port = RIDEPULSE
        connection = client(host, port, timeout=SECONDS)
        try:
            connection.request(self.command, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            # RidePulse refuses the backend, not the phone, whose session is good.
            if answer.status in (401, 403):
                raise OSError(f"RidePulse answers {answer.status}")
            return answer.status, answer.read(), answer.headers.get("Retry-After")
        finally:
            connection.close()

    def discard(self):
        """Reads what was refused: a close before that would reset the connection, and the answer with it."""
        left = min(self.unread, DISCARDED)
        while left > 0 and (part := self.rfile.read1(min(left, BYTES))):
            left -= len(part)

    def serve(self):
        length = self.headers.get("Content-Length", "" if "Transfer-Encoding" in self.headers else "0")
        self.unread = int(length) if re.fullmatch("[0-9]{1,9}", length) else DISCARDED
        try:
            person = person_of(self.headers)
            if person is None:
                raise Refusal(401, "unauthorized", "no session")
            status, text, after = self.forward(*self.translate(person))
        except Refusal as refusal:
            status, text, after = refusal.answer
        except (OSError, ValueError, http.client.HTTPException) as problem:
            self.log_error("%s failed: %s", self.command, problem)
            status, text, after = Refusal(503, "unknown_outcome", "RidePulse did not answer").answer
        self.connection.settimeout(SECONDS)
        try:
            self.answer(status, text, after)
            self.discard()
        except OSError as problem:
            self.log_error("%s ended early: %s", self.command, problem)

    def answer(self, status, text, after):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        if after:
            self.send_header("Retry-After", after)
        self.end_headers()
        self.wfile.write(text)

    do_POST = do_PUT = do_DELETE = serve

    def log_request(self, code="-", size="-"):
        """Paths have tokens: they do not belong in a log."""


class Server(ThreadingHTTPServer):
    """Accepts a request once there is a place for it: more wait in the socket's queue."""

    request_queue_size = 128
    places = threading.BoundedSemaphore(REQUESTS)

    def process_request(self, request, client_address):
        self.places.acquire()
        try:
            super().process_request(request, client_address)
        except BaseException:
            self.places.release()
            raise

    def process_request_thread(self, request, client_address):
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.places.release()


if __name__ == "__main__":
    server = Server(("127.0.0.1", int(os.environ.get("PORT", "8080"))), Proxy)
    print(f"listening on {server.server_port}", flush=True)
    server.serve_forever()
