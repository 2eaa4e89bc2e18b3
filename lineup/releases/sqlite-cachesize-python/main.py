"""Looks up orders of customers. Usage: main.py DATABASE PAGES, or main.py DATABASE make"""
import random
import sqlite3
import sys

database = sqlite3.connect(sys.argv[1])
if sys.argv[2] == "make":
    database.execute("create table orders(id integer primary key, customer int, note text)")
    database.executemany("insert into orders values(?, ?, ?)", ((i, i * 7919 % 5000, "n" * 40) for i in range(30000)))
    database.execute("create index by_customer on orders(customer)")
    database.commit()
    sys.exit()
database.execute(f"pragma cache_size = {sys.argv[2]}")
random.seed(7)
total = 0
for _ in range(14000):
    found = database.execute("select count(note) from orders where customer = ?", (random.randrange(5000),))
    total += found.fetchone()[0]
print(total)
