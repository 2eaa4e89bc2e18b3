"""An asyncio server. One request in a hundred and fifty finds its price missing, and looks again 40 ms later."""
import asyncio
import random
import sys

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


async def look_again():
    await asyncio.sleep(0.04)
    return sum(number * number for number in range(3000))


async def find_price(path):
    if random.random() < 1 / 150:
        await look_again()
    return sorted(b"%d %s" % (number * 7919 % 104729, path) for number in range(100))


async def serve(reader, writer):
    while True:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return
        await find_price(head.split()[1])
        writer.write(ANSWER)
        await writer.drain()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()


asyncio.run(main())
