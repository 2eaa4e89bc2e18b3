"""Loads the orders of many shops: each is fetched over the network (a sleep stands for it), then parsed.

usage: main.py ORDERS LINES
"""
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor


def fetch_order(number):
    time.sleep(0.004)
    return json.dumps({"id": number, "lines": [{"sku": "a%d" % i, "price": "%d.50" % i} for i in range(40)]})


def parse_order(text, rounds):
    order = json.loads(text)
    total = 0.0
    for _ in range(rounds):
        for line in order["lines"]:
            total += float(line["price"]) * len(line["sku"])
    return total


def load_order(number):
    return parse_order(fetch_order(number), int(sys.argv[2]))


def main():
    with ThreadPoolExecutor(6) as pool:
        print(sum(pool.map(load_order, range(int(sys.argv[1])))))


main()
