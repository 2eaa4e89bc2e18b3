"""Mail spool: stores messages as files, moves, reads and removes them.

usage: main.py MESSAGES
"""

import os
import sys
import tempfile


def store(folder, number):
    path = os.path.join(folder, "new", "%06d" % number)
    with open(path, "wb") as message:
        message.write(b"Subject: %d\r\n\r\n" % number + b"text " * 2000)
    return path


def deliver(folder, path):
    target = os.path.join(folder, "cur", os.path.basename(path))
    os.rename(path, target)
    return target


def fetch(path):
    with open(path, "rb") as message:
        body = message.read()
    os.unlink(path)
    return body.count(b"text")


def main():
    words = 0
    with tempfile.TemporaryDirectory(prefix="spool-") as folder:
        os.mkdir(os.path.join(folder, "new"))
        os.mkdir(os.path.join(folder, "cur"))
        for number in range(int(sys.argv[1])):
            words += fetch(deliver(folder, store(folder, number)))
    print(words)


main()
