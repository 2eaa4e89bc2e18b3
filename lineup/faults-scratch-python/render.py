"""Renders tiles into scratch memory and keeps a digest of each."""
import mmap
import sys
import zlib

SIZE = 2 << 20


class Fresh:
    """Scratch memory of a tile's own."""

    def take(self):
        return mmap.mmap(-1, SIZE)

    def give_back(self, scratch):
        scratch.close()


class Kept(Fresh):
    """One piece of scratch memory for all tiles."""

    def __init__(self):
        self.scratch = mmap.mmap(-1, SIZE)

    def take(self):
        return self.scratch

    def give_back(self, scratch):
        pass


def render_tile(scratch, number):
    row = bytes((number + i) & 255 for i in range(256)) * 64
    for at in range(0, SIZE, len(row)):
        scratch[at:at + len(row)] = row
    return zlib.crc32(scratch, zlib.adler32(scratch))


def main():
    source = Kept() if sys.argv[2] == "kept" else Fresh()
    total = 0
    for number in range(int(sys.argv[1])):
        scratch = source.take()
        total += render_tile(scratch, number)
        source.give_back(scratch)
    print(total)


if __name__ == "__main__":
    main()
