"""Clients of an HTTP server that hold its connections as long as they can.

usage: slow.py PORT HOW COUNT ADDRESS...   COUNT from each address; "held" once all are open, and then
how many of them the server has closed, each time that changes; ends at the end of its input
  nothing  says nothing
  head     a header line that never ends, byte by byte
  body     a body that never ends, byte by byte
  idle     one request, and then no other
  call     calls /v1/contact, again after each answer
"""
import select
import socket
import sys
import time

port, how, count, addresses = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4:]
HEAD = b"Host: 127.0.0.1\r\n"
STARTS = {
    "nothing": b"",
    "head": b"GET /healthz HTTP/1.1\r\n" + HEAD + b"X: ",
    "body": b"POST /v1/events HTTP/1.1\r\n" + HEAD + b"Content-Length: 60000\r\n\r\n",
    "idle": b"GET /healthz HTTP/1.1\r\n" + HEAD + b"\r\n",
    "call": b"POST /v1/contact HTTP/1.1\r\n" + HEAD + b"Authorization: Bearer sesame-42\r\n"
    + b"Content-Type: application/json\r\nContent-Length: 36\r\n\r\n"
    + b'{"app": "customer", "owner_id":"c1"}',
}
held = []
for address in addresses:
    for _ in range(count):
        one = socket.socket()
        try:
            one.bind((address, 0))
            one.connect(("127.0.0.1", port))
            one.sendall(STARTS[how])
            held.append(one)
        except OSError:
            one.close()
print("held", flush=True)
closed = 0
while True:
    if select.select([sys.stdin], [], [], 0)[0]:
        sys.exit()
    for one in list(held):
        try:
            if how in ("head", "body"):
                one.sendall(b"x")
            one.setblocking(False)
            data = one.recv(65536)
            one.setblocking(True)
            if data:
                if how == "call":
                    one.sendall(STARTS[how])
                continue
        except BlockingIOError:
            one.setblocking(True)
            continue
        except OSError:
            pass
        held.remove(one)
        one.close()
        closed += 1
        print(closed, flush=True)
    time.sleep(0.2)
