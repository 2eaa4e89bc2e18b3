"""Packs records into buffers of some kilobytes."""
total = 0
for i in range(220_000):
    record = bytearray(12_000 + i % 3000)
    record[0] = i % 256
    total += len(record) + record[0]
print(total)
