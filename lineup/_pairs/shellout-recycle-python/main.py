"""Makes previews of documents in a pool of worker processes."""
import multiprocessing
import sys
import zlib

dictionary = {f"word-{i}": [i, i * 7919 % 1009] for i in range(60000)}


def make_preview(number):
    words = []
    for i in range(1500):
        key = f"word-{(number * 31 + i * 7) % 60000}"
        words.append(f"{key}:{dictionary[key][1]}")
    return len(zlib.compress(" ".join(words).encode(), 6))


def main():
    documents, recycle = int(sys.argv[1]), int(sys.argv[2])
    with multiprocessing.get_context("fork").Pool(2, maxtasksperchild=recycle) as pool:
        print(sum(pool.imap_unordered(make_preview, range(documents), chunksize=1)))


main()
