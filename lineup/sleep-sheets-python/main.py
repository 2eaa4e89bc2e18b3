"""Collects the sheets of a report, each from a service that answers after a while.

usage: main.py SHEETS WORKERS
"""

import hashlib
import sys
import time
from concurrent.futures import ThreadPoolExecutor


def ask_service(sheet):
    time.sleep(0.004)
    return b"sheet %d" % sheet


def fetch_sheet(sheet):
    digest = ask_service(sheet)
    for _ in range(250):
        digest = hashlib.sha256(digest).digest()
    return digest[0]


def main():
    sheets, workers = int(sys.argv[1]), int(sys.argv[2])
    with ThreadPoolExecutor(workers) as pool:
        print(sum(pool.map(fetch_sheet, range(sheets))))


main()
