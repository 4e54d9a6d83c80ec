"""A receiver of OTLP/HTTP in JSON: reads each request by OpenTelemetry's own protobuf definitions, as
strictly as a collector, and prints a line of JSON for it. A line on standard input sets the answers
from then on: a status, such as 503, `503 2` with retry-after, or `partial N`."""
import base64
import http.server
import json
import os
import re
import sys
import threading

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as service

answer = ["200"]
sizes = {"traceId": 32, "spanId": 16, "parentSpanId": 16}


def with_bytes(value):
    """Replaces IDs by base64: OTLP has them in hexadecimal, unlike the JSON of protobuf."""
    if isinstance(value, list):
        return [with_bytes(item) for item in value]
    if not isinstance(value, dict):
        return value
    changed = {}
    for key, item in value.items():
        if key in sizes:
            if not re.fullmatch("[0-9a-f]{%d}" % sizes[key], item) or int(item, 16) == 0:
                raise ValueError("%s is %s" % (key, item))
            item = base64.b64encode(bytes.fromhex(item)).decode()
        elif key in ("kind", "code") and type(item) is not int:
            raise ValueError("%s is %s; enumerations are integers" % (key, item))
        elif key.endswith("UnixNano") and type(item) is not str:
            raise ValueError("%s is %s; numbers of 64 bits are texts" % (key, item))
        changed[key] = with_bytes(item)
    return changed


def attributes(values):
    return {
        item.key: item.value.string_value if item.value.HasField("string_value")
        else str(item.value.int_value) for item in values
    }


def plain(span):
    if span.end_time_unix_nano < span.start_time_unix_nano:
        raise ValueError("%s ends before it starts" % span.name)
    return {
        "traceID": span.trace_id.hex(), "id": span.span_id.hex(),
        "parentID": span.parent_span_id.hex(), "name": span.name, "kind": span.kind,
        "start": span.start_time_unix_nano, "end": span.end_time_unix_nano,
        "attributes": attributes(span.attributes), "isError": span.status.code == 2,
        "links": [link.trace_id.hex() + "-" + link.span_id.hex() for link in span.links],
        "events": [event.name for event in span.events],
    }


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        request = service.ExportTraceServiceRequest()
        line = {
            "event": "request", "path": self.path, "spans": [], "resource": {}, "body": "",
            "authorization": self.headers["authorization"] or "", "answer": answer[0],
        }
        try:
            if self.headers["content-type"] != "application/json":
                raise ValueError("content-type is %s" % self.headers["content-type"])
            json_format.ParseDict(with_bytes(json.loads(body)), request)
            for group in request.resource_spans:
                line["resource"] = attributes(group.resource.attributes)
                for scope in group.scope_spans:
                    line["spans"] += [plain(span) for span in scope.spans]
            line["body"] = body.decode()
        except Exception as error:
            line["problem"] = str(error)
        words = answer[0].split()
        status = "400" if "problem" in line else words[0]
        rejected = "0"
        if status == "partial":
            status, rejected = "200", words[1]
        show(line)
        self.send_response(int(status))
        if words[0] != "partial" and len(words) > 1:
            self.send_header("retry-after", words[1])
        reply = json.dumps({"partialSuccess": {"rejectedSpans": rejected}}).encode()
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

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
for command in sys.stdin:
    answer[0] = command.strip()
    show({"event": "set"})
os._exit(0)
