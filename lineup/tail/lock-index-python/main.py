"""Answers each connection in a thread. Twice a second another one builds its index anew, in Python, for some 40 ms."""
import socket
import sys
import threading
import time

WORDS = ["word%d" % (number * 7919 % 1009) for number in range(6000)]


def add_word(index, place, word):
    index.setdefault(word, []).append(place)


def build_index():
    while True:
        time.sleep(0.5)
        for _ in range(12):
            index = {}
            for place, word in enumerate(WORDS):
                add_word(index, place, word)


def find(number):
    return ",".join(word for word in WORDS[number % 500:number % 500 + 60] if "7" in word)


def serve(connection):
    number = 0
    with connection:
        while True:
            request = connection.recv(4096)
            if not request:
                return
            number += 1
            body = find(number).encode()
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))


def main():
    threading.Thread(target=build_index, daemon=True).start()
    listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=64)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


main()
