/* One thread, one epoll loop. One request in two hundred reads forty rows of an archive that another process pushes out
 * of the page cache again and again. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { ROWS = 32768, ROW = 4096 };
static int archive;

static void keep_evicting(const char *path)
{
	struct timespec pause = {0, 50000000};
	int file = open(path, O_RDONLY);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
		nanosleep(&pause, 0);
	}
}

__attribute__((noinline)) static long read_history(void)
{
	char row[ROW];
	long sum = 0;
	for (int i = 0; i < 40; i++) {
		if (pread(archive, row, ROW, (long)(random() % ROWS) * ROW) != ROW)
			exit(1);
		sum += row[i];
	}
	return sum;
}

__attribute__((noinline)) static long make_page(const char *request)
{
	long work = 0;
	for (int i = 0; i < 80000; i++)
		work += request[i & 15] ^ work << 1;
	return work;
}

static void answer(int connection)
{
	static const char text[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
	char request[4096] = {0};
	volatile long sum;
	if (read(connection, request, sizeof request) <= 0) {
		close(connection);
		return;
	}
	sum = make_page(request);
	if (random() % 200 == 0)
		sum += read_history();
	if (write(connection, text, sizeof text - 1) < 0)
		close(connection);
}

int main(int count, char **words)
{
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1, loop = epoll_create1(0);
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(words[1])),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, events[64];
	archive = open(words[2], O_RDONLY);
	posix_fadvise(archive, 0, 0, POSIX_FADV_RANDOM);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (archive < 0 || bind(listener, (void *)&address, sizeof address) || listen(listener, 128))
		return 1;
	if (!fork())
		keep_evicting(words[2]);
	epoll_ctl(loop, EPOLL_CTL_ADD, listener, &event);
	for (;;) {
		int n = epoll_wait(loop, events, 64, -1);
		for (int i = 0; i < n; i++) {
			if (events[i].data.fd != listener) {
				answer(events[i].data.fd);
				continue;
			}
			event.data.fd = accept(listener, 0, 0);
			setsockopt(event.data.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
			epoll_ctl(loop, EPOLL_CTL_ADD, event.data.fd, &event);
		}
	}
}
