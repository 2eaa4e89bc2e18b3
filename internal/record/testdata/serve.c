/* serve PORT [one]: one thread a connection, HTTP/1.1. /sleep naps 3 ms, /spin runs 2 ms, /lock waits for a mutex that a
 * background thread holds half of the time, /late sleeps 6 ms after its answer, before it reads what comes next. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void nap(long ms)
{
	struct timespec time = {0, ms * 1000000};
	nanosleep(&time, 0);
}

static void spin(long ms)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	long until = now.tv_sec * 1000000000 + now.tv_nsec + ms * 1000000;
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while (now.tv_sec * 1000000000 + now.tv_nsec < until);
}

static void *hold(void *unused)
{
	for (;;) {
		pthread_mutex_lock(&lock);
		nap(4);
		pthread_mutex_unlock(&lock);
		nap(4);
	}
}

static void *serve(void *of)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
	static const char wrong[] = "HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\nno";
	int connection = (long)of, one = 1;
	char request[4096];
	setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	for (;;) {
		ssize_t length = read(connection, request, sizeof request - 1);
		if (length <= 0)
			break;
		request[length] = 0;
		const char *say = answer;
		if (!strncmp(request, "GET /sleep", 10))
			nap(3);
		else if (!strncmp(request, "GET /spin", 9))
			spin(2);
		else if (!strncmp(request, "GET /lock", 9)) {
			pthread_mutex_lock(&lock);
			pthread_mutex_unlock(&lock);
		} else if (!strncmp(request, "GET /wrong", 10))
			say = wrong;
		if (write(connection, say, strlen(say)) < 0)
			break;
		if (!strncmp(request, "GET /late", 9))
			nap(6);
	}
	close(connection);
	return 0;
}

int main(int count, char **words)
{
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(words[1])),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(listener, (void *)&address, sizeof address) || listen(listener, 128))
		return perror("listen"), 1;
	pthread_t thread;
	pthread_create(&thread, 0, hold, 0);
	puts("ready");
	fflush(stdout);
	for (;;) {
		long connection = accept(listener, 0, 0);
		if (connection >= 0 && pthread_create(&thread, 0, serve, (void *)connection) == 0)
			pthread_detach(thread);
		if (count > 2) { /* one connection, and no more */
			close(listener);
			pause();
		}
	}
}
