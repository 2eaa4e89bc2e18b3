"""Answers queries out of an index file; most pages are not in memory."""
import hashlib
import os
import sys

PAGE = 4096


class Index:
    def __init__(self, path):
        self.file = os.open(path, os.O_RDONLY)
        self.pages = os.fstat(self.file).st_size // PAGE
        os.posix_fadvise(self.file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.posix_fadvise(self.file, 0, 0, os.POSIX_FADV_RANDOM)

    def fetch_page(self, number):
        return os.pread(self.file, PAGE, number % self.pages * PAGE)

    def query(self, number):
        page = self.fetch_page(number * 104729)
        return score(page)


def score(page):
    digest = b""
    for round_ in range(180):
        digest = hashlib.sha256(digest + page).digest()
    return digest[0]


def main():
    index = Index(sys.argv[1])
    print(sum(index.query(number) for number in range(int(sys.argv[2]))))


if __name__ == "__main__":
    main()
