"""shop.py PORT: each answer has the address of the host that knows the prices."""
import socket
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def price_host():
    return socket.getaddrinfo("prices.shop.example", 80, socket.AF_INET)[0][4][0]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = price_host().encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
