"""Adds up the sizes of blocks of a file by reading them in a scattered order.

usage: main.py FILE READS
"""

import os
import sys
import zlib


def read_scattered(file, reads, size):
    checksum = 0
    position = 1
    for number in range(reads):
        position = (position * 1103515245 + 12345) % size
        block = os.pread(file, 64, position)
        if number % 16 == 0:
            checksum = zlib.crc32(block, checksum)
    return checksum


def main():
    file = os.open(sys.argv[1], os.O_RDONLY)
    size = os.fstat(file).st_size
    print(read_scattered(file, int(sys.argv[2]), size))


main()
