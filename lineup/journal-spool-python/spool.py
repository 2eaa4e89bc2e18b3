"""Takes messages into a spool directory and hands them on: written aside, renamed, read, removed."""
import hashlib
import os
import sys

BODY = b"".join(b"line %d of the message\n" % line for line in range(60))


def accept(folder, number):
    aside = os.path.join(folder, "tmp-%d" % number)
    with open(aside, "wb", buffering=0) as message:
        message.write(BODY)
    os.rename(aside, os.path.join(folder, "new-%d" % number))


def deliver(folder, number):
    path = os.path.join(folder, "new-%d" % number)
    with open(path, "rb", buffering=0) as message:
        digest = hashlib.sha256(message.read() * 60).digest()
    os.unlink(path)
    return digest[0]


def main():
    root, count, folders = sys.argv[1], int(sys.argv[2]), 400
    total = 0
    for folder in range(folders):
        os.makedirs(os.path.join(root, str(folder)), exist_ok=True)
    for start in range(0, count, 400):
        for number in range(start, start + 400):
            accept(os.path.join(root, str(number % folders)), number)
        for number in range(start, start + 400):
            total += deliver(os.path.join(root, str(number % folders)), number)
    print(total)


if __name__ == "__main__":
    main()
