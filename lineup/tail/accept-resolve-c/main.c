/* One thread takes up connections and hands each to one of four workers. For one in eighty it looks up the peer's name,
 * which takes 25 ms: the connections behind it wait in the queue. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int waiting[1024], first, last;

__attribute__((noinline)) static void resolve_peer(void)
{
	struct timespec time = {0, 25000000};
	nanosleep(&time, 0);
}

__attribute__((noinline)) static int next_connection(void)
{
	pthread_mutex_lock(&queue);
	while (first == last)
		pthread_cond_wait(&filled, &queue);
	int connection = waiting[first++ & 1023];
	pthread_mutex_unlock(&queue);
	return connection;
}

static void *work(void *unused)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
	char request[4096];
	for (;;) {
		int connection = next_connection();
		volatile long sum = read(connection, request, sizeof request);
		for (int i = 0; i < 60000; i++)
			sum += i;
		if (write(connection, answer, sizeof answer - 1) < 0)
			exit(1);
		close(connection);
	}
	return unused;
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
	for (int i = 0; i < 4; i++)
		pthread_create(&thread, 0, work, 0);
	for (;;) {
		int connection = accept(listener, 0, 0);
		setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
		if (random() % 80 == 0)
			resolve_peer();
		pthread_mutex_lock(&queue);
		waiting[last++ & 1023] = connection;
		pthread_cond_signal(&filled);
		pthread_mutex_unlock(&queue);
	}
}
