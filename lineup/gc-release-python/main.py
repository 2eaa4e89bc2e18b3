"""Imports parcels in batches and keeps the ones of the last weeks."""
import gc
import sys


class Parcel:
    __slots__ = ("number", "weight", "route", "stops")

    def __init__(self, number):
        self.number = number
        self.weight = number % 97
        self.route = [number % 13, number % 7]
        self.stops = {"from": number % 5, "to": number % 11}


def read_batch(first, size):
    return [Parcel(first + i) for i in range(size)]


def finish_batch(batch, every, number):
    total = 0
    for parcel in batch:
        total += parcel.weight * len(parcel.route) + parcel.stops["to"]
    if number % every == 0:
        gc.collect()
    return total


def main():
    batches, every = int(sys.argv[1]), int(sys.argv[2])
    kept = [read_batch(i * 200, 200) for i in range(150)]
    total = 0
    for number in range(1, batches + 1):
        batch = read_batch(number * 200, 200)
        total += finish_batch(batch, every, number)
        kept[number % len(kept)] = batch
    print(total, len(kept))


main()
