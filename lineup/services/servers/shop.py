"""A shop that answers requests over HTTP with a thread a connection: shop.py PORT WORK."""
import http.server
import json
import os
import sys
import time

WORK = sys.argv[2]
STOCK = {str(i): {"price": i * 7, "tags": ["a", "b"]} for i in range(60)}
PLACES = ["/etc/hostname", "/etc/hosts", "/etc/passwd", "/usr/share", "/usr/lib", "/var/tmp"]


def fresh():
    """Looks whether the stock was written anew."""
    rounds = 12 if WORK == "stat" else 1
    return sum(os.stat(place).st_mtime for place in PLACES * rounds)


def hold_back():
    """Keeps clients from asking too often."""
    time.sleep(0.004 if WORK == "sleep" else 0.0005)


class Shop(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        seen = fresh()
        hold_back()
        body = json.dumps({"stock": STOCK, "seen": seen > 0}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer.daemon_threads = True
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Shop).serve_forever()
