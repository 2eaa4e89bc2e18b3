"""An event loop whose executor shrinks pictures: a sum of so many numbers stands for one."""
import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor

workers = ThreadPoolExecutor(8)


def shrink():
    return sum(range(int(sys.argv[2])))


async def serve(reader, writer):
    loop = asyncio.get_running_loop()
    try:
        while True:
            await reader.readuntil(b"\r\n\r\n")
            await loop.run_in_executor(workers, shrink)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    async with server:
        await server.serve_forever()


asyncio.run(main())
