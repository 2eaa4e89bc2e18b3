"""Spins for so many seconds: two functions, three to one by CPU time. Prints the CPU seconds of each."""
import sys
import time


def inner(rounds):
    work = 0
    for i in range(rounds):
        work += i * i
    return work


def spin_much(rounds):
    return inner(3 * rounds) + 1


def spin_little(rounds):
    return inner(rounds) + 1


def main():
    much = little = 0.0
    end = time.monotonic() + float(sys.argv[1])
    while time.monotonic() < end:
        start = time.thread_time()
        spin_much(3000)
        then = time.thread_time()
        spin_little(3000)
        much, little = much + then - start, little + time.thread_time() - then
    print(f"spin_much {much:.6f}\nspin_little {little:.6f}")


main()
