"""Lays out a table of names."""
from wcwidth import wcswidth

names = [f"name {i} \u5bb6\u65cf e\u0301 {chr(0x4e00 + i)}" for i in range(3000)]
print(sum(wcswidth(name * 3) for name in names))
