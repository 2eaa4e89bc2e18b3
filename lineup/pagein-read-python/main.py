"""Counts words of a text in passes; with "drop" the cached text is given up before each pass."""
import os
import sys

CHUNK = 64 << 10


def load_chunk(text, at):
    return os.pread(text, CHUNK, at)


def count_words(chunk):
    return chunk.count(b" ") + chunk.count(b"e") + chunk.count(b"th") + chunk.count(b"qu")


def scan(text, size):
    words = 0
    order = range(0, size, CHUNK)
    for at in list(order)[::2] + list(order)[1::2]:
        words += count_words(load_chunk(text, at))
    return words


def main():
    path, passes, policy = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    text = os.open(path, os.O_RDONLY)
    size = os.fstat(text).st_size
    os.posix_fadvise(text, 0, 0, os.POSIX_FADV_RANDOM)
    words = 0
    for _ in range(passes):
        if policy == "drop":
            os.posix_fadvise(text, 0, 0, os.POSIX_FADV_DONTNEED)
        words += scan(text, size)
    print(words)


if __name__ == "__main__":
    main()
