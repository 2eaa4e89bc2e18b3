"""Reads a feed of news and counts what each writer wrote."""
from collections import Counter

import xmltodict

entries = "".join(
    f'<entry id="{i}"><title>News {i} &amp; more</title><author>Writer {i % 9}</author><size>{i * 7}</size></entry>'
    for i in range(600))
written = Counter()
for _ in range(60):
    for entry in xmltodict.parse(f"<feed>{entries}</feed>")["feed"]["entry"]:
        written[entry["author"]] += int(entry["size"])
print(sum(written.values()))
