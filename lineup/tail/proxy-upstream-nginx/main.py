"""A shop behind nginx; one page in seventy takes 30 ms longer."""
import random
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Shop(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if random.random() < 1 / 70:
            time.sleep(0.03)
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    def log_message(self, *words):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Shop).serve_forever()
