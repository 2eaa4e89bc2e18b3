"""Imports readings of sensors into a database, and keeps a sum for each sensor."""
import os
import sqlite3
import sys
import tempfile


def read_readings(count):
    seed = 1
    for number in range(count):
        for _ in range(160):
            seed = (seed * 1664525 + 1013904223) & 0xFFFFFFFF
        yield number, seed % 40, seed % 1009


def store_reading(database, reading):
    number, sensor, value = reading
    database.execute("INSERT INTO readings VALUES (?, ?, ?)", (number, sensor, value))
    database.execute("UPDATE sums SET total = total + ? WHERE sensor = ?", (value, sensor))


def import_readings(database, count, per_commit):
    pending = 0
    for reading in read_readings(count):
        store_reading(database, reading)
        pending += 1
        if pending == per_commit:
            database.commit()
            pending = 0
    database.commit()


def main():
    with tempfile.TemporaryDirectory(dir=sys.argv[1]) as folder:
        database = sqlite3.connect(os.path.join(folder, "readings.db"))
        database.execute("CREATE TABLE readings (number INTEGER PRIMARY KEY, sensor INTEGER, value INTEGER)")
        database.execute("CREATE TABLE sums (sensor INTEGER PRIMARY KEY, total INTEGER)")
        database.executemany("INSERT INTO sums VALUES (?, 0)", ((i,) for i in range(40)))
        database.commit()
        import_readings(database, int(sys.argv[2]), int(sys.argv[3]))
        print(database.execute("SELECT sum(total) FROM sums").fetchone()[0])
        database.close()


main()
