"""Answers with a rate of exchange; each takes as long as the question says."""
import hashlib
import socket
import sys

listener = socket.create_server(("127.0.0.1", 0))
with open(sys.argv[1], "w") as port:
    port.write(str(listener.getsockname()[1]))


def rate(rounds):
    digest = b"rate"
    for _ in range(rounds):
        digest = hashlib.sha256(digest).digest()
    return digest.hex()


while True:
    connection, _ = listener.accept()
    with connection, connection.makefile("rw") as stream:
        for question in stream:
            stream.write(rate(int(question)) + "\n")
            stream.flush()
