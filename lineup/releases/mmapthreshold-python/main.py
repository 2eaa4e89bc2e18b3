"""Packs records into buffers of some hundred kilobytes."""
total = 0
for i in range(4_000):
    record = bytearray(b"%d" % (i % 10)) * (200_000 + i % 600 * 100)
    total += len(record)
print(total)
