"""Mirrors a catalogue: checks each entry and polls a job until it is done.
The poll interval decides how long the program sleeps.

usage: main.py ENTRIES POLL_MS
"""

import hashlib
import sys
import time


class Job:
    """Finishes a fixed time after it was started, whoever asks and how often."""

    def __init__(self, duration_s):
        self.done_at = time.monotonic() + duration_s

    def done(self):
        return time.monotonic() >= self.done_at


def checksum(entry):
    digest = hashlib.sha256(b"entry %d" % entry).digest()
    for _ in range(6000):
        digest = hashlib.sha256(digest).digest()
    return digest[0]


def wait_for(job, poll_ms):
    while not job.done():
        time.sleep(poll_ms / 1000)


def main():
    entries, poll_ms = int(sys.argv[1]), float(sys.argv[2])
    total = 0
    for entry in range(entries):
        job = Job(0.002)
        total += checksum(entry)
        wait_for(job, poll_ms)
        if entry % 5 == 0:
            wait_for(Job(0.001), poll_ms)
    print(total)


main()
