"""Converts amounts at rates that a service answers with."""
import socket
import sys


def ask(stream, question):
    stream.write(question + "\n")
    stream.flush()
    return stream.readline()


with open(sys.argv[1]) as port:
    address = ("127.0.0.1", int(port.read()))
with socket.create_connection(address) as connection, connection.makefile("rw") as service:
    total = 0
    for amount in range(int(sys.argv[2])):
        total += amount * int(ask(service, sys.argv[3]), 16)
print(total)
