"""shop.py PORT: a worker answers 400 connections, then another one is started in its place."""
import os
import socket
import sys

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n"


def catalogue():
    goods = {}
    for number in range(150_000):
        goods[number] = "good %d" % number
    return goods


def work(listener):
    goods = catalogue()
    for _ in range(400):
        connection, _ = listener.accept()
        with connection:
            if connection.recv(4096) and goods:
                connection.sendall(ANSWER)


def main():
    listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=64)
    while True:
        worker = os.fork()
        if worker == 0:
            work(listener)
            os._exit(0)
        os.waitpid(worker, 0)


main()
