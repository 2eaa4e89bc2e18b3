"""Log shipper: parses lines and packs them. With `redact` personal data is
masked in each line first.

usage: main.py LINES plain|redact
"""

import json
import re
import sys

PATTERNS = [
    (re.compile(r"[a-z]+@[a-z]+\.(?:com|org)"), "<mail>"),
    (re.compile(r"\b\d{3}-\d{4}\b"), "<phone>"),
]


def read_line(number):
    return "ts=%d level=info user=u%d mail=joe@site%s.org phone=555-%04d took=%dms" % (
        1700000000 + number, number % 977, "abc"[number % 3], number % 10000, number % 250)


def redact_line(line):
    for pattern, mask in PATTERNS:
        line = pattern.sub(mask, line)
    return line


def parse_line(line):
    fields = {}
    for part in line.split(" "):
        name, _, value = part.partition("=")
        fields[name] = int(value) if value.isdigit() else value
    return fields


def pack_lines(batch):
    return len(json.dumps(batch, sort_keys=True))


def main():
    lines, redact = int(sys.argv[1]), sys.argv[2] == "redact"
    size, batch = 0, []
    for number in range(lines):
        line = read_line(number)
        if redact:
            line = redact_line(line)
        batch.append(parse_line(line))
        if len(batch) == 500:
            size += pack_lines(batch)
            batch.clear()
    print(size > 0)


main()
