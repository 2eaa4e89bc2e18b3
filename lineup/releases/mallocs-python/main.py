"""Keeps an index of records in many small objects."""
index = {}
for i in range(1_200_000):
    index[i % 5000] = (i, [i + 0.5], {"id": i})
print(len(index))
