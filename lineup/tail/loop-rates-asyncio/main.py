"""An asyncio server. One request in three hundred has to fetch the rates again, and does so with a blocking client; the
rates' server, a process of its own, takes 30 ms."""
import asyncio
import http.client
import random
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Rates(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        time.sleep(0.03)
        self.wfile.write(ANSWER)

    def log_message(self, *words):
        pass


def fetch_rates():
    client = http.client.HTTPConnection("127.0.0.1", int(sys.argv[2]))
    client.request("GET", "/rates")
    client.getresponse().read()
    client.close()


def make_page(path):
    return sorted(b"%d %s" % (number * 7919 % 104729, path) for number in range(100))


async def serve(reader, writer):
    while True:
        head = await reader.readuntil(b"\r\n\r\n")
        make_page(head.split()[1])
        if random.random() < 1 / 300:
            fetch_rates()
        writer.write(ANSWER)
        await writer.drain()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()


if len(sys.argv) == 2:
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Rates).serve_forever()
else:
    asyncio.run(main())
