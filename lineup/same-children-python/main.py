"""Starts short-lived processes one after the other."""
import subprocess
import sys
import zlib


def run_one(number):
    done = subprocess.run(["/bin/echo", str(number)], capture_output=True, check=True)
    return zlib.crc32(done.stdout * 20000)


print(sum(run_one(number) for number in range(int(sys.argv[1]))))
