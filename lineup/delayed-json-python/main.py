"""Talks to a small key-value server on loopback; requests go out as key and value apart or together."""
import socket
import sys
import threading
import zlib


def read_exactly(peer, size):
    data = b""
    while len(data) < size:
        more = peer.recv(size - len(data))
        if not more:
            sys.exit(0)
        data += more
    return data


def serve(listener):
    peer, _ = listener.accept()
    store = {}
    while True:
        key = read_exactly(peer, 16)
        store[key] = read_exactly(peer, 64)
        peer.sendall(b"stored  ")


def put(peer, key, value, apart):
    if apart:
        peer.sendall(key)
        peer.sendall(value)
    else:
        peer.sendall(key + value)
    return read_exactly(peer, 8)


def pack(number):
    return zlib.compress(b"%d" % number * 30000)[:48]


def main():
    requests, apart = int(sys.argv[1]), int(sys.argv[2])
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, args=(listener,), daemon=True).start()
    peer = socket.create_connection(listener.getsockname())
    for number in range(requests):
        value = pack(number).ljust(64, b".")
        put(peer, b"%016d" % number, value, number < apart)
    print(requests)


if __name__ == "__main__":
    main()
