"""A small tool that evaluates one expression."""
import pyparsing as pp

number = pp.Word(pp.nums)
expression = number + pp.ZeroOrMore(pp.oneOf("+ -") + number)
print(len(expression.parseString("1 + 2 - 3")))
