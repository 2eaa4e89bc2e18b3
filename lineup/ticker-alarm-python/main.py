"""Encodes jobs; a signal at a period keeps the text of the time up to date.

usage: main.py JOBS PERIOD_US
"""

import signal
import sys
import time

clock = {"now": 0.0, "text": ""}


def refresh_clock(number, frame):
    clock["now"] = time.time()
    clock["text"] = time.strftime("%H:%M:%S", time.localtime(clock["now"]))


def encode(job):
    total = 0
    for i in range(20000):
        total = (total * 31 + (i ^ job)) % 1000003
    return total


def main():
    period = int(sys.argv[2]) / 1e6
    if period:
        signal.signal(signal.SIGALRM, refresh_clock)
        signal.setitimer(signal.ITIMER_REAL, period, period)
    total = sum(encode(job) for job in range(int(sys.argv[1])))
    signal.setitimer(signal.ITIMER_REAL, 0)
    print(total)


main()
