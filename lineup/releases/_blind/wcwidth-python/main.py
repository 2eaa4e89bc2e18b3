"""Lays out the names of customers in columns."""
import textwrap

from wcwidth import wcswidth

total = 0
for i in range(48000):
    name = f"Customer {i} コンニチハ 東京 & söns"
    width = wcswidth(name)
    cell = name + " " * (44 - width)
    total += wcswidth(cell[:-1]) + len(cell.encode())
    if i % 40 == 0:
        total += len(textwrap.wrap(cell * 4, 30))
print(total)
