"""Answers lookups one after the other, each after a read of its file. With `refresh` a thread works out all
recommendations anew, all the time.

usage: main.py LOOKUPS plain|refresh
"""
import os
import sys
import tempfile
import threading


def similarity(left, right):
    return sum(1 for i in range(60) if (left * i) % 7 == (right * i) % 5)


def refresh_recommendations():
    best = {}
    while True:
        for left in range(200):
            best[left] = max(range(50), key=lambda right: similarity(left, right))


def look_up(path, number):
    with open(path) as file:
        rows = file.read().split()
    return sum(len(row) for row in rows) + number


def main():
    if sys.argv[2] == "refresh":
        threading.Thread(target=refresh_recommendations, daemon=True).start()
    with tempfile.NamedTemporaryFile("w", suffix=".rows", delete=False) as rows:
        rows.write("row " * 200)
    total = 0
    for number in range(int(sys.argv[1])):
        total += look_up(rows.name, number)
    os.unlink(rows.name)
    print(total)


main()
