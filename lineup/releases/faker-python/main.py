"""Makes people for test data. Usage: main.py uniform|weighted"""
import sys

from faker import Faker

fake = Faker(use_weighting=sys.argv[1] == "weighted")
Faker.seed(7)
print(sum(len(fake.name()) for _ in range(3000)))
