/* One thread a connection, one handle of a store for all: who finds it taken waits on a condition. One request in 400
 * keeps it for an export of 40 ms. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t freed = PTHREAD_COND_INITIALIZER;
static int handles = 1;

__attribute__((noinline)) static void take_handle(void)
{
	pthread_mutex_lock(&gate);
	while (!handles)
		pthread_cond_wait(&freed, &gate);
	handles--;
	pthread_mutex_unlock(&gate);
}

static void give_handle(void)
{
	pthread_mutex_lock(&gate);
	handles++;
	pthread_cond_signal(&freed);
	pthread_mutex_unlock(&gate);
}

__attribute__((noinline)) static void export_all(void)
{
	struct timespec time = {0, 40000000};
	nanosleep(&time, 0);
}

__attribute__((noinline)) static void read_row(void)
{
	volatile unsigned sum = 0;
	for (int i = 0; i < 50000; i++)
		sum = sum * 31 + i;
}

static void *serve(void *argument)
{
	int connection = (int)(long)argument, one = 1;
	unsigned seed = connection * 7919;
	char request[2048];
	const char *answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
	setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	while (read(connection, request, sizeof(request)) > 0) {
		take_handle();
		if (rand_r(&seed) % 400 == 0)
			export_all();
		else
			read_row();
		give_handle();
		if (write(connection, answer, strlen(answer)) < 0)
			break;
	}
	close(connection);
	return 0;
}

int main(int count, char **words)
{
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(count > 1 ? atoi(words[1]) : 0),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) || listen(listener, 100))
		return 1;
	for (;;) {
		pthread_t thread;
		int connection = accept(listener, 0, 0);
		if (connection < 0 || pthread_create(&thread, 0, serve, (void *)(long)connection))
			return 1;
		pthread_detach(thread);
	}
}
