"""Visitors come to a desk in groups, each by a connection of its own; the desk serves them in turn.

usage: main.py GROUPS BACKLOG
"""

import hashlib
import os
import socket
import sys
import threading

GROUP = 12


def serve(listener):
    while True:
        connection, _ = listener.accept()
        digest = connection.recv(64)
        for _ in range(900):
            digest = hashlib.sha256(digest).digest()
        connection.sendall(digest)
        connection.close()


def visit(address, number):
    with socket.create_connection(address) as connection:
        connection.sendall(b"visitor %d" % number)
        connection.recv(64)


def main():
    groups, backlog = int(sys.argv[1]), int(sys.argv[2])
    listener = socket.create_server(("127.0.0.1", 0), backlog=backlog)
    child = os.fork()
    if child == 0:
        serve(listener)
    address = listener.getsockname()
    listener.close()
    try:
        for group in range(groups):
            visitors = [
                threading.Thread(target=visit, args=(address, group * GROUP + n)) for n in range(GROUP)
            ]
            for visitor in visitors:
                visitor.start()
            for visitor in visitors:
                visitor.join()
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)


main()
