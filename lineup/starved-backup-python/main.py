"""Checks the ledgers of a bank.

usage: main.py LEDGERS
"""

import sys


def check_ledger(number):
    balance = number
    for entry in range(3000):
        balance = (balance * 69069 + entry) & 0xFFFFFFFF
    return balance & 1


def main():
    print(sum(check_ledger(number) for number in range(int(sys.argv[1]))))


main()
