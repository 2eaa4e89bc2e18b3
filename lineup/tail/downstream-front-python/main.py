"""A front end with a thread a connection asks a back end for each request, which naps 25 ms at one in sixty."""
import http.client
import random
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Back(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if random.random() < 1 / 60:
            time.sleep(0.025)
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    def log_message(self, *words):
        pass


class Front(Back):
    peer = threading.local()

    def do_GET(self):
        if not hasattr(self.peer, "connection"):
            self.peer.connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[2]))
        self.peer.connection.request("GET", "/price/12")
        body = self.peer.connection.getresponse().read()
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Front if len(sys.argv) > 2 else Back).serve_forever()
