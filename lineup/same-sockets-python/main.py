"""Passes messages between two processes over a socket pair; both do a little work on each."""
import os
import socket
import sys
import zlib


def echo(peer):
    while True:
        message = peer.recv(4096)
        if not message:
            return
        peer.sendall(b"%08x" % zlib.crc32(message * 40))


def main():
    rounds = int(sys.argv[1])
    mine, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        mine.close()
        echo(theirs)
        os._exit(0)
    theirs.close()
    total = 0
    for number in range(rounds):
        mine.sendall(b"%d" % number * 200)
        total += int(mine.recv(64), 16)
    mine.close()
    os.waitpid(child, 0)
    print(total)


main()
