/* An event loop with epoll; every request takes the same quarter of a millisecond. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

__attribute__((noinline)) static long work(void)
{
	volatile long sum = 0;
	for (int i = 0; i < 150000; i++)
		sum += i;
	return sum;
}

int main(int count, char **words)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
	int listener = socket(AF_INET, SOCK_STREAM, 0), poll = epoll_create1(0), one = 1;
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(words[1])),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct epoll_event event = {EPOLLIN, {.fd = listener}};
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(listener, (void *)&address, sizeof address) || listen(listener, 128))
		return 1;
	epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
	for (;;) {
		struct epoll_event ready[16];
		int found = epoll_wait(poll, ready, 16, -1);
		for (int i = 0; i < found; i++) {
			char request[4096];
			int from = ready[i].data.fd;
			if (from == listener) {
				from = accept(listener, 0, 0);
				setsockopt(from, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
				event.data.fd = from;
				epoll_ctl(poll, EPOLL_CTL_ADD, from, &event);
			} else if (read(from, request, sizeof request) <= 0) {
				close(from);
			} else {
				work();
				if (write(from, answer, sizeof answer - 1) < 0)
					close(from);
			}
		}
	}
}
