"""Reads the requirements of many packages."""
from packaging.requirements import Requirement

size = 0
for i in range(900):
    requirement = Requirement(f"package-{i}[extra,other]>=1.{i},<2.0,!=1.5; python_version >= '3.8' and os_name == 'posix'")
    size += len(requirement.name) + len(requirement.specifier)
print(size)
