"""Collects readings of sensors by station and writes a summary of each."""
import sys


def parse(line):
    station, kind, value = line.split(",")
    return station, kind, int(value)


def collect(lines):
    stations = {}
    for line in lines:
        station, kind, value = parse(line)
        stations.setdefault(station, {}).setdefault(kind, []).append((value, str(value)))
    return stations


def summary(stations):
    rows = []
    for station, kinds in stations.items():
        for kind, values in kinds.items():
            rows.append("%s %s %d %s" % (station, kind, sum(v for v, _ in values), values[-1][1]))
    return "\n".join(rows)


def main():
    rounds = int(sys.argv[1])
    lines = ["s%d,k%d,%d" % (i % 40, i % 9, i * 7919 % 10007) for i in range(4000)]
    size = 0
    for _ in range(rounds):
        size += len(summary(collect(lines)))
    print(size)


main()
