"""Encodes names of hosts, some of them far too long."""
import idna

refused = 0
for i in range(40):
    try:
        idna.encode("\u0370" * 350 + "\u00b7" * 10 + "\u0660" * 900)
    except idna.IDNAError:
        refused += 1
print(refused)
