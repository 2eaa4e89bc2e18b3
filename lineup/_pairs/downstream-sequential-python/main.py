"""A dashboard that gathers its panels from a metrics service."""
import asyncio
import os
import sys


async def answer(reader, writer):
    while name := await reader.readline():
        await asyncio.sleep(0.004)
        writer.write(b"%d\n" % (sum(name) % 1009))
        await writer.drain()
    writer.close()


async def run_metrics(pipe):
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    os.write(pipe, b"%d\n" % server.sockets[0].getsockname()[1])
    await asyncio.Event().wait()


class Panel:
    async def open(self, port):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port)
        return self

    async def fetch(self, name):
        self.writer.write(name)
        return int(await self.reader.readline())


def draw(values):
    cells = []
    for row in range(1800):
        cells.append(f"<td class='c{row % 7}'>{values[row % len(values)] + row}</td>")
    return len("".join(cells))


async def load_page(panels, page, together):
    names = [b"page-%d-panel-%d\n" % (page, i) for i in range(len(panels))]
    if together:
        return await asyncio.gather(*(panel.fetch(name) for panel, name in zip(panels, names)))
    return [await panel.fetch(name) for panel, name in zip(panels, names)]


async def browse(port, pages, together):
    panels = [await Panel().open(port) for _ in range(6)]
    size = 0
    for page in range(pages):
        size += draw(await load_page(panels, page, together))
    return size


def main():
    source, sink = os.pipe()
    service = os.fork()
    if service == 0:
        asyncio.run(run_metrics(sink))
        os._exit(0)
    port = int(os.read(source, 20))
    print(asyncio.run(browse(port, int(sys.argv[1]), sys.argv[2] == "together")))
    os.kill(service, 15)
    os.waitpid(service, 0)


main()
