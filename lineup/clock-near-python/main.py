"""Bills tenants for the processor time that their jobs took.

usage: main.py JOBS MEASURE_EVERY
"""

import sys
import time


def run_job(number):
    state = number
    for step in range(4):
        state = (state * 69069 + step) & 0xFFFFFFFF
    return state & 7


def bill(jobs, measure_every):
    spent = [0.0] * 8
    for number in range(jobs):
        if number % measure_every:
            run_job(number)
            continue
        started = time.thread_time()
        tenant = run_job(number)
        spent[tenant] += time.thread_time() - started
    return len(spent)


def main():
    print(bill(int(sys.argv[1]), int(sys.argv[2])))


main()
