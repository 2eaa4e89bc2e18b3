"""Keeps numbers in order."""
from sortedcontainers import SortedList

numbers = SortedList()
for i in range(140_000):
    numbers.add(i * 7919 % 140_001)
print(numbers[70], len(numbers))
