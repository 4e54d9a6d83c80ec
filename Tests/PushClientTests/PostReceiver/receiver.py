"""A receiver of posts: checks each signature with the library standardwebhooks, prints a line of
JSON for each post, and answers as the path says: /200, /503?retry-after=7, /hang, /cut; the body of
/slow does not end, and that of /short is cut off."""
import http.server
import json
import os
import sys
import threading
import time
import urllib.parse

from standardwebhooks import Webhook

webhook = Webhook(sys.argv[1])


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        try:
            webhook.verify(body, {name.lower(): value for name, value in self.headers.items()})
            problem = None
        except Exception as error:
            problem = str(error)
        show({
            "event": "post", "id": self.headers["webhook-id"], "problem": problem,
            "body": body.decode(), "type": self.headers["content-type"],
        })
        url = urllib.parse.urlparse(self.path)
        word = url.path.strip("/")
        if word == "hang":
            time.sleep(60)
        if word in ("hang", "cut"):
            self.close_connection = True
            return
        if word in ("slow", "short"):
            self.send_response(200)
            self.send_header("content-length", "5")
            self.end_headers()
            self.wfile.write(b"ab")
            self.wfile.flush()
            if word == "slow":
                time.sleep(60)
            self.close_connection = True
            return
        self.send_response(int(word))
        query = dict(urllib.parse.parse_qsl(url.query))
        if word.startswith("3"):
            query["location"] = "/200"
        for name, value in query.items():
            self.send_header(name, value)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


lock = threading.Lock()


def show(line):
    # Two threads that print at once mix their lines.
    with lock:
        print(json.dumps(line), flush=True)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
show({"event": "ready", "port": server.server_port})
sys.stdin.read()
os._exit(0)
