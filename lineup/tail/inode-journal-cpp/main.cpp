// One thread a connection; each request notes a line at the begin of a file. A job writes 64 MB behind it now and then.
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>

static int journal;

__attribute__((noinline)) static void note_line()
{
	const char line[64] = {};
	if (pwrite(journal, line, sizeof line, 0) < 0)
		std::exit(1);
}

__attribute__((noinline)) static void dump_all(const std::string &all)
{
	if (pwrite(journal, all.data(), all.size(), 4096) < 0)
		std::exit(1);
}

static void maintain()
{
	const std::string all(64 << 20, 'x');
	for (;;) {
		usleep(1200000);
		dump_all(all);
	}
}

static void serve(int connection)
{
	static const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
	char request[4096];
	while (read(connection, request, sizeof request) > 0) {
		note_line();
		if (write(connection, answer.data(), answer.size()) < 0)
			break;
	}
	close(connection);
}

int main(int count, char **words)
{
	const int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	sockaddr_in address{};
	journal = open(words[count - 1], O_CREAT | O_RDWR, 0600);
	address.sin_family = AF_INET;
	address.sin_port = htons(std::atoi(words[1]));
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	std::thread(maintain).detach();
	if (bind(listener, reinterpret_cast<sockaddr *>(&address), sizeof address) || listen(listener, 128))
		return 1;
	for (;;) {
		const int connection = accept(listener, nullptr, nullptr);
		setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
		std::thread(serve, connection).detach();
	}
}
