"""A report service on asyncio with one client that asks again and again."""
import asyncio
import sys


def find_label(labels, code):
    for known, label in labels:
        if known == code:
            return label
    return "?"


def render_report(labels, number):
    rows = []
    for i in range(60):
        code = (number * 31 + i * 17) % 97 + len(labels) - 97
        rows.append(f"{find_label(labels, code)};{number * i}")
    return "\n".join(rows).encode()


class Reports:
    def __init__(self, size):
        self.idle = asyncio.Event()
        self.labels = [(code, f"label {code:04d}") for code in range(size)]

    async def handle(self, reader, writer):
        while line := await reader.readline():
            body = render_report(self.labels, int(line))
            writer.write(b"%d\n" % len(body) + body)
            await writer.drain()
        writer.close()
        self.idle.set()


async def ask(port, requests):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    size = 0
    for number in range(requests):
        writer.write(b"%d\n" % number)
        size += len(await reader.readexactly(int(await reader.readline())))
    writer.close()
    return size


async def main():
    reports = Reports(int(sys.argv[2]))
    server = await asyncio.start_server(reports.handle, "127.0.0.1", 0)
    print(await ask(server.sockets[0].getsockname()[1], int(sys.argv[1])))
    await reports.idle.wait()


asyncio.run(main())
