"""Calls functions that are decorated."""
import wrapt


@wrapt.decorator
def traced(wrapped, instance, arguments, keywords):
    return wrapped(*arguments, **keywords)


@traced
def add(a, b):
    return a + b


total = 0
for i in range(450_000):
    total = add(total, i)
print(total)
