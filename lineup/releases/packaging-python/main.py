"""Reads the requirements of many packages."""
from packaging.requirements import Requirement

size = 0
for i in range(25_000):
    size += len(Requirement(f"package-{i}").name)
print(size)
