/* Opens TCP connections on the loopback device: to itself, to a port of another process, to one where nobody
 * listens, and to a listener whose queue is full. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in address(int port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return a;
}

static int open_port(int backlog, int *port)
{
	struct sockaddr_in a = address(0);
	socklen_t size = sizeof(a);
	int s = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(s, (void *)&a, size) || (backlog >= 0 && listen(s, backlog)) || getsockname(s, (void *)&a, &size))
		exit(1);
	*port = ntohs(a.sin_port);
	return s;
}

static int ask(int port, int flags)
{
	struct sockaddr_in a = address(port);
	int s = socket(AF_INET, SOCK_STREAM | flags, 0);
	connect(s, (void *)&a, sizeof(a));
	return s;
}

int main(int argc, char **argv)
{
	int own = atoi(argv[1]), other = atoi(argv[2]), other_port = atoi(argv[3]), refused = atoi(argv[4]);
	int port, closed, full, listener = open_port(own + 1, &port);
	struct linger at_once = {1, 0};
	open_port(-1, &closed); /* bound, and nobody listens */
	open_port(0, &full);
	for (int i = 0; i < own; i++) {
		int client = ask(port, 0), server = accept(listener, 0, 0);
		if (i == 0) /* closing it resets the client's end */
			setsockopt(server, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
		close(server);
		close(client);
	}
	for (int i = 0; i < other; i++)
		close(ask(other_port, 0));
	for (int i = 0; i < refused; i++)
		close(ask(closed, 0));
	for (int i = 0; i < 3; i++) /* only the first one or two fit: the others' first segments are sent again */
		ask(full, SOCK_NONBLOCK);
	poll(0, 0, 1700); /* a second, and what a busy host adds */
	printf("port %d\nclosed %d\nfull %d\n", port, closed, full);
	return argc != 5;
}
