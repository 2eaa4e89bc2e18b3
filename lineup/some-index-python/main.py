"""Looks orders up in an index; where the index is out of date, it is made anew before.

usage: main.py ORDERS OUT_OF_DATE
"""
import random
import sys


def rebuild_index(orders):
    index = {}
    for number in range(6 * orders):
        index.setdefault(number % 997, []).append(number)
    return index


def look_up(index, orders):
    found = 0
    for number in range(orders):
        found += len(index[number % 997])
    return found


def main():
    orders = int(sys.argv[1])
    index = {key: [key] for key in range(997)}
    if random.random() < float(sys.argv[2]):
        index = rebuild_index(orders)
    print(look_up(index, 2 * orders))


main()
