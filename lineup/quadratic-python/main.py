"""Merges alarms that repeat within a window of earlier ones. The window is
the only difference: with a large one each alarm is compared with all before.

usage: main.py ALARMS WINDOW
"""

import sys


def read_alarms(count):
    state = 1
    alarms = []
    for number in range(count):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        alarms.append((number, "host-%d" % (state >> 12 & 0xFFFFF), state & 7))
    return alarms


def merge_repeats(alarms, window):
    kept = []
    for alarm in alarms:
        i = len(kept) - 1
        oldest = max(0, len(kept) - window)
        while i >= oldest:
            if kept[i][1] == alarm[1]:
                break
            i -= 1
        else:
            kept.append(alarm)
    return kept


def render_alarms(alarms):
    lines = []
    for number, host, severity in alarms:
        fields = ["%s=%s" % (name, value) for name, value in (("n", number), ("h", host), ("s", severity))]
        for step in range(60):
            severity = (severity * 31 + step) % 9973
        lines.append("|".join(fields) + "|%d" % severity)
    return "\n".join(lines)


def main():
    count, window = int(sys.argv[1]), int(sys.argv[2])
    alarms = merge_repeats(read_alarms(count), window)
    # The report covers all alarms again, so that its cost does not depend on the window.
    page = render_alarms(read_alarms(count * 25))
    print(len(alarms) > 0, len(page))


main()
