"""Compares two states of a stock list."""
from deepdiff import DeepDiff

old = {f"article-{i}": {"price": i, "tags": [i, i + 1, i + 2], "supplier": {"name": f"s{i % 7}", "rank": i % 5}}
       for i in range(2500)}
new = {name: dict(article, price=article["price"] + (i % 10 == 0)) for i, (name, article) in enumerate(old.items())}
print(len(DeepDiff(old, new)["values_changed"]))
