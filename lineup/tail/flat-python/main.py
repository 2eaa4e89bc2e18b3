"""One thread a connection; every request sorts the same."""
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Shop(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        sorted(number * 7919 % 104729 for number in range(4000))
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    def log_message(self, *words):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Shop).serve_forever()
