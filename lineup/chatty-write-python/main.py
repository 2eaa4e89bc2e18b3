"""Writes a sales report line by line. The argument is the size of the buffer
between the program and the file; 0 sends each line to the kernel by itself.

usage: main.py LINES BUFFER_BYTES
"""

import os
import sys
import tempfile


def price_of(item):
    net = (item * 7919) % 100000
    tax = net * 19 // 100
    return net + tax


def format_line(item, total):
    return ("%08d;%-12s;%10.2f;%12.2f\n" % (item, "item-%d" % (item % 977), price_of(item) / 100, total / 100)).encode()


def write_report(path, lines, buffer_bytes):
    total = 0
    with open(path, "wb", buffering=buffer_bytes) as report:
        for item in range(lines):
            total += price_of(item)
            report.write(format_line(item, total))
    return total


def main():
    lines, buffer_bytes = int(sys.argv[1]), int(sys.argv[2])
    handle, path = tempfile.mkstemp(prefix="report-")
    os.close(handle)
    try:
        total = write_report(path, lines, buffer_bytes)
        print(total, os.path.getsize(path))
    finally:
        os.unlink(path)


main()
