"""A small tool that writes one list in words."""
import inflect

engine = inflect.engine()
words = ["apple", "box", "child", "knife", "sheep"]
print(", ".join(engine.plural(word) for word in words))
