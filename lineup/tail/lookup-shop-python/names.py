"""names.py ADDRESS EVERY SECONDS: a name server that is late by so many seconds at each so manieth question."""
import socket
import sys
import threading

server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind((sys.argv[1], 53))
every, seconds, asked = int(sys.argv[2]), float(sys.argv[3]), 0


def answer(question, client):
    end = 12  # of the name, then its type and class (RFC 1035)
    while question[end]:
        end += question[end] + 1
    end += 5
    reply = bytearray(question[:end])
    reply[2:4] = b"\x81\x80"
    reply[6:12] = bytes(6)
    if question[end - 3] == 1:
        reply[7] = 1
        reply += bytes([0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 9])
    server.sendto(reply, client)


while True:
    question, client = server.recvfrom(1500)
    asked += 1
    if asked % every == 0:
        threading.Timer(seconds, answer, (question, client)).start()
    else:
        answer(question, client)
