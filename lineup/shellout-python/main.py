"""Request handler that puts the host's name into each answer, from the
system's own call or from a command.

usage: main.py REQUESTS call|command
"""

import json
import os
import subprocess
import sys
import zlib


def host_name(how):
    if how == "call":
        return os.uname().nodename
    return subprocess.run(["uname", "-n"], stdout=subprocess.PIPE, check=True).stdout.decode().strip()


def make_answer(request, host):
    rows = [{"id": request * 600 + i, "name": "row %d" % i, "price": i * 17 % 101} for i in range(600)]
    text = json.dumps({"host": host, "rows": rows}, indent=1)
    return zlib.compress(text.encode(), 6)


def main():
    requests, how = int(sys.argv[1]), sys.argv[2]
    size = 0
    for request in range(requests):
        size += len(make_answer(request, host_name(how)))
    print(size > 0)


main()
