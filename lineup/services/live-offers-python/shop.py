"""A shop that answers each connection in a thread. With `refresh` another thread works out its offers anew, twenty
times a second."""
import socket
import sys
import threading
import time

ARTICLES = [(number * 7919) % 104729 for number in range(400)]


def score(article, other):
    return (article ^ other) % 977


def refresh_offers():
    offers = {}
    while True:
        for article in ARTICLES[:60]:
            offers[article] = max(ARTICLES, key=lambda other: score(article, other))
        time.sleep(0.03)


def render(number):
    return ",".join("%d:%d" % (article, article % 7) for article in ARTICLES[number % 100:number % 100 + 80])


def serve(connection):
    number = 0
    with connection:
        while True:
            request = connection.recv(4096)
            if not request:
                return
            number += 1
            body = render(number).encode()
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))


def main():
    if sys.argv[2] == "refresh":
        threading.Thread(target=refresh_offers, daemon=True).start()
    listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=64)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


main()
