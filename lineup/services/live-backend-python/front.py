"""PORT PAUSE: a thread for each connection, which asks a back end that takes so long for an answer."""
import os
import socket
import sys
import threading
import time


def quick(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def each(listener, serve):
    while True:
        threading.Thread(target=serve, args=(quick(listener.accept()[0]),), daemon=True).start()


def back_end(listener, pause, alive):
    """A process of its own: no child of the front end, and over when that one is."""
    def answer(connection):
        while connection.recv(100):
            time.sleep(pause)
            connection.sendall(b"done")

    if os.fork():
        os.wait()
        return
    os.setsid()
    if os.fork() == 0:
        os.close(alive[1])
        threading.Thread(target=each, args=(listener, answer), daemon=True).start()
        os.read(alive[0], 1)
    os._exit(0)


def ask(connection):
    connection.sendall(b"what")
    return connection.recv(100)


def main():
    behind, alive = socket.create_server(("127.0.0.1", 0)), os.pipe()
    address = behind.getsockname()
    back_end(behind, float(sys.argv[2]), alive)
    behind.close()  # else the front end serves there as well

    def serve(connection):
        up = quick(socket.create_connection(address))
        while connection.recv(4096):
            ask(up)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    each(socket.create_server(("127.0.0.1", int(sys.argv[1]))), serve)


main()
