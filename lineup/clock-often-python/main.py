"""Routes messages to queues and keeps the age of each queue up to date.

usage: main.py MESSAGES STAMP_EVERY
"""

import sys
import time


class Queue:
    def __init__(self):
        self.waiting = 0
        self.touched = 0.0
        self.shown = 0.0
        self.idle = 0.0

    def touch(self):
        self.idle = time.monotonic() - self.touched
        self.shown = time.time()
        self.touched = time.monotonic()


def route(messages, stamp_every):
    queues = [Queue() for _ in range(16)]
    for number in range(messages):
        key = 17
        for digit in (number, number >> 3, number >> 7):
            key = (key * 31 + digit) & 0xFFFF
        queue = queues[key & 15]
        queue.waiting += 1
        if number % stamp_every == 0:
            queue.touch()
    return sum(queue.waiting for queue in queues)


def main():
    print(route(int(sys.argv[1]), int(sys.argv[2])))


main()
