"""Asks a helper process about each order and waits for its answer.

usage: main.py ORDERS
"""

import os
import struct
import sys

RECORD = struct.Struct("<QQ")


def rate(order):
    state = order
    for _ in range(4):
        state = (state * 69069 + 1) & 0xFFFFFFFF
    return state & 0xFF


def answer(questions, answers):
    while data := os.read(questions, RECORD.size):
        order, _ = RECORD.unpack(data)
        os.write(answers, RECORD.pack(order, rate(order)))


def ask(questions, answers, orders):
    total = 0
    for order in range(orders):
        os.write(questions, RECORD.pack(order, 0))
        total += RECORD.unpack(os.read(answers, RECORD.size))[1]
    return total


def main():
    orders = int(sys.argv[1])
    questions, answers = os.pipe(), os.pipe()
    helper = os.fork()
    if helper == 0:
        os.close(questions[1])
        answer(questions[0], answers[1])
        os._exit(0)
    os.close(questions[0])
    print(ask(questions[1], answers[0], orders))
    os.close(questions[1])
    os.waitpid(helper, 0)


main()
