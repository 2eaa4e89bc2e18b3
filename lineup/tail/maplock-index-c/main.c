/* One thread a connection; each request maps 64 KiB, fills and unmaps it. Another thread maps, locks and unmaps an
 * index of 160 MB now and then. */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { index_size = 160 << 20, scratch_size = 64 << 10, page = 4096 };

static char *map(size_t size)
{
	char *memory = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		exit(1);
	return memory;
}

__attribute__((noinline)) static void rebuild_index(void)
{
	char *index = map(index_size);
	madvise(index, index_size, MADV_NOHUGEPAGE);
	mlock(index, index_size);
	munmap(index, index_size);
}

static void *maintain(void *unused)
{
	for (;;) {
		usleep(1500000);
		rebuild_index();
	}
	return unused;
}

__attribute__((noinline)) static int fill_scratch(int with)
{
	char *scratch = map(scratch_size);
	for (int at = 0; at < scratch_size; at += page)
		scratch[at] = with;
	int last = scratch[scratch_size - page];
	munmap(scratch, scratch_size);
	return last;
}

static void *serve(void *of)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
	char request[4096];
	int connection = (long)of, one = 1;
	setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	while (read(connection, request, sizeof request) > 0) {
		fill_scratch(request[5]);
		if (write(connection, answer, sizeof answer - 1) < 0)
			break;
	}
	close(connection);
	return 0;
}

int main(int count, char **words)
{
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(words[count - 1])),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	pthread_t thread;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(listener, (void *)&address, sizeof address) || listen(listener, 128))
		return 1;
	pthread_create(&thread, 0, maintain, 0);
	for (;;) {
		long connection = accept(listener, 0, 0);
		if (connection >= 0 && !pthread_create(&thread, 0, serve, (void *)connection))
			pthread_detach(thread);
	}
}
