// One thread a connection; each request is noted on the standard output.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>

__attribute__((noinline)) static void note_request(const std::string &line)
{
	if (write(STDOUT_FILENO, line.data(), line.size()) < 0)
		std::exit(1);
}

static void serve(int connection)
{
	static const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
	char request[4096];
	while (read(connection, request, sizeof request) > 0) {
		note_request(std::string(300, 'r') + "\n");
		if (write(connection, answer.data(), answer.size()) < 0)
			break;
	}
	close(connection);
}

int main(int count, char **words)
{
	const int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	sockaddr_in address{};
	address.sin_family = AF_INET;
	address.sin_port = htons(std::atoi(words[count - 1]));
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(listener, reinterpret_cast<sockaddr *>(&address), sizeof address) || listen(listener, 128))
		return 1;
	for (;;) {
		const int connection = accept(listener, nullptr, nullptr);
		setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
		std::thread(serve, connection).detach();
	}
}
