"""A mail gateway: an asyncio server that asks a directory (another process, blocking protocol) for each recipient."""
import asyncio
import os
import socket
import sys
import threading
import time


def run_directory(listener):
    def answer(connection):
        with connection:
            name = connection.recv(200)
            time.sleep(0.012)
            connection.sendall(b"box-%d" % (sum(name) % 97))

    while True:
        connection, _ = listener.accept()
        threading.Thread(target=answer, args=(connection,), daemon=True).start()


def find_mailbox(directory, name):
    with socket.create_connection(directory) as connection:
        connection.sendall(name)
        return connection.recv(100)


def format_mail(name, box):
    lines = [f"{name!r} {box!r} {i * 31 % 977}" for i in range(500)]
    return len("\n".join(lines))


class Gateway:
    def __init__(self, directory, inline):
        self.directory, self.inline = directory, inline

    async def mailbox(self, name):
        if self.inline:
            return find_mailbox(self.directory, name)
        return await asyncio.get_running_loop().run_in_executor(None, find_mailbox, self.directory, name)

    async def handle(self, reader, writer):
        while name := await reader.readline():
            box = await self.mailbox(name)
            writer.write(b"%d\n" % format_mail(name, box))
            await writer.drain()
        writer.close()


async def send_mails(port, client, mails):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for i in range(mails):
        writer.write(b"user-%d-%d\n" % (client, i))
        await reader.readline()
    writer.close()


async def send_all(port, clients, mails):
    await asyncio.gather(*(send_mails(port, client, mails) for client in range(clients)))


async def serve(gateway, listener):
    await asyncio.start_server(gateway.handle, sock=listener)
    await asyncio.Event().wait()


def child(function):
    pid = os.fork()
    if pid == 0:
        function()
        os._exit(0)
    return pid


def main():
    mode, clients, mails = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    directory, front = socket.create_server(("127.0.0.1", 0)), socket.create_server(("127.0.0.1", 0))
    gateway = Gateway(directory.getsockname(), mode == "inline")
    started = [child(lambda: run_directory(directory)), child(lambda: asyncio.run(serve(gateway, front)))]
    asyncio.run(send_all(front.getsockname()[1], clients, mails))
    for pid in started:
        os.kill(pid, 15)
        os.waitpid(pid, 0)
    print("ok")


main()
