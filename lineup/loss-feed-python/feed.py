"""A publisher sends quotes over one connection; a subscriber in another process folds them."""
import os
import socket
import sys
import zlib

QUOTE = 700


def publish(listener, quotes):
    subscriber, _ = listener.accept()
    subscriber.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for number in range(quotes):
        subscriber.recv(1)
        subscriber.sendall(make_quote(number))
    subscriber.close()


def make_quote(number):
    return zlib.compress(b"%d;" % number * 20000)[:QUOTE].ljust(QUOTE, b".")


def next_quote(feed):
    feed.send(b"+")
    quote = b""
    while len(quote) < QUOTE:
        more = feed.recv(QUOTE - len(quote))
        if not more:
            break
        quote += more
    return quote


def main():
    quotes = int(sys.argv[1])
    listener = socket.create_server(("127.0.0.1", 7400))
    publisher = os.fork()
    if publisher == 0:
        publish(listener, quotes)
        os._exit(0)
    feed = socket.create_connection(("127.0.0.1", 7400))
    feed.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    total = sum(zlib.crc32(next_quote(feed)) & 1 for _ in range(quotes))
    os.waitpid(publisher, 0)
    print(total)


if __name__ == "__main__":
    main()
