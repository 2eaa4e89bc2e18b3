/* One thread a connection; every handler takes the table's lock for a moment. A background thread rewrites the table
 * every 800 ms and holds the lock for 30 ms meanwhile. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static long entries[4096];

static void nap(long ms)
{
	struct timespec time = {ms / 1000, ms % 1000 * 1000000};
	nanosleep(&time, 0);
}

__attribute__((noinline)) static void compact_table(void)
{
	pthread_mutex_lock(&table);
	for (int i = 0; i < 30; i++) {
		for (int k = 0; k < 4096; k++)
			entries[k] = entries[k] * 31 + k;
		nap(1);
	}
	pthread_mutex_unlock(&table);
}

static void *maintain(void *unused)
{
	for (;;) {
		nap(800);
		compact_table();
	}
	return unused;
}

__attribute__((noinline)) static long look_up(const char *request)
{
	pthread_mutex_lock(&table);
	long found = entries[request[5] & 4095]++;
	pthread_mutex_unlock(&table);
	return found;
}

static void *serve(void *of)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
	char request[4096];
	int connection = (long)of, one = 1;
	setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	while (read(connection, request, sizeof request) > 0) {
		volatile long work = look_up(request);
		for (int i = 0; i < 60000; i++)
			work += i;
		if (write(connection, answer, sizeof answer - 1) < 0)
			break;
	}
	close(connection);
	return 0;
}

int main(int count, char **words)
{
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(words[1])),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	pthread_t thread;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(listener, (void *)&address, sizeof address) || listen(listener, 128))
		return 1;
	if (count < 3) /* with a third word: no maintenance */
		pthread_create(&thread, 0, maintain, 0);
	for (;;) {
		long connection = accept(listener, 0, 0);
		if (connection >= 0 && !pthread_create(&thread, 0, serve, (void *)connection))
			pthread_detach(thread);
	}
}
