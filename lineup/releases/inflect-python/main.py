"""Writes shopping lists in words."""
import inflect

engine = inflect.engine()
words = ["apple", "box", "child", "knife", "sheep", "city", "potato", "bus"]
size = 0
for i in range(5000):
    size += len(engine.plural(words[i % len(words)], i % 3)) + len(engine.a(words[i % len(words)]))
print(size)
