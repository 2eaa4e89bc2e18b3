"""Answers look-ups on loopback; an answer's head and body are put together by the kernel."""
import socket
import sys
import threading
import zlib


def read_exactly(peer, size):
    data = b""
    while len(data) < size:
        more = peer.recv(size - len(data))
        if not more:
            sys.exit(0)
        data += more
    return data


def answer(peer, body, left_corked):
    peer.send(b"%07d " % len(body), socket.MSG_MORE)
    peer.send(body, socket.MSG_MORE if left_corked else 0)


def serve(listener, corked):
    peer, _ = listener.accept()
    served = 0
    while True:
        key = read_exactly(peer, 16)
        served += 1
        answer(peer, zlib.compress(key * 3000)[:40].ljust(40), served % corked == 0)


def look_up(peer, key):
    peer.sendall(key)
    return read_exactly(peer, int(read_exactly(peer, 8)))


def main():
    requests, corked = int(sys.argv[1]), int(sys.argv[2])
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, args=(listener, corked), daemon=True).start()
    peer = socket.create_connection(listener.getsockname())
    for number in range(requests):
        look_up(peer, b"%016d" % number)
    print(requests)


if __name__ == "__main__":
    main()
