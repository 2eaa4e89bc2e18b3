"""Sums the requests that a service tells by part and by status."""
from collections import Counter

from prometheus_client.parser import text_string_to_metric_families

lines = []
for part in range(100):
    lines.append(f"# HELP requests_{part} Requests of a part.\n# TYPE requests_{part} counter")
    for path in range(20):
        lines.append(f'requests_{part}{{method="GET",path="/parts/{path}",status="{200 + path % 3}"}} {path * 3}')
page = "\n".join(lines) + "\n"

by_status, by_part = Counter(), Counter()
for scrape in range(22):
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            by_status[sample.labels["status"]] += sample.value
            by_part[family.name] += sample.value
    most = sorted(by_part.items(), key=lambda item: (-item[1], item[0]))[:5]
print(sum(by_status.values()), len(most))
