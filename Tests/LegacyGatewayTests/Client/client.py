"""A client that does what it is told, step by step, and prints what came back.

usage: client.py PORT [--cert FILE] STEP...
  tcp          no TLS: what follows goes over the bare connection
  send:HEX     writes bytes
  drip:HEX:MS  writes bytes one by one, so many milliseconds apart, until the other side hangs up
  flood:HEX:N  writes bytes again and again until N bytes are written or none are taken for 1 s
  read:N       prints N bytes, or as many as come before the end, and "end" there
  quiet:MS     prints "quiet" where nothing comes for so long
  sleep:MS     does nothing for so long
  reset        closes with a reset
"""
import socket
import ssl
import struct
import sys
import time

words = sys.argv[2:]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.check_hostname = False
context.verify_mode = ssl.CERT_NONE
while words and words[0].startswith("--"):
    if words[0] == "--cert":
        context.load_cert_chain(words[1])
    words = words[2:]
raw = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=240)
stream = raw
try:
    if words[0] == "tcp":
        words = words[1:]
    else:
        stream = context.wrap_socket(raw)
    for word in words:
        step, *values = word.split(":")
        if step == "send":
            stream.sendall(bytes.fromhex(values[0]))
        elif step == "drip":
            for byte in bytes.fromhex(values[0]):
                stream.sendall(bytes([byte]))
                time.sleep(int(values[1]) / 1000)
        elif step == "flood":
            count, block = 0, bytes.fromhex(values[0])
            stream.settimeout(1)
            try:
                while count < int(values[1]):
                    stream.sendall(block)
                    count += len(block)
            except TimeoutError:
                pass
            stream.settimeout(240)
            print("flooded", count, flush=True)
        elif step == "read":
            found = b""
            while len(found) < int(values[0]):
                more = stream.recv(int(values[0]) - len(found))
                if not more:
                    break
                found += more
            print(found.hex() + ("" if len(found) == int(values[0]) else " end"), flush=True)
        elif step == "quiet":
            stream.settimeout(int(values[0]) / 1000)
            try:
                print("more" if stream.recv(1) else "end", flush=True)
            except TimeoutError:
                print("quiet", flush=True)
            stream.settimeout(240)
        elif step == "sleep":
            time.sleep(int(values[0]) / 1000)
        elif step == "reset":
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
except (OSError, ssl.SSLError) as error:
    print("error", type(error).__name__, flush=True)
stream.close()
