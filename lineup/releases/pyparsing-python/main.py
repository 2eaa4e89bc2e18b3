"""Evaluates arithmetic by a small grammar."""
import pyparsing as pp

number = pp.Regex(r"\d+").setParseAction(lambda t: int(t[0]))
expression = pp.Forward()
atom = number | pp.Suppress("(") + expression + pp.Suppress(")")
product = atom + pp.ZeroOrMore(pp.oneOf("* /") + atom)
expression <<= product + pp.ZeroOrMore(pp.oneOf("+ -") + product)

total = 0
for i in range(600):
    total += len(expression.parseString(f"{i} + (3 * {i} + 4) * (7 - {i} / 2) + 12 * (4 + {i})", parseAll=True))
print(total)
