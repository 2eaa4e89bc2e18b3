"""Asks a slow helper over a pair of sockets; the helper thinks for a while before it answers."""
import socket
import sys
import threading
import time
import zlib


def help_out(peer, pause):
    while True:
        question = peer.recv(8)
        if not question:
            return
        think(pause)
        peer.sendall(b"yes.....")


def think(pause):
    if pause:
        time.sleep(pause / 1000)


def weigh(number):
    return zlib.crc32(b"%d" % number * 100000)


def ask(peer):
    peer.sendall(b"may I?  ")
    return peer.recv(8)


def main():
    questions, pause = int(sys.argv[1]), float(sys.argv[2])
    mine, theirs = socket.socketpair()
    threading.Thread(target=help_out, args=(theirs, pause), daemon=True).start()
    total = 0
    for number in range(questions):
        total += weigh(number)
        if number % 100 == 0:
            ask(mine)
    print(total)


if __name__ == "__main__":
    main()
