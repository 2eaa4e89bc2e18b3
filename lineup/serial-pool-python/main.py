"""Signs receipts in a pool of processes."""
import hashlib
import multiprocessing
import sys


def sign(receipt):
    digest = str(receipt).encode()
    for _ in range(40000):
        digest = hashlib.sha256(digest).digest()
    return digest[0]


if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool:
        print(sum(pool.map(sign, range(60), chunksize=int(sys.argv[1]))))
