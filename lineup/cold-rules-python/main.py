"""Applies pricing rules, which are expressions that merchants write, to orders."""
import sys

RULES = [
    "amount * (1 - discount) + fee if weight < 20 else amount * 1.07",
    "max(amount - 5, 0) * 1.19 + (fee if country == 'de' else fee * 2)",
    "min(amount, 900) + weight * 0.3 if discount else amount + fee",
]


class Rule:
    def __init__(self, text):
        self.text = text
        self.code = compile(text, "<rule>", "eval")


def apply_rule(rule, order, dynamic):
    if dynamic:
        return eval(rule.text, {}, order)
    return eval(rule.code, {}, order)


def make_order(number):
    return {"amount": number % 1000, "discount": (number % 4) / 10, "fee": 3.5, "weight": number % 40,
            "country": "de" if number % 3 else "fr"}


def summarise(order):
    text = ";".join("%s=%s" % (name, order[name]) for name in sorted(order))
    return len(text.upper().split(";"))


def main():
    orders, dynamic = int(sys.argv[1]), sys.argv[2] == "text"
    rules = [Rule(text) for text in RULES]
    total = 0
    for number in range(orders):
        order = make_order(number)
        for _ in range(4):
            total += summarise(order)
        total += apply_rule(rules[number % 3], order, dynamic)
    print(round(total))


main()
