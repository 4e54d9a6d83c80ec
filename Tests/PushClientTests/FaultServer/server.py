"""An HTTP/2 server that misbehaves as told; it shares no line with the client or the simulator.

usage: server.py CERTIFICATE KEY SCRIPT

SCRIPT is JSON: {"alpn": true, "client_ca": path, "connections": [CONNECTION, ...]}; the last
CONNECTION serves all later ones. With client_ca clients may present a certificate, whose name is
printed. CONNECTION: {"streams": 1000, "then_streams": N, "answers": [ANSWER, ...]}; the last
ANSWER serves all later requests. With "http1": true it is one request of HTTP/1.1, whose ANSWER has
status, body and delay only. ANSWER is one of
  {"status": 200, "headers": [[name, value]], "interim": 103, "trailers": [[name, value]],
   "body": text, "size": bytes}
  {"raw": [[name, value]], "body": text}     headers exactly as given
  {"silent": true}                           never answers
  {"hole": true}                             reads nothing any more
  {"refuse": true} / {"reset": code}         RST_STREAM
  {"goaway": stream, "reason": text, "close": true}
  {"goaways": [stream, ...], "code": n, ...}  these GOAWAY frames, then what else the ANSWER has
  {"status": 200, "body": text, "cut": true}  half of the body, and the end of the connection
  {"close": true}                            ends the connection
Any ANSWER may have "after": N, and waits until N connections were accepted, and "delay": seconds.
It prints its port and one line of JSON for each thing that arrives, and ends with its standard
input.
"""
import json, os, socket, ssl, sys, threading, time
import h2.config, h2.connection, h2.errors, h2.events, h2.exceptions, h2.settings
import hyperframe.frame

LOCK = threading.Lock()
ACCEPTED = threading.Condition()
accepted = 0


def say(**fields):
    with LOCK:
        print(json.dumps(fields), flush=True)


class Connection:
    def __init__(self, number, sock, script):
        self.number, self.sock, self.script = number, sock, script
        self.seen, self.headers, self.bodies = 0, {}, {}
        self.hole = self.gone = False
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(
            client_side=False, header_encoding="utf-8", validate_inbound_headers=True,
            validate_outbound_headers=False, normalize_outbound_headers=False))
        self.h2.local_settings = h2.settings.Settings(client=False, initial_values={
            h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: script.get("streams", 1000)})

    def flush(self):
        data = self.h2.data_to_send()
        if data:
            self.sock.sendall(data)

    def serve(self):
        self.h2.initiate_connection()
        self.flush()
        while not self.gone:
            data = self.sock.recv(65536)
            if not data:
                break
            for event in self.h2.receive_data(data):
                self.handle(event)
            if self.hole:
                threading.Event().wait()
            self.flush()
        self.sock.close()

    def handle(self, event):
        if isinstance(event, h2.events.RequestReceived):
            self.headers[event.stream_id] = dict(event.headers)
            self.bodies[event.stream_id] = b""
        elif isinstance(event, h2.events.DataReceived):
            self.bodies[event.stream_id] += event.data
            self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.StreamEnded):
            body = self.bodies.pop(event.stream_id)
            say(event="request", connection=self.number, stream=event.stream_id,
                headers=self.headers[event.stream_id], body=len(body),
                text=body[:200].decode("utf-8", "replace"))
            answers = self.script.get("answers", [{"status": 200}])
            answer = answers[min(self.seen, len(answers) - 1)]
            self.seen += 1
            if not self.gone:
                self.answer(event.stream_id, answer)
        elif isinstance(event, h2.events.PingReceived):
            say(event="ping", connection=self.number)
        elif isinstance(event, h2.events.StreamReset):
            say(event="reset", connection=self.number, stream=event.stream_id,
                code=int(event.error_code))

    def answer(self, stream, answer):
        if "after" in answer:
            with ACCEPTED:
                ACCEPTED.wait_for(lambda: accepted >= answer["after"])
        time.sleep(answer.get("delay", 0))
        if "goaways" in answer:
            self.flush()
            for last in answer["goaways"]:
                self.sock.sendall(hyperframe.frame.GoAwayFrame(
                    0, last_stream_id=last, error_code=answer.get("code", 0),
                    additional_data=answer.get("reason", "").encode()).serialize())
        if "goaway" in answer:
            text = json.dumps({"reason": answer["reason"]}).encode()
            self.h2.close_connection(0, text, answer["goaway"])
            self.flush()
            self.gone = answer.get("close", False)
        elif answer.get("cut"):
            self.h2.send_headers(stream, [(":status", str(answer["status"]))])
            body = answer["body"].encode()
            self.h2.send_data(stream, body[:len(body) // 2])
            self.flush()
            drain(self.sock)
            self.gone = True
        elif answer.get("close"):
            self.gone = True
        elif answer.get("hole"):
            self.hole = True
        elif answer.get("refuse"):
            self.h2.reset_stream(stream, h2.errors.ErrorCodes.REFUSED_STREAM)
        elif "reset" in answer:
            self.h2.reset_stream(stream, answer["reset"])
        elif not answer.get("silent"):
            self.reply(stream, answer)
            if "then_streams" in self.script and self.seen == 1:
                self.h2.update_settings({
                    h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: self.script["then_streams"]})

    def reply(self, stream, answer):
        if "interim" in answer:
            self.h2.send_headers(stream, [(":status", str(answer["interim"]))])
        headers = answer.get("raw") or [[":status", str(answer["status"])]]
        headers = [tuple(h) for h in headers + answer.get("headers", [])]
        body = answer.get("body", "").encode() + b"x" * answer.get("size", 0)
        trailers = answer.get("trailers")
        self.h2.send_headers(stream, headers, end_stream=not body and not trailers)
        while body:
            # What exceeds the client's window is never sent: the client has reset the stream.
            room = min(4096, self.h2.local_flow_control_window(stream))
            if not room:
                return
            piece, body = body[:room], body[room:]
            self.h2.send_data(stream, piece, end_stream=not body and not trailers)
        if trailers:
            self.h2.send_headers(stream, [tuple(t) for t in trailers], end_stream=True)


def serve_http1(number, sock, script):
    data = b""
    while b"\r\n\r\n" not in data:
        piece = sock.recv(65536)
        if not piece:
            return
        data += piece
    head, body = data.split(b"\r\n\r\n", 1)
    lines = head.decode().split("\r\n")
    headers = {name.lower(): value for name, value in (l.split(": ", 1) for l in lines[1:])}
    while len(body) < int(headers.get("content-length", 0)):
        body += sock.recv(65536)
    say(event="request", connection=number, stream=0, headers=headers, body=len(body),
        text=lines[0])
    answer = script["answers"][0]
    time.sleep(answer.get("delay", 0))
    body = answer.get("body", "").encode()
    sock.sendall(b"HTTP/1.1 %d Told\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%s" % (
        answer["status"], len(body), body))
    sock.close()


def handshake(raw, context):
    sock = context.wrap_socket(raw, server_side=True, do_handshake_on_connect=False)
    try:
        sock.do_handshake()
    except OSError:
        try:
            drain(sock)
        finally:
            sock.close()
        raise
    return sock


def drain(sock):
    """Closing with unread bytes would reset the connection, and lose what was sent."""
    sock.shutdown(socket.SHUT_WR)
    while sock.recv(65536):
        pass


def serve(number, raw, context, script):
    try:
        sock = handshake(raw, context)
        if context.verify_mode != ssl.CERT_NONE:
            subject = (sock.getpeercert() or {}).get("subject", ())
            names = [value for part in subject for name, value in part if name == "commonName"]
            say(event="peer", connection=number, text=",".join(names))
        if script.get("http1"):
            serve_http1(number, sock, script)
        else:
            Connection(number, sock, script).serve()
    except h2.exceptions.ProtocolError as error:
        say(event="violation", connection=number, text=repr(error))
        raw.close()
    except OSError as error:
        say(event="lost", connection=number, text=repr(error))


def main():
    global accepted
    certificate, key, script = sys.argv[1:4]
    script = json.loads(script)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    if script.get("alpn", True):
        context.set_alpn_protocols(["h2"])
    if "client_ca" in script:
        context.load_verify_locations(script["client_ca"])
        context.verify_mode = ssl.CERT_OPTIONAL
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    say(event="port", port=listener.getsockname()[1])

    def end():
        sys.stdin.read()
        os._exit(0)

    threading.Thread(target=end, daemon=True).start()
    number = 0
    while True:
        raw, _ = listener.accept()
        say(event="accepted", connection=number)
        with ACCEPTED:
            accepted += 1
            ACCEPTED.notify_all()
        scripts = script["connections"]
        chosen = scripts[min(number, len(scripts) - 1)]
        threading.Thread(target=serve, args=(number, raw, context, chosen), daemon=True).start()
        number += 1


main()
