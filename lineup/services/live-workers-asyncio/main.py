"""An event loop whose executor asks a store: a sleep stands for it. usage: main.py PORT WORKERS"""
import asyncio
import sys
import time
from concurrent.futures import ThreadPoolExecutor

workers = ThreadPoolExecutor(int(sys.argv[2]))


def ask_store():
    time.sleep(0.003)


async def serve(reader, writer):
    loop = asyncio.get_running_loop()
    try:
        while True:
            await reader.readuntil(b"\r\n\r\n")
            await loop.run_in_executor(workers, ask_store)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    async with server:
        await server.serve_forever()


asyncio.run(main())
