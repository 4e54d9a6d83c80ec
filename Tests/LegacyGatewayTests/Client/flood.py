"""Holds connections whose TLS handshake never ends, and opens each one anew that is closed.

usage: flood.py PORT COUNT ADDRESS...   COUNT from each address; "held" once they are open; ends at
the end of its input
"""
import selectors
import socket
import sys

port, count, addresses = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
watched = selectors.DefaultSelector()
# The head of a ClientHello whose rest never comes.
START = bytes.fromhex("160301020001")


def open_one(address):
    one = socket.socket()
    try:
        one.bind((address, 0))
        one.connect(("127.0.0.1", port))
        one.sendall(START)
    except OSError:
        one.close()
        return
    one.setblocking(False)
    watched.register(one, selectors.EVENT_READ, address)


for address in addresses:
    for _ in range(count):
        open_one(address)
sys.stdout.write("held\n")
sys.stdout.flush()
watched.register(sys.stdin, selectors.EVENT_READ, None)
while True:
    for key, _ in watched.select():
        if key.data is None:
            sys.exit()
        watched.unregister(key.fileobj)
        key.fileobj.close()
        open_one(key.data)
