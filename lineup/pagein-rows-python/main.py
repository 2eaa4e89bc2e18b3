"""Checks the rows of a table that is mapped into memory; the pages of a table that has changed are given back first.

usage: main.py TABLE PASSES CHANGED
"""

import mmap
import os
import sys
import zlib

ROW = 4096


def forget(file, table):
    table.madvise(mmap.MADV_DONTNEED)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)


def check_rows(table, seed):
    total = 0
    rows = len(table) // ROW
    for i in range(rows):
        at = (i * 7919 + seed) % rows * ROW
        row = table[at:at + ROW]
        total += zlib.crc32(row) + row.count(b"a")
    return total


def main():
    file = os.open(sys.argv[1], os.O_RDONLY)
    table = mmap.mmap(file, 0, prot=mmap.PROT_READ)
    table.madvise(mmap.MADV_RANDOM)
    total = 0
    for number in range(int(sys.argv[2])):
        if number < int(sys.argv[3]):
            forget(file, table)
        total += check_rows(table, number * 31)
    print(total)


main()
