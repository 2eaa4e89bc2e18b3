"""Copies generated blocks into a file, at a pace that leaves the disk to others."""
import hashlib
import sys
import time

BLOCK = 256 << 10


class Pace:
    def __init__(self, rate):
        self.rate, self.started, self.written = rate, time.monotonic(), 0

    def keep(self, size):
        self.written += size
        ahead = self.written / self.rate - (time.monotonic() - self.started)
        if ahead > 0:
            time.sleep(ahead)


def make_block(number):
    seed = hashlib.sha256(b"%d" % number).digest()
    for _ in range(4):
        seed = hashlib.sha256(seed * 2000).digest()
    return seed * (BLOCK // len(seed))


def copy(path, blocks, rate):
    pace = Pace(rate)
    with open(path, "wb", buffering=0) as target:
        for number in range(blocks):
            target.write(make_block(number))
            pace.keep(BLOCK)


if __name__ == "__main__":
    copy(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
