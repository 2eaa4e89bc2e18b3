"""Loads orders into a database and makes the reports of the day."""
import os
import sqlite3
import sys
import tempfile


def load_orders(database, count):
    rows = ((i, f"customer-{i * 7919 % 5000}", i * 31 % 997, i % 30) for i in range(count))
    with database:
        database.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", rows)


def make_reports(database):
    size = 0
    for day in range(30):
        query = "SELECT customer, sum(amount) FROM orders WHERE day = ? GROUP BY customer ORDER BY 2 DESC LIMIT 50"
        size += sum(len(name) + amount for name, amount in database.execute(query, (day,)))
    return size


def main():
    with tempfile.TemporaryDirectory(dir=sys.argv[1]) as folder:
        database = sqlite3.connect(os.path.join(folder, "orders.db"))
        database.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT, amount INTEGER, day INTEGER)")
        database.execute("CREATE INDEX by_day ON orders (day)")
        load_orders(database, int(sys.argv[2]))
        print(make_reports(database))
        database.close()


main()
