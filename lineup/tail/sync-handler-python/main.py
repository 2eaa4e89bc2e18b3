"""One thread a connection; one request in fifty is an order, which is written and brought to disk."""
import os
import random
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Shop(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if random.random() < 0.02:
            self.book_order()
        body = b"ok"
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))

    def book_order(self):
        journal = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for _ in range(4):
            os.write(journal, b"x" * 262144)
            os.fsync(journal)
        os.ftruncate(journal, 0)
        os.close(journal)

    def log_message(self, *words):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Shop).serve_forever()
