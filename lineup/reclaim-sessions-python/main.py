"""Answers requests from records on disk and from a table that each open session has mapped for itself."""
import mmap
import os
import sys

PAGE = 4096


class Session:
    def __init__(self, table):
        self.table = mmap.mmap(table, 0, prot=mmap.PROT_READ)


def read_record(archive, record):
    return os.pread(archive, 2 * PAGE, record * PAGE)


def look_up(session, key):
    return session.table[key % len(session.table)]


def serve(sessions, archive, requests):
    records = os.fstat(archive).st_size // PAGE
    key = total = 0
    for _ in range(requests):
        key = (key * 1664525 + 1013904223) % (1 << 32)
        total += len(read_record(archive, key % records))
        session = sessions[key >> 8 & 3]
        for step in range(4):
            total += look_up(session, key * 31 + step * 1048583)
    return total


def main():
    table = os.open(sys.argv[1], os.O_RDONLY)
    archive = os.open(sys.argv[2], os.O_RDONLY)
    os.posix_fadvise(archive, 0, 0, os.POSIX_FADV_RANDOM)
    sessions = [Session(table) for _ in range(int(sys.argv[3]))]
    print(serve(sessions, archive, int(sys.argv[4])))


main()
